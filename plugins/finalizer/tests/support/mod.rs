//! HSAIL text to code objects: `HSAILasm` assembles, the finalizer does the rest.

#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    unused_imports,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::precedence,
    reason = "a module of each test file, no file uses all of it, and its numbers are patterns of bits"
)]

#[path = "../assembler/mod.rs"]
pub mod assembler;
pub mod cases;
pub mod device;
pub mod number;
pub mod run;

use hansa_finalizer::backend;
use hansa_finalizer::brig::{MachineModel, Module, Profile, Round};
use hansa_finalizer::program::{Linked, Settings, Target};
use hansa_finalizer::translate;
use hansa_sim::isa::Target as Chip;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The chips that code is run on, the oldest and the newest of GFX9.
pub const TARGETS: [(&str, Chip); 2] = [("gfx900", Chip::Gfx900), ("gfx90a", Chip::Gfx90a)];

/// The first line of a module of the full profile.
pub const HEAD: &str = "module &test:1:0:$full:$large:$default;\n";

/// Assembles HSAIL text.
pub fn assemble(text: &str) -> Module {
    let bytes = assembler::assemble(text).expect("HSAILasm of the package hsail-tools is installed");
    Module::parse(bytes).expect("HSAILasm writes valid BRIG")
}

pub fn target(processor: &str) -> Target {
    Target {
        isa: format!("amdgcn-amd-amdhsa--{processor}"),
        wavefront: 64,
    }
}

/// Translates modules of HSAIL text as one program.
pub fn translate_all(texts: &[&str], processor: &str) -> Result<String, translate::Error> {
    let modules = texts.iter().map(|text| assemble(text)).collect();
    translate_modules(modules, processor)
}

/// Translates modules as one program.
pub fn translate_modules(modules: Vec<Module>, processor: &str) -> Result<String, translate::Error> {
    let modules = modules.into_iter().map(Arc::new).collect();
    let settings = Settings {
        machine_model: MachineModel::LARGE,
        profile: Profile::FULL,
        rounding: Round::DEFAULT,
    };
    translate::module(&Linked::new(modules, settings), &target(processor))
}

/// Translates a module of HSAIL text.
pub fn translate(text: &str) -> Result<String, translate::Error> {
    translate_all(&[text], "gfx900")
}

/// Has LLVM verify IR.
pub fn verify(ir: &str) {
    let mut child = Command::new("opt-15")
        .args(["-passes=verify", "-disable-output", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("opt-15 of the package llvm-15 is installed");
    let mut input = child.stdin.take().expect("a pipe");
    // A verifier that has stopped reading says why.
    drop(input.write_all(ir.as_bytes()));
    drop(input);
    let result = child.wait_with_output().expect("opt-15 ends");
    let said = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{said}\n{ir}");
}

/// Finalizes modules of HSAIL text as one program, with the IR verified.
pub fn finalize_all(texts: &[&str], processor: &str) -> Vec<u8> {
    let ir = translate_all(texts, processor).unwrap_or_else(|error| panic!("{error}"));
    verify(&ir);
    backend::compile(&ir, &target(processor).isa, &backend::Options::default())
        .unwrap_or_else(|error| panic!("{error}\n{ir}"))
}

/// Finalizes a module of HSAIL text.
pub fn finalize(text: &str, processor: &str) -> Vec<u8> {
    finalize_all(&[text], processor)
}
