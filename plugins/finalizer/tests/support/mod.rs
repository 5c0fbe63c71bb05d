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

pub mod cases;
pub mod device;
pub mod number;
pub mod run;

use hansa_finalizer::backend;
use hansa_finalizer::brig::{MachineModel, Module, Profile, Round};
use hansa_finalizer::program::{Linked, Settings, Target};
use hansa_finalizer::translate;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// The first line of a module of the full profile.
pub const HEAD: &str = "module &test:1:0:$full:$large:$default;\n";

fn scratch(extension: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("hsail-{}-{number}.{extension}", std::process::id()))
}

/// Assembles HSAIL text.
pub fn assemble(text: &str) -> Module {
    let (source, output) = (scratch("hsail"), scratch("brig"));
    std::fs::write(&source, text).expect("a source file");
    let run = Command::new("HSAILasm")
        .arg("-o")
        .arg(&output)
        .arg(&source)
        .output();
    let run = run.expect("HSAILasm of the package hsail-tools is installed");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && output.exists(), "{said}\n{text}");
    let bytes = std::fs::read(&output).expect("BRIG");
    for file in [source, output] {
        drop(std::fs::remove_file(file));
    }
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
    let modules = texts.iter().map(|text| Arc::new(assemble(text))).collect();
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
