//! Links the library: its soname, the version node of its symbols, and the names it is found by.
//!
//! Rust's own version script for a `cdylib` is anonymous (`{ global: ...; local: *; }`) and lists `#[no_mangle]` names
//! only. The names of the C interface are assembler aliases (`src/export.rs`), which that script leaves to `local: *`; our
//! script puts them under `ROCR_1`, and `hsa_*` is more specific than `*`. LLD merges two scripts this way; GNU ld
//! and gold refuse or ignore the second one, so LLD is asked for by name.

use std::path::Path;
use std::{env, fs, io};

/// The soname, which is also the file name programs look for.
const SONAME: &str = "libhsa-runtime64.so.1";
/// The name that `-lhsa-runtime64` looks for.
const LINK_NAME: &str = "libhsa-runtime64.so";
/// Where cargo puts the library: it is lifted into the profile's directory only when it is asked for itself, and not when
/// it comes along with the command or a test.
const CARGO_NAME: &str = "deps/libhsa_runtime64.so";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=version.map");
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    for argument in [
        "-fuse-ld=lld".to_owned(),
        format!("-Wl,--version-script={manifest}/version.map"),
        format!("-Wl,-soname,{SONAME}"),
        // Threads, thread-local data and handlers of the process lead into the library: it stays when it is closed.
        "-Wl,-z,nodelete".to_owned(),
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    // target/PROFILE/build/hansa-capi-HASH/out
    if let Some(profile) = Path::new(&out).ancestors().nth(3) {
        link(profile, SONAME)?;
        link(profile, LINK_NAME)?;
    }
    Ok(())
}

/// Makes `directory/name` a link to the library below it.
fn link(directory: &Path, name: &str) -> io::Result<()> {
    let path = directory.join(name);
    if fs::read_link(&path).is_ok_and(|target| target == Path::new(CARGO_NAME)) {
        return Ok(());
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::os::unix::fs::symlink(CARGO_NAME, path)
}
