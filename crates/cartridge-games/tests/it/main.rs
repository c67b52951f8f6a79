//! What can only be seen from outside of the crate.

mod allocations;
