//! What plugins share whose C functions programs call: an extension is made of tables of such functions.
//!
//! - [`outcome`]: why a function does not succeed, and the status that the program gets;
//! - [`serving`]: which extension a function belongs to, since C functions have no object, and [`quick`], the same for
//!   functions that are called all the time;
//! - [`call`]: the arguments, which are the only pointers of the program that are read and written;
//! - [`entry`]: the way into a function, [`entries!`] and [`evaluate`](entry::evaluate);
//! - [`table`]: the description of a table for the runtime.
//!
//! It is no part of the contract: a plugin that does all this in another way works as well.

use hansa_plugin_api::manifest::{Claims, DefaultUse, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::INTERFACE;

pub mod call;
pub mod entry;
pub mod outcome;
pub mod quick;
pub mod serving;
pub mod table;

/// The facts of an extension of this project: it is used unless the configuration says otherwise, on every machine.
pub const fn facts(id: &'static str, version: &'static str) -> PluginFacts {
    PluginFacts {
        id,
        kind: Kind::Extension,
        version,
        target: TARGET,
        interface: INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy {
            priority: 10,
            default: DefaultUse::On,
            ..Policy::DEFAULT
        },
    }
    .checked()
}
