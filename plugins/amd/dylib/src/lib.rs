//! The AMD extension as a loadable plugin
