//! Compiling and running C and C++ clients with the compilers of the machine.
//!
//! A test that needs a tool or a header of the machine asks [`present`] first: outside CI the absence is a skip that
//! says what is missing, in CI (`CI=true`) it is a failure.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::artifacts::compiler_output;

/// Repository root.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Directory of this repository's own HSA headers.
#[must_use]
pub fn own_headers() -> PathBuf {
    repository().join("capi/include/hsa")
}

/// Directory of the HSA headers that Debian's libhsa-runtime-dev installs.
#[must_use]
pub fn debian_headers() -> PathBuf {
    PathBuf::from("/usr/include/hsa")
}

/// Tells whether what a test needs is there; says so and answers false when not.
///
/// # Panics
///
/// In CI, where nothing may be missing.
#[must_use]
pub fn present(found: bool, what: &str, package: &str) -> bool {
    if found {
        return true;
    }
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!in_ci, "{what} is missing and CI must have it: install {package}");
    eprintln!("skipped: {what} is missing, install {package}");
    false
}

/// Tells whether a program can be started.
#[must_use]
pub fn has_program(program: &str) -> bool {
    // How it ends does not matter: rocminfo knows no `--version`, and fails on a machine without a GPU.
    Command::new(program).arg("--version").output().is_ok()
}

/// A C or C++ program to compile.
#[derive(Clone, Debug)]
pub struct Client {
    compiler: String,
    arguments: Vec<String>,
}

impl Client {
    /// A client for `compiler`, with its language and standard, such as `("gcc", "c", "c99")`.
    #[must_use]
    pub fn new(compiler: &str, language: &str, standard: &str) -> Self {
        let arguments = ["-x", language, &format!("-std={standard}")]
            .map(str::to_owned)
            .to_vec();
        Self {
            compiler: compiler.to_owned(),
            arguments,
        }
    }

    /// Adds an include directory.
    #[must_use]
    pub fn include(self, directory: &Path) -> Self {
        self.argument(&format!("-I{}", directory.display()))
    }

    /// Adds an argument of the compiler.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Checks a source without making anything of it.
    ///
    /// # Errors
    ///
    /// What the compiler says.
    pub fn check(&self, source: &Path) -> Result<(), String> {
        self.start(&["-fsyntax-only".as_ref(), source.as_ref()])
    }

    /// Compiles and links a source into `program`.
    ///
    /// # Errors
    ///
    /// What the compiler or the linker says.
    pub fn compile(&self, source: &Path, program: &Path) -> Result<(), String> {
        self.start(&["-o".as_ref(), program.as_ref(), source.as_ref()])
    }

    fn start(&self, more: &[&std::ffi::OsStr]) -> Result<(), String> {
        let mut command = Command::new(&self.compiler);
        command.args(&self.arguments).args(more);
        let output = compiler_output(&mut command)
            .map_err(|error| format!("{} cannot be started: {error}", self.compiler))?;
        if output.status.success() {
            return Ok(());
        }
        let mut text = format!("{command:?} ended with {}\n", output.status);
        let _ = write!(text, "{}", String::from_utf8_lossy(&output.stderr));
        Err(text)
    }
}

/// Runs a program and gives what it prints.
///
/// # Errors
///
/// Why it could not be started, or how it ended with what it printed.
pub fn run(program: &Path) -> Result<String, String> {
    let output = Command::new(program)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{} ended with {}\n{text}{errors}",
        program.display(),
        output.status
    ))
}
