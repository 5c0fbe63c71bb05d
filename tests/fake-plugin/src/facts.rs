//! What the plugin says about itself; the variants change a word.

use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::INTERFACE;

/// The facts.
pub(crate) const FACTS: PluginFacts = PluginFacts {
    id: "org.hansa.fake",
    kind: Kind::Driver,
    version: "1.0.0",
    target: TARGET,
    interface: INTERFACE,
    // The module is one that nobody has, for the test that takes `always` away.
    claims: Claims {
        always: true,
        modules: &["hansa_fake"],
        ..Claims::NONE
    },
    policy: Policy::DEFAULT,
};
