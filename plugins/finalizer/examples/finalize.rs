//! Finalizes BRIG files as one program: `finalize PROCESSOR OUTPUT FILE...`. An output that ends in `.ll` gets the IR.

use hansa_finalizer::brig::Module;
use hansa_finalizer::program::{Linked, Settings, Target};
use hansa_finalizer::{backend, translate};
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(processor), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: finalize PROCESSOR OUTPUT FILE...".into());
    };
    let mut modules = Vec::new();
    for file in arguments {
        modules.push(Arc::new(Module::parse(std::fs::read(file)?)?));
    }
    let target = Target {
        isa: format!("amdgcn-amd-amdhsa--{processor}"),
        wavefront: if processor.starts_with("gfx1") { 32 } else { 64 },
    };
    let Some(facts) = modules.first().map(|module| module.facts()) else {
        return Err("there are no files".into());
    };
    let settings = Settings {
        machine_model: facts.machine_model,
        profile: facts.profile,
        rounding: facts.rounding,
    };
    let ir = translate::module(&Linked::new(modules, settings), &target)?;
    if output.ends_with(".ll") {
        std::fs::write(output, ir)?;
    } else {
        std::fs::write(
            output,
            backend::compile(&ir, &target.isa, &backend::Options::default())?,
        )?;
    }
    Ok(())
}
