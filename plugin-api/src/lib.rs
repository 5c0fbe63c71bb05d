//! The stable contract between the Hansa runtime and its plugins

pub mod manifest;
pub mod note;
