//! The GPU kernels of `tests/kernels`, compiled for every target and for the host.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::artifacts::{compiler_output, scratch_dir};
use crate::c_client::{has_program, present, repository};

/// The GPUs that the kernels are compiled for.
pub const TARGETS: [&str; 4] = ["gfx900", "gfx906", "gfx908", "gfx90a"];

/// The kernels that are compiled for every version of the code object as well.
const OF_ALL_VERSIONS: &str = "vector_add grid3d";

fn build(arguments: &[&str], kernels: Option<&str>) {
    let mut script = Command::new(repository().join("tests/kernels/build"));
    script.args(arguments);
    if let Some(kernels) = kernels {
        script.env("KERNELS", kernels);
    }
    let output = compiler_output(&mut script).expect("tests/kernels/build can be run");
    assert!(
        output.status.success(),
        "tests/kernels/build {} failed:\n{}{}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn text(path: &Path) -> &str {
    path.to_str().expect("The target directory's path is UTF-8")
}

/// The directory with the code objects: `TARGET/LEVEL/NAME.co`, with the levels `O0`, `O1`, `O3`, and `V2`, `V3`, `V5`
/// for the versions of the code object. Compiled once per process, and only what is older than its source.
///
/// # Panics
///
/// When a kernel does not compile.
pub fn code_objects() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = scratch_dir("kernels");
        for target in TARGETS {
            let of = dir.join(target);
            let out = |level: &str| of.join(level);
            for level in ["O0", "O1", "O3"] {
                build(&[text(&out(level)), target, &format!("-{level}")], None);
            }
            // Versions 2 and 3 cannot say that a feature of the chip does not matter, so they name the agents' settings.
            // Version 2 is older than the chips with error correction, and has no word for it.
            let correction = if target == "gfx900" { "" } else { ":sramecc+" };
            let settled = format!("{target}{correction}:xnack-");
            let versions = [("2", &*settled), ("3", &settled), ("5", target)];
            let skipped = usize::from(target != "gfx900");
            for (version, target) in &versions[skipped..] {
                let option = format!("-mcode-object-version={version}");
                let level = format!("V{version}");
                build(
                    &[text(&out(&level)), target, "-O1", &option],
                    Some(OF_ALL_VERSIONS),
                );
            }
        }
        dir
    })
}

/// The directory with the modules of `tests/kernels/hsail` in BRIG, as HSAILasm makes them: `NAME.brig`; `None` without
/// HSAILasm. Made once per process.
///
/// # Panics
///
/// When a module does not assemble, and in CI without HSAILasm.
pub fn hsail_modules() -> Option<&'static Path> {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    if !present(has_program("HSAILasm"), "HSAILasm", "hsail-tools") {
        return None;
    }
    Some(DIR.get_or_init(|| {
        let dir = scratch_dir("hsail");
        let sources = repository().join("tests/kernels/hsail");
        for source in std::fs::read_dir(&sources).expect("The kernels are there") {
            let source = source.expect("The directory can be read").path();
            let name = source.file_name().expect("A file has a name");
            // Several tests make the same files at once; each puts a whole one in place.
            let module = dir.join(name).with_extension("brig");
            let own = dir.join(format!("{}.{}", text(&module), std::process::id()));
            let output = Command::new("HSAILasm").arg("-o").arg(&own).arg(&source).output();
            let output = output.expect("HSAILasm can be run");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(own.exists(), "HSAILasm {}:\n{said}", source.display());
            std::fs::rename(&own, &module).expect("The target directory can be written");
        }
        dir
    }))
}

/// The object with all kernels compiled for the host, for a C program that wants the expected values.
///
/// # Panics
///
/// When a kernel does not compile.
pub fn host_object() -> &'static Path {
    static OBJECT: OnceLock<PathBuf> = OnceLock::new();
    OBJECT.get_or_init(|| {
        let dir = scratch_dir("kernels-host");
        build(&["--host", text(&dir), "-O2"], None);
        dir.join("host_kernels.o")
    })
}
