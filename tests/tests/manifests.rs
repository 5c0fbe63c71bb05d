//! The manifest that is committed beside a plugin, and installed with it, says what the plugin says.

use hansa_plugin_api::manifest::FORMAT;
use hansa_plugin_api::Plugin;
use std::path::Path;
use toml::{Table, Value};

/// Compares the manifest in `folder` of `plugins`, under its conventional name, with the plugin.
fn agrees<P: Plugin>(folder: &str) {
    let facts = P::FACTS;
    let name = format!("{:02}-{}.toml", facts.policy.priority, facts.id);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../plugins")
        .join(folder)
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let manifest: Table = text
        .parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let list = |items: &[&str]| Value::from(items.to_vec());
    let interface = format!("{}.{}", facts.interface.major, facts.interface.minor);
    let library = format!("libhansa_{}_plugin.so", folder.replace('-', "_"));
    let expected = toml::toml! {
        format = (i64::from(FORMAT))
        id = (facts.id)
        kind = (facts.kind.name())
        version = (facts.version)
        library = (library)
        target = (facts.target)
        interface = (interface)

        [claims]
        always = (facts.claims.always)
        pci = (list(facts.claims.pci))
        nodes = (list(facts.claims.nodes))
        modules = (list(facts.claims.modules))

        [policy]
        priority = (i64::from(facts.policy.priority))
        default = (facts.policy.default.name())
        software = (facts.policy.software)
        critical = (facts.policy.critical)
        conflicts = (list(facts.policy.conflicts))
    };
    assert_eq!(manifest, expected, "{}", path.display());
}

#[test]
fn of_the_amd_extension() {
    agrees::<hansa_amd::AmdPlugin>("amd");
}

#[test]
fn of_the_finalizer_extension() {
    agrees::<hansa_finalizer::FinalizerPlugin>("finalizer");
}

#[test]
fn of_the_image_extension() {
    agrees::<hansa_image::ImagePlugin>("image");
}

#[test]
fn of_the_npu_driver() {
    agrees::<hansa_xdna::XdnaPlugin>("xdna");
}

#[test]
fn of_the_backend_for_virtual_machines() {
    agrees::<hansa_kfd_virtio::KfdVirtioPlugin>("kfd-virtio");
}

#[test]
fn of_the_software_gpu() {
    agrees::<hansa_sim::SimPlugin>("sim");
}
