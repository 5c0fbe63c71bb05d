//! The committed code for devices is what its sources assemble to.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hansa_kfd::{blit, trap_handler};
use std::path::{Path, PathBuf};
use std::process::Command;

/// LLVM's tools that know a processor; `None`, with a word on stderr, where they are missing outside CI.
fn tools(processor: &str) -> Option<PathBuf> {
    // gfx12 came after version 15.
    let version = if processor.starts_with("gfx12") { 19 } else { 15 };
    let path = PathBuf::from(format!("/usr/lib/llvm-{version}/bin"));
    if path.join("llvm-mc").exists() {
        return Some(path);
    }
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        !in_ci,
        "{} is missing and CI must have it: install llvm-{version}",
        path.display()
    );
    eprintln!("skipped: {} is missing, install llvm-{version}", path.display());
    None
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn scratch(file: String) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(file)
}

fn assemble(tools: &Path, processor: &str, file: &str, object: &Path) {
    run(Command::new(tools.join("llvm-mc"))
        .arg("-triple=amdgcn-amd-amdhsa")
        .arg(format!("-mcpu={processor}"))
        .arg("-filetype=obj")
        .arg(source(file))
        .arg("-o")
        .arg(object));
}

fn bytes(tools: &Path, object: &Path, sections: &[&str]) -> (PathBuf, Vec<u8>) {
    let flat = object.with_extension("bin");
    run(Command::new(tools.join("llvm-objcopy"))
        .args(["-O", "binary"])
        .args(sections)
        .arg(object)
        .arg(&flat));
    let bytes = std::fs::read(&flat).unwrap();
    (flat, bytes)
}

#[test]
fn the_trap_handlers_are_those_of_the_source() {
    for (processor, code) in trap_handler::CODE {
        let Some(tools) = tools(processor) else { continue };
        let object = scratch(format!("trap-{processor}.o"));
        assemble(&tools, processor, "trap/handler.s", &object);
        let (flat, made) = bytes(&tools, &object, &["--only-section=.text"]);
        assert!(
            made == code,
            "trap/{processor}.bin is not what trap/handler.s assembles to; {} is",
            flat.display()
        );
        assert!(code.len() < 4096, "it has one page");
    }
}

/// Processors that share an image get the same bytes from the source.
#[test]
fn the_kernels_that_copy_are_those_of_the_source() {
    let alike = [
        ("gfx801", "gfx803"),
        ("gfx906", "gfx900"),
        ("gfx908", "gfx900"),
        ("gfx940", "gfx90a"),
        ("gfx1030", "gfx1010"),
        ("gfx1102", "gfx1100"),
        ("gfx1201", "gfx1200"),
    ];
    let own = blit::CODE.map(|(processor, _)| (processor, processor));
    for (processor, name) in own.into_iter().chain(alike) {
        let Some(tools) = tools(processor) else { continue };
        let (object, linked) = (
            scratch(format!("blit-{processor}.o")),
            scratch(format!("blit-{processor}.elf")),
        );
        assemble(&tools, processor, "blit/kernels.s", &object);
        run(Command::new("ld.lld-15")
            .arg("-T")
            .arg(source("blit/kernels.ld"))
            .arg(&object)
            .arg("-o")
            .arg(&linked));
        let (flat, made) = bytes(&tools, &linked, &[]);
        let (_, code) = blit::CODE.iter().find(|(of, _)| *of == name).unwrap();
        assert!(
            made == *code,
            "blit/{name}.bin is not what blit/kernels.s is for {processor}; {} is",
            flat.display()
        );
    }
}
