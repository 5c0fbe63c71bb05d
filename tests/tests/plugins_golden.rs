//! Plugins of the past: every one that was built with this major version of the interface still
//! serves.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod plugins_support;

use std::fs;
use std::path::PathBuf;

use hansa_core::plugin::{interface_text, read_note, same_target};
use hansa_plugin_api::manifest::TARGET;
use hansa_plugin_api::{AllocFlags, AllocRequest, ErrorCode, MemoryHandle, NodeKind, INTERFACE};
use plugins_support::{top, Place};

const FAKE: &str = "org.hansa.fake";

/// The golden plugins for this machine, with the interface version in their names.
fn golden() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(top().join("tests/data/golden")).unwrap();
    let plugins = entries.filter_map(|entry| {
        let path = entry.unwrap().path();
        let name = path
            .file_name()?
            .to_str()?
            .strip_prefix("fake-")?
            .strip_suffix(".so")?
            .to_owned();
        let (version, target) = name.split_once('-')?;
        same_target(target, TARGET).then(|| (version.to_owned(), path))
    });
    plugins.collect()
}

#[test]
fn every_minor_version_of_the_past_serves() {
    for (version, library) in golden() {
        let note = read_note(&library).unwrap();
        assert_eq!(interface_text(note.interface), version, "{}", library.display());
        let place = Place::new();
        place.install(&library, |_| {});
        let started = place.start(&[]);
        assert_eq!(
            started.serving(),
            [FAKE],
            "{version}: {:?}",
            started.plugins.report().plugins
        );

        let driver = started.driver(FAKE);
        assert_eq!(
            driver.description.nodes[0].kind,
            NodeKind::ACCELERATOR,
            "{version}"
        );
        let flags = AllocFlags::empty();
        let request = AllocRequest {
            node: 0,
            bank: 0,
            bytes: 4096,
            alignment: 4096,
            address: 0,
            flags,
            reserved: 0,
        };
        let memory = driver.driver.allocate(&request).unwrap();
        driver.driver.free(memory.handle).unwrap();
        assert_eq!(
            driver.driver.free(MemoryHandle(1)).unwrap_err().code,
            ErrorCode::INVALID_HANDLE,
            "{version}"
        );
        assert_eq!(
            driver.driver.reserve(0, 1, 1).unwrap_err().code,
            ErrorCode::NOT_SUPPORTED,
            "{version}"
        );
        driver.driver.close().unwrap();
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
fn there_is_one_of_each_minor_version() {
    let mut versions: Vec<String> = golden().into_iter().map(|(version, _)| version).collect();
    versions.sort_unstable();
    assert_eq!(versions.first().map(String::as_str), Some("1.1"));
    assert!(
        versions.contains(&interface_text(INTERFACE)),
        "see tests/data/golden/README.md"
    );
}
