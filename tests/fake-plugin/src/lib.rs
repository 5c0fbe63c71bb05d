//! A plugin whose behaviour a file beside it chooses.
//!
//! Tests copy the library, write `LIBRARY.behaviour` beside the copy, and see what the runtime makes
//! of it. The packages under `variants` are the same plugin with one thing wrong that no file can
//! choose.

mod behaviour;
mod facts;
mod fake;

hansa_plugin_api::export_plugin!(fake::Fake);
