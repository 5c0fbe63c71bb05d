//! Plugins that are linked into the runtime.

use std::fmt;

use hansa_plugin_api::manifest::PluginFacts;
use hansa_plugin_api::{Plugin, PluginMod, PluginModRef};

/// A plugin that is linked into the runtime. It goes through the same table of functions as one in
/// a library; only the search, the file checks and the dynamic linker are left out.
#[derive(Clone, Copy)]
pub struct BuiltIn {
    /// What it says about itself.
    pub facts: PluginFacts,
    /// Its root module.
    pub root_module: fn() -> PluginModRef,
}

impl BuiltIn {
    /// The entry for a plugin.
    pub const fn of<P: Plugin>() -> Self {
        Self {
            facts: P::FACTS,
            root_module: PluginMod::of::<P>,
        }
    }
}

impl fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BuiltIn").field(&self.facts.id).finish()
    }
}
