//! The same programs on three runtimes: AMD's from Debian and Hansa, both with the same virtual kernel below, and Hansa
//! with the software GPU by itself.

use std::path::Path;
use std::process::Command;

use crate::artifacts::{libraries, scratch_dir};
use crate::c_client::present;
use crate::hsa_client::{Machine, Plugins};

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

/// Whether AMD's runtime is there.
///
/// # Panics
///
/// When it is not, in CI.
#[must_use]
pub fn has_amds() -> bool {
    present(Path::new(AMDS).exists(), AMDS, "libhsa-runtime64-1")
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
}
