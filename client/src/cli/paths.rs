//! The paths of the operations, for a request that the generated client does not make.

// paths: generated from the contract
pub const CREATE_PLANT: &str = "/plants";
// end of paths
