//! Programs: modules that are finalized together.

mod linked;

pub use linked::{Linked, Symbol, Target};
