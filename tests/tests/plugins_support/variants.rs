//! Plugins of other versions of the interface: the fake plugin, built with a copy of `plugin-api` in
//! which a few words are changed.

use std::fs;
use std::path::Path;

use super::{build, top};

/// One change of the interface: in this file, these words, by those.
pub struct Change {
    pub file: &'static str,
    pub from: &'static str,
    pub to: &'static str,
}

/// Builds the fake plugin against a changed interface.
pub fn build_with(name: &str, changes: &[Change]) -> std::path::PathBuf {
    let exe = std::env::current_exe().unwrap();
    let workspace = exe
        .ancestors()
        .nth(3)
        .unwrap()
        .join("fake-plugin-variants")
        .join(name);
    // Cargo names what it builds after the path inside the workspace. Another path keeps this
    // interface apart from the one the tests themselves are built with.
    let api_path = format!("plugin-api-{name}");
    let api = workspace.join(&api_path);
    let plugin = workspace.join("plugin");
    copy_tree(&top().join("plugin-api"), &api, changes);
    copy_tree(&top().join("tests/fake-plugin/src"), &plugin.join("src"), &[]);

    let package = format!("hansa-fake-plugin-{name}");
    let manifest = fs::read_to_string(top().join("tests/fake-plugin/Cargo.toml")).unwrap();
    let manifest = manifest.replace("hansa-fake-plugin", &package);
    let manifest = manifest.replace("hansa_fake_plugin", &package.replace('-', "_"));
    write_if_other(&plugin.join("Cargo.toml"), manifest.as_bytes());

    let root = fs::read_to_string(top().join("Cargo.toml")).unwrap();
    let (before, rest) = root.split_once("members = [").unwrap();
    let (_, after) = rest.split_once(']').unwrap();
    let root = format!("{before}members = [\"{api_path}\", \"plugin\"]{after}");
    let root = root.replace("path = \"plugin-api\"", &format!("path = \"{api_path}\""));
    write_if_other(&workspace.join("Cargo.toml"), root.as_bytes());
    // The lock keeps the versions of dependencies, so that their builds are shared.
    write_if_other(
        &workspace.join("Cargo.lock"),
        &fs::read(top().join("Cargo.lock")).unwrap(),
    );
    build(&workspace, &[&package]).remove(0)
}

fn copy_tree(from: &Path, to: &Path, changes: &[Change]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target, changes);
            continue;
        }
        let mut text = fs::read_to_string(entry.path()).unwrap();
        for change in changes
            .iter()
            .filter(|change| entry.path().ends_with(change.file))
        {
            assert!(
                text.contains(change.from),
                "{} has no {:?}",
                change.file,
                change.from
            );
            text = text.replacen(change.from, change.to, 1);
        }
        write_if_other(&target, text.as_bytes());
    }
}

/// Leaves a file alone that is as it should be, so that nothing is built again.
fn write_if_other(path: &Path, bytes: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}
