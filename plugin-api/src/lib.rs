//! The stable contract between the Hansa runtime and its plugins
