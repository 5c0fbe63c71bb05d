//! Code objects for the loader tests, compiled when a test needs them.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler invocation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe<'a> {
    pub(crate) source: &'a str,
    pub(crate) cpu: &'a str,
    pub(crate) version: u32,
    pub(crate) options: &'a [&'a str],
}

pub(crate) const VARS: Recipe<'static> = Recipe {
    source: "vars.cl",
    cpu: "gfx900",
    version: 4,
    options: &[],
};

pub(crate) const EXTERNAL: Recipe<'static> = Recipe {
    source: "external.cl",
    ..VARS
};

impl Recipe<'_> {
    /// Compiles, or answers `None` where there is no compiler outside of CI.
    pub(crate) fn build(&self) -> Option<Vec<u8>> {
        let output = scratch_file(&format!("{}-v{}.co", self.cpu, self.version));
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/loader")
            .join(self.source);
        let mut command = Command::new("clang-15");
        command
            .args([
                "-x",
                "cl",
                "-cl-std=CL2.0",
                "-target",
                "amdgcn-amd-amdhsa",
                "-nogpulib",
                "-O1",
            ])
            .arg(format!("-mcpu={}", self.cpu))
            .arg(format!("-mcode-object-version={}", self.version))
            .args(self.options)
            .arg(source)
            .arg("-o")
            .arg(&output);
        run(command)?;
        let bytes = std::fs::read(&output).expect("the compiler wrote its output");
        std::fs::remove_file(&output).expect("the output can be removed");
        Some(bytes)
    }
}

/// Runs a tool and gives its standard output; `None` where the tool is missing outside of CI.
pub(crate) fn run(mut command: Command) -> Option<String> {
    let program = command.get_program().to_owned();
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "{program:?} is needed in CI: {error}"
            );
            eprintln!("skipped: {program:?}: {error}");
            return None;
        }
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?} failed: {errors}");
    Some(String::from_utf8(output.stdout).expect("the tool writes UTF-8"))
}

/// A path nobody else uses.
pub(crate) fn scratch_file(name: &str) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("hansa-loader-{}-{number}-{name}", std::process::id());
    std::env::temp_dir().join(name)
}

/// A small deterministic generator (xorshift64*), so that a failure can be repeated.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).expect("a small bound")).expect("it fits")
    }
}
