//! The `hansa` command: what is there, why something is not used, and programs run on this runtime.

mod arguments;
mod compile_cache;
mod config;
mod demo;
mod fat_binary;
mod info;
mod isa;
mod machine;
mod plugins;
mod presence;
mod run;
mod stats;
mod text;

use arguments::{Arguments, Command};
use clap::{CommandFactory as _, Parser as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Info(options) => info::run(&options),
        Command::Doctor(options) => plugins::doctor(&options),
        Command::Plugins { action } => plugins::run(&action),
        Command::Config(options) => config::run(&options),
        Command::Run(options) => run::run(&options),
        Command::Env(options) => run::print_environment(&options),
        Command::Demo { count } => demo::run(count),
        Command::Bench(options) => bench(&options),
        Command::Isa { action } => isa::run(&action),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Arguments::command(), "hansa", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|message| {
        eprintln!("hansa: {message}");
        ExitCode::FAILURE
    })
}

/// `hansa bench`: measures the runtime beside this command.
fn bench(options: &arguments::BenchOptions) -> Result<ExitCode, String> {
    if let Some(library) = &options.pace {
        hansa_bench::pace::run(library)?;
        return Ok(ExitCode::SUCCESS);
    }
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    if options.kfd {
        hansa_bench::run_beside_amd(&run::library()?, &this, options.output.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let demo = [&*this.to_string_lossy(), "demo", "--count"];
    hansa_bench::run(&run::library()?, &this, &demo, options.output.json)?;
    Ok(ExitCode::SUCCESS)
}
