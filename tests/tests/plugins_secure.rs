//! A program that runs with more rights than its caller must not load what its caller names.
//!
//! The kernel says so in the auxiliary vector (`AT_SECURE`) when a set-group-ID program starts, so
//! the test needs one: a copy of the report program, owned by another group than the user it is run
//! by. Making one, and becoming another user, takes root.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod plugins_support;

use std::fs;
use std::os::unix::fs::{chown, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use plugins_support::{fakes, Place};

/// A user and a group that own nothing here.
const NOBODY: u32 = 65_534;
/// The group the program belongs to.
const DAEMON: u32 = 1;

/// Runs the program as a user without rights and answers with its report.
fn report(program: &Path, place: &Place) -> serde_json::Value {
    let output = Command::new(program)
        .env_clear()
        .env("HANSA_PLUGIN_ADD", &place.dir)
        .env("HANSA_CONFIG", place.dir.join("hsa.conf"))
        .env("HOME", &place.dir)
        .env("HANSA_PLUGIN_DISABLE", "org.nobody.*")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn ids(report: &serde_json::Value) -> Vec<&str> {
    report["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plugin| plugin["id"].as_str().unwrap())
        .collect()
}

#[test]
fn a_set_group_id_program_ignores_its_callers_paths_and_says_so() {
    // SAFETY: geteuid has no precondition.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("Not run: making a set-group-ID program for another group takes root");
        return;
    }
    let place = Place::new();
    place.install(&fakes().fake, |_| {});
    place.write("hsa.conf", "[debug]\nlevel = 99\n");
    let programs = Place::new();
    let program = programs.copy(Path::new(env!("CARGO_BIN_EXE_hansa-plugin-report")), "report");
    let mode = |mode| fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
    chown(&program, Some(0), Some(DAEMON)).unwrap();

    mode(0o755);
    let plain = report(&program, &place);
    assert_eq!(plain["secure"], false);
    assert_eq!(ids(&plain), ["org.hansa.fake"]);
    assert!(
        plain["warnings"][0]
            .as_str()
            .unwrap()
            .contains("hsa.conf:2: debug.level = 99"),
        "{plain}"
    );

    mode(0o2755);
    let secure = report(&program, &place);
    assert_eq!(secure["secure"], true);
    assert!(!ids(&secure).contains(&"org.hansa.fake"), "{secure}");
    let warnings: Vec<&str> = secure["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| warning.as_str().unwrap())
        .collect();
    let ignored = ["HANSA_CONFIG", "HANSA_PLUGIN_ADD", "HOME"];
    let expected =
        ignored.map(|name| format!("{name}: ignored: this program runs with more rights than its caller"));
    assert_eq!(warnings, expected);

    // In a directory of the caller's, as a hard link would put it, it does not look beside itself.
    let copy = place.copy(&program, "report");
    chown(&copy, Some(0), Some(DAEMON)).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o2755)).unwrap();
    assert_eq!(ids(&report(&copy, &place)), ["org.hansa.fake"]);
    chown(&place.dir, Some(NOBODY), Some(NOBODY)).unwrap();
    let secure = report(&copy, &place);
    assert_eq!((&secure["secure"], ids(&secure)), (&true.into(), vec![]));
}
