//! Tests of the compatibility check, as a library and as a program.

mod hostile;
mod mutations;
mod program;
mod properties;
