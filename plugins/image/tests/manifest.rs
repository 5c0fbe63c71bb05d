//! The committed manifest.

use hansa_image::ImagePlugin;
use hansa_plugin_api::Plugin;

#[test]
fn the_manifest_beside_the_crate_says_what_the_plugin_says() {
    let facts = ImagePlugin::FACTS;
    let name = format!("{:02}-{}.toml", facts.policy.priority, facts.id);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let text = std::fs::read_to_string(path).expect("the manifest is committed under its conventional name");
    let manifest: toml::Table = text.parse().expect("the manifest is TOML");
    let interface = format!("{}.{}", facts.interface.major, facts.interface.minor);
    let expected = toml::toml! {
        format = (i64::from(hansa_plugin_api::manifest::FORMAT))
        id = (facts.id)
        kind = (facts.kind.name())
        version = (facts.version)
        library = "libhansa_image_plugin.so"
        target = (facts.target)
        interface = (interface)

        [claims]
        always = (facts.claims.always)
        pci = []
        nodes = []
        modules = []

        [policy]
        priority = (i64::from(facts.policy.priority))
        default = (facts.policy.default.name())
        software = (facts.policy.software)
        critical = (facts.policy.critical)
        conflicts = []
    };
    assert_eq!(manifest, expected);
}
