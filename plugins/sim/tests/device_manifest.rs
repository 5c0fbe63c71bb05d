//! The manifest that is installed beside the plugin says what the plugin says.

use hansa_plugin_api::manifest::FORMAT;
use hansa_plugin_api::Plugin;
use hansa_sim::SimPlugin;
use toml::{Table, Value};

#[test]
fn the_manifest_file_agrees_with_the_facts() {
    let facts = SimPlugin::FACTS;
    let name = format!("{}-{}.toml", facts.policy.priority, facts.id);
    let file = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).unwrap();
    let manifest: Table = text.parse().unwrap();
    let list = |items: &[&str]| Value::from(items.to_vec());
    let claims = Table::from_iter([
        ("always".to_owned(), facts.claims.always.into()),
        ("pci".to_owned(), list(facts.claims.pci)),
        ("nodes".to_owned(), list(facts.claims.nodes)),
        ("modules".to_owned(), list(facts.claims.modules)),
    ]);
    let policy = Table::from_iter([
        ("priority".to_owned(), i64::from(facts.policy.priority).into()),
        ("default".to_owned(), facts.policy.default.name().into()),
        ("software".to_owned(), facts.policy.software.into()),
        ("critical".to_owned(), facts.policy.critical.into()),
        ("conflicts".to_owned(), list(facts.policy.conflicts)),
    ]);
    let interface = format!("{}.{}", facts.interface.major, facts.interface.minor);
    let expected = Table::from_iter([
        ("format".to_owned(), i64::from(FORMAT).into()),
        ("id".to_owned(), facts.id.into()),
        ("kind".to_owned(), facts.kind.name().into()),
        ("version".to_owned(), facts.version.into()),
        ("library".to_owned(), "libhansa_sim_plugin.so".into()),
        ("target".to_owned(), facts.target.into()),
        ("interface".to_owned(), interface.into()),
        ("claims".to_owned(), claims.into()),
        ("policy".to_owned(), policy.into()),
    ]);
    assert_eq!(manifest, expected);
}
