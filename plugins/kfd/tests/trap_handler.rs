//! The committed code of the trap handler is what its source assembles to.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hansa_kfd::trap_handler::CODE;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where LLVM's tools are, if they are installed.
fn llvm() -> Option<PathBuf> {
    let path = Path::new("/usr/lib/llvm-15/bin");
    path.join("llvm-mc").exists().then(|| path.to_owned())
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_committed_code_is_that_of_the_source() {
    let Some(llvm) = llvm() else {
        return;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("trap/handler.s");
    for (processor, code) in CODE {
        let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("trap-{processor}.o"));
        let text = object.with_extension("bin");
        run(Command::new(llvm.join("llvm-mc"))
            .arg("-triple=amdgcn-amd-amdhsa")
            .arg(format!("-mcpu={processor}"))
            .arg("-filetype=obj")
            .arg(&source)
            .arg("-o")
            .arg(&object));
        run(Command::new(llvm.join("llvm-objcopy"))
            .args(["-O", "binary", "--only-section=.text"])
            .arg(&object)
            .arg(&text));
        assert!(
            std::fs::read(&text).unwrap() == code,
            "trap/{processor}.bin is not what trap/handler.s assembles to; {} is",
            text.display()
        );
        assert!(code.len() < 4096, "it has one page");
    }
}
