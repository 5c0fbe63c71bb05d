//! The command line.

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// The Hansa HSA runtime: drivers are plugins.
#[derive(Debug, Parser)]
#[command(name = "hansa", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show agents, instruction sets, memory and links
    Info(InfoOptions),
    /// Say of every plugin why it serves or not
    Doctor(Output),
    /// List plugins, or switch them on and off
    Plugins {
        #[command(subcommand)]
        action: PluginAction,
    },
    /// Show every setting and where its value came from
    Config(Output),
    /// Run a program on this runtime
    Run(RunOptions),
    /// Print the environment of `hansa run`, for a shell or a unit file
    Env(BackendOptions),
    /// List the agents and compute a vector sum on a GPU
    Demo {
        /// How many numbers to add
        #[arg(long, default_value_t = 1_000_000)]
        count: u32,
    },
    /// Measure this machine beside what it is compared with, and print ratios
    Bench(BenchOptions),
    /// Look at instruction sets and code
    Isa {
        #[command(subcommand)]
        action: IsaAction,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    #[command(flatten)]
    pub(crate) output: Output,
    /// Compare the KFD backend with AMD's runtime, on a virtual device
    #[arg(long)]
    pub(crate) kfd: bool,
    /// Only time the runtime in this library, on the devices there are
    #[arg(long, value_name = "LIBRARY", conflicts_with = "kfd")]
    pub(crate) pace: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IsaAction {
    /// Show how much of an instruction set the software GPU executes
    Coverage {
        /// A processor, such as gfx90a; all of them if it is not given
        #[arg(long, value_name = "NAME")]
        target: Option<String>,
        /// List the instructions that are missing
        #[arg(long)]
        missing: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Disassemble code objects, alone or in a program
    Disasm {
        /// A code object, a bundle of them, or a program that has some
        file: PathBuf,
        /// Only those for this processor, such as gfx90a
        #[arg(long, value_name = "NAME")]
        target: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginAction {
    /// List the plugins that were found
    List(Output),
    /// Use a plugin from now on
    Enable {
        /// Its id, or the end of it
        id: String,
        /// Write the system's configuration, not the user's
        #[arg(long)]
        system: bool,
    },
    /// Use a plugin no longer
    Disable {
        /// Its id, or the end of it
        id: String,
        /// Write the system's configuration, not the user's
        #[arg(long)]
        system: bool,
    },
}

/// How data is printed.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoOptions {
    #[command(flatten)]
    pub(crate) output: Output,
    /// List the exported functions that are not there yet
    #[arg(long)]
    pub(crate) missing: bool,
}

/// Which backends a program gets.
#[derive(Debug, Args)]
pub(crate) struct BackendOptions {
    /// Use only this driver (repeat for several, in order of preference)
    #[arg(long = "backend", value_name = "ID")]
    pub(crate) backends: Vec<String>,
    /// Set a key of the configuration, such as backend.sim.devices=2
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Instruction set of the software GPU, such as gfx90a
    #[arg(long, value_name = "NAME")]
    pub(crate) isa: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) backends: BackendOptions,
    /// Load the runtime before all other libraries (for programs that carry their own copy)
    #[arg(long)]
    pub(crate) preload: bool,
    /// Print what the kernels on the software GPU did: instructions, lanes, bytes moved
    #[arg(long)]
    pub(crate) stats: bool,
    /// Write that as JSON to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) stats_json: Option<PathBuf>,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) program: Vec<OsString>,
}
