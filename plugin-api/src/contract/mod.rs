//! The interfaces and the values that cross them, one file per group of methods.

#![allow(
    clippy::ptr_as_ptr,
    missing_debug_implementations,
    reason = "abi_stable's derive macro casts that way and makes types without Debug"
)]

pub(crate) mod copy;
pub(crate) mod description;
pub(crate) mod driver;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod extension;
pub(crate) mod host;
pub(crate) mod interface;
pub(crate) mod memory;
pub(crate) mod plugin;
pub(crate) mod profiling;
pub(crate) mod queue;
pub(crate) mod services;
pub(crate) mod services_copy;
pub(crate) mod services_loader;
pub(crate) mod services_memory;
pub(crate) mod services_queue;
pub(crate) mod services_sharing;
pub(crate) mod services_signal;
pub(crate) mod services_types;
