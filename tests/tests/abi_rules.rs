//! Rules of the plugin ABI that are seen in the built libraries (`docs/abi-policy.md`, rules 3, 7 and 8).

use hansa_tests::artifacts::libraries;
use hansa_tests::c_client::{has_program, present};
use std::path::Path;
use std::process::Command;

const ROOT_MODULE: &str = "_1as_0lib_1header_0root_bmodule_bloader";
const PLUGINS: [&str; 4] = [
    "libhansa_sim_plugin.so",
    "libhansa_amd_plugin.so",
    "libhansa_image_plugin.so",
    "libhansa_finalizer_plugin.so",
];

fn output(program: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{program} {}", file.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn ready() -> bool {
    present(has_program("nm"), "nm", "binutils")
}

/// Names of dynamic symbols that are defined (or, the other way, undefined).
fn symbols(file: &Path, which: &str) -> Vec<String> {
    output("nm", &["-D", which], file)
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(|name| name.split('@').next().unwrap_or(name).to_owned())
        .collect()
}

#[test]
fn a_loadable_plugin_exports_its_root_module_and_nothing_of_the_runtime() {
    if !ready() {
        return;
    }
    for plugin in PLUGINS {
        let defined = symbols(&libraries().join(plugin), "--defined-only");
        assert!(defined.iter().any(|s| s == ROOT_MODULE), "{plugin}: {defined:?}");
        assert!(
            !defined.iter().any(|s| s.starts_with("hsa_")),
            "{plugin}: {defined:?}"
        );
    }
}

#[test]
fn a_loadable_plugin_neither_links_nor_misses_the_runtime() {
    if !ready() {
        return;
    }
    for plugin in PLUGINS {
        let file = libraries().join(plugin);
        let needed = output("readelf", &["-d"], &file);
        assert!(
            !needed.contains("hsa-runtime") && !needed.contains("hsa_runtime"),
            "{plugin}: {needed}"
        );
        let undefined = symbols(&file, "--undefined-only");
        let foreign: Vec<&String> = undefined
            .iter()
            .filter(|s| s.starts_with("hsa_") || s.starts_with("hsaKmt"))
            .collect();
        assert!(foreign.is_empty(), "{plugin}: {foreign:?}");
    }
}

#[test]
fn several_plugins_are_linked_into_the_runtime_without_their_root_modules() {
    if !ready() {
        return;
    }
    let defined = symbols(&libraries().join("libhsa_runtime64.so"), "--defined-only");
    assert!(
        !defined.iter().any(|s| s == ROOT_MODULE),
        "the exported root module belongs to the dylib packages"
    );
}
