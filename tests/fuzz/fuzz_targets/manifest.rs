//! A plugin's manifest, and the note with the same facts inside its library.
#![no_main]

use hansa_core::plugin::{decode, Manifest};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        match Manifest::parse(Path::new("/plugins/org.example.accel.toml"), text) {
            Ok(manifest) => {
                assert!(!manifest.facts.id.is_empty());
                assert!(manifest.warnings.iter().all(|warning| !warning.contains('\n')));
            }
            Err(reason) => assert!(reason.to_string().contains("org.example.accel.toml"), "{reason}"),
        }
    }
    let _ = decode(data);
});
