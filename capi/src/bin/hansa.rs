//! The `hansa` command.

fn main() {}
