//! The same programs on three runtimes: AMD's from Debian and Hansa, both with the same virtual kernel below, and Hansa
//! with the software GPU by itself.

use std::path::Path;
use std::process::Command;

use crate::artifacts::{libraries, scratch_dir};
use crate::c_client::present;
use crate::hsa_client::{ready, Machine, Plugins};

/// AMD's runtime, where Debian installs it.
const AMDS: &str = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1";

/// A runtime with what is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// AMD's on the virtual kernel.
    Amd,
    /// Hansa on the virtual kernel.
    Kfd,
    /// Hansa with the software GPU.
    Sim,
}

/// Whether clients can run on AMD's runtime and on Hansa here.
///
/// # Panics
///
/// When something for that is missing in CI.
#[must_use]
pub fn is_comparable() -> bool {
    ready() && present(Path::new(AMDS).exists(), AMDS, "libhsa-runtime64-1")
}

impl Side {
    /// A command that runs a program on a machine with one GPU of a processor.
    ///
    /// # Panics
    ///
    /// When the libraries do not build.
    #[must_use]
    pub fn command(self, isa: &str, program: &Path) -> Command {
        let machine = Machine {
            plugins: Plugins::BuiltIn,
            isa,
            devices: 1,
        };
        let mut command = machine.command(program);
        if self == Self::Sim {
            return command;
        }
        command
            .env_remove("HANSA_CONFIG")
            .env("LD_PRELOAD", libraries().join("libhansa_vkernel_preload.so"))
            .env("VKERNEL_MACHINE", isa)
            .env("VKERNEL_DIR", scratch_dir("vkernel"));
        if self == Self::Amd {
            command.env_remove("LD_LIBRARY_PATH");
        } else {
            command.env("HANSA_BACKENDS", "kfd");
        }
        command
    }
    /// The output of a program that has to end well on such a machine.
    ///
    /// # Panics
    ///
    /// When it does not, and when the libraries do not build.
    pub fn output(self, isa: &str, program: &Path, arguments: &[&Path]) -> String {
        let output = self
            .command(isa, program)
            .args(arguments)
            .output()
            .expect("timeout is a part of every system");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{} on {self:?} with {isa}: {}\n{text}\n{}",
            program.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        text
    }
}
