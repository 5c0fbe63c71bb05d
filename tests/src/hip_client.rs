//! The HIP programs of `tests/clients/hip`: compiled by Debian's `hipcc`, run with Debian's `libamdhip64` on our library.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use crate::artifacts::{compiler_output, scratch_dir};
use crate::c_client::{has_program, present, repository};
use crate::hsa_client::{judge, Machine};

/// Whether HIP programs can be compiled here. A test that gets `false` has nothing to do.
///
/// # Panics
///
/// When something is missing in CI.
#[must_use]
pub fn ready() -> bool {
    present(has_program("hipcc"), "hipcc", "hipcc")
        && present(has_program("rocminfo"), "rocminfo", "rocminfo")
        && header("hip/hip_runtime.h", "libamdhip64-dev")
        && header("rocrand/rocrand.h", "librocrand-dev")
        && header("rocprim/rocprim.hpp", "librocprim-dev")
}

fn header(file: &str, package: &str) -> bool {
    let found = Path::new("/usr/include").join(file).exists();
    present(found, &format!("<{file}>"), package)
}

/// The same with what one of the programs needs beyond the others.
///
/// # Panics
///
/// When something is missing in CI.
#[must_use]
pub fn ready_for(name: &str) -> bool {
    ready()
        && match name {
            "hiprand" => header("hiprand/hiprand.h", "libhiprand-dev"),
            "sparse" => {
                header("rocsparse/rocsparse.h", "librocsparse-dev")
                    && header("hipsparse/hipsparse.h", "libhipsparse-dev")
            }
            _ => true,
        }
}

/// What a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Build<'a> {
    /// The chip, or several with commas between them.
    pub chip: &'a str,
    /// The level of optimisation, such as `-O2`.
    pub level: &'a str,
}

impl<'a> Build<'a> {
    /// The usual build for a chip.
    #[must_use]
    pub const fn of(chip: &'a str) -> Self {
        Self { chip, level: "-O2" }
    }
}

/// The directory of the sources.
#[must_use]
pub fn sources() -> PathBuf {
    repository().join("tests/clients/hip")
}

/// A program, compiled if it is older than its sources.
///
/// # Panics
///
/// When it does not compile without a warning.
#[must_use]
pub fn program(name: &str, build: Build<'_>) -> PathBuf {
    let source = sources().join(name).with_extension("cpp");
    let program = scratch_dir("hip").join(format!("{name}{}-{}", build.level, build.chip));
    compile(
        &program,
        &[
            source.clone(),
            sources().join("check.hpp"),
            sources().join("child.hpp"),
        ],
        &|hipcc| {
            hipcc.args([
                "-std=c++17",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pthread",
                build.level,
            ]);
            hipcc.arg(format!("--offload-arch={}", build.chip)).arg(&source);
            hipcc.args(options(name));
        },
    );
    program
}

/// What a program needs beyond the usual: a library, and patience with its headers.
fn options(name: &str) -> &'static [&'static str] {
    match name {
        "hiprand" => &["-lhiprand", "-lrocrand", "-Wno-#warnings"],
        "rocrand" => &["-lrocrand", "-Wno-#warnings"],
        "sparse" => &["-lhipsparse", "-lrocsparse", "-Wno-#warnings"],
        _ => &[],
    }
}

/// The code object that `module.cpp` loads from a file.
///
/// # Panics
///
/// When it does not compile.
#[must_use]
pub fn module(chip: &str) -> PathBuf {
    let source = sources().join("module_kernels.hip");
    let module = scratch_dir("hip").join(format!("module-{chip}.co"));
    compile(&module, std::slice::from_ref(&source), &|hipcc| {
        hipcc.args(["--genco", "-std=c++17", "-O2"]);
        hipcc.arg(format!("--offload-arch={chip}")).arg(&source);
    });
    module
}

/// Makes `output` with `hipcc` once per process, and only when it is older than one of the sources.
fn compile(output: &Path, sources: &[PathBuf], arguments: &dyn Fn(&mut Command)) {
    static MADE: OnceLock<Mutex<HashMap<PathBuf, Arc<OnceLock<()>>>>> = OnceLock::new();
    let mut made = MADE
        .get_or_init(Mutex::default)
        .lock()
        .expect("Nobody panics with this lock");
    let cell = Arc::clone(made.entry(output.to_owned()).or_default());
    drop(made);
    cell.get_or_init(|| {
        let time = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
        let newest = sources.iter().filter_map(|source| time(source)).max();
        if time(output) > newest {
            return;
        }
        // A compilation that is interrupted leaves no half of a program.
        let part = output.with_extension("part");
        let mut hipcc = Command::new("hipcc");
        arguments(&mut hipcc);
        hipcc.arg("-o").arg(&part);
        let result = compiler_output(&mut hipcc).expect("hipcc was found");
        let text = String::from_utf8_lossy(&result.stderr);
        assert!(result.status.success(), "{hipcc:?} failed:\n{text}");
        std::fs::rename(&part, output).expect("The target directory can be written");
    });
}

/// Runs a program that was built for the machine's chip, and fails unless it says that it passed.
///
/// # Panics
///
/// When it does not compile, and when a check of it failed.
pub fn run<S: AsRef<OsStr>>(machine: Machine<'_>, level: &str, name: &str, arguments: &[S]) {
    let build = Build {
        chip: machine.isa,
        level,
    };
    let mut command = machine.command(&program(name, build));
    judge(machine, &format!("hip {name} {level}"), command.args(arguments));
}
