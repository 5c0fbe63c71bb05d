//! What cargo built beside the running test: the runtime's library and the loadable plugins.
//!
//! `cargo test` builds a library that is only loaded at run time when something in its own package needs it, so a
//! test that loads one asks cargo for it. Cargo does nothing when it is up to date.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

use crate::c_client::repository;

/// The directory of the profile that the running test or program was built with, such as `target/debug`.
#[must_use]
pub fn profile_dir() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let program = std::env::current_exe().expect("A running program has a path");
        // target/PROFILE/NAME, and for tests target/PROFILE/deps/NAME
        let dir = program.ancestors().skip(1).find(|dir| !dir.ends_with("deps"));
        dir.expect("What cargo builds lies below its profile's directory")
            .to_owned()
    })
}

/// A directory for what tests make, kept between runs. It is made if it is not there.
///
/// # Panics
///
/// When it cannot be made.
#[must_use]
pub fn scratch_dir(name: &str) -> PathBuf {
    let dir = profile_dir().join("hansa-tests").join(name);
    std::fs::create_dir_all(&dir).expect("The target directory can be written");
    dir
}

/// Runs a compiler to its end with a directory of its own for temporary files. Some compilers leave theirs behind; this
/// one is removed with whatever is in it.
///
/// # Errors
///
/// Why the compiler could not be started.
///
/// # Panics
///
/// When the directory cannot be made.
pub fn compiler_output(compiler: &mut Command) -> std::io::Result<Output> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = scratch_dir("tmp").join(format!("{}-{number}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("The target directory can be written");
    let output = compiler.env("TMPDIR", &dir).output();
    // Nothing depends on it: the next build of everything starts with an empty target directory.
    let _ = std::fs::remove_dir_all(&dir);
    output
}

/// The packages whose libraries are loaded at run time.
const LIBRARIES: [&str; 10] = [
    "hansa-capi",
    "hansa-compile-cache",
    "hansa-presence",
    "hansa-sim-plugin",
    "hansa-amd-plugin",
    "hansa-vkernel-preload",
    "hansa-vkernel-guest",
    "hansa-image-plugin",
    "hansa-finalizer-plugin",
    "hansa-vxdna-plugin",
];

/// What programs find instead of the system's runtime and kernel.
const NEEDED: [&str; 2] = ["libhsa-runtime64.so.1", "libhansa_vkernel_preload.so"];

/// Has cargo build the libraries, once per process, and gives the directory in which they lie.
///
/// # Panics
///
/// When they do not build, or are not where programs look for them.
pub fn libraries() -> &'static Path {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        // Whoever has just built the whole workspace says so; the answer would be the same.
        if std::env::var_os("HANSA_TESTS_BUILT").is_none() {
            build();
        }
        for needed in NEEDED {
            let path = profile_dir().join(needed);
            assert!(
                path.exists(),
                "{} is not there, and programs would run without it: on the runtime that the system has",
                path.display()
            );
        }
    });
    profile_dir()
}

fn build() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(repository()).args(["build", "--quiet"]);
    for package in LIBRARIES {
        cargo.args(["-p", package]);
    }
    let profile = profile_dir().file_name().and_then(|name| name.to_str());
    if let Some(profile) = profile.filter(|profile| *profile != "debug") {
        cargo.args(["--profile", profile]);
    }
    if let Some(target) = profile_dir().parent() {
        cargo.arg("--target-dir").arg(target);
    }
    // What the outer cargo says to its test programs is not meant for another build.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&*name);
        }
    }
    let status = cargo.status().expect("Cargo runs this test, so it can be run");
    assert!(
        status.success(),
        "The libraries of {} do not build",
        LIBRARIES.join(", ")
    );
}
