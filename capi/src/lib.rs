//! `libhsa-runtime64.so.1`: the C interface of HSA and of AMD's extensions over [`hansa_core`].
//!
//! A call walks `symbol -> trampoline -> public table -> function -> core`:
//!
//! - [`export`] has the symbols and their trampolines, [`debugger`] the one symbol that is data;
//! - [`table`] has the tables that tools patch, [`absent`] what is in them while an extension is not there;
//! - [`api`] has the functions of the standard, written with [`entry`]; extensions bring theirs;
//! - [`plugins`] lists the plugins that are part of the library.
//!
//! This crate checks pointers, handles and enumeration values, and nothing else.

mod absent;
mod api;
mod debugger;
mod entry;
mod export;
pub mod plugins;
mod table;

pub use table::missing;
