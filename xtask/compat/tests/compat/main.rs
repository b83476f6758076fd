//! The compatibility check, as a library and as the program of consumers.

mod hostile;
mod mutations;
mod program;
mod properties;
mod rows;
