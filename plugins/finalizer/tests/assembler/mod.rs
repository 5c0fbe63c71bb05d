//! Assembles HSAIL with `HSAILasm` of the HSA Foundation (Debian: `hsail-tools`), which knows nothing of us.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The BRIG of a text; `None` without the assembler, which CI must have.
pub(crate) fn assemble(text: &str) -> Option<Vec<u8>> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let stem =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hsail-{}-{number}", std::process::id()));
    let (source, module) = (stem.with_extension("hsail"), stem.with_extension("brig"));
    std::fs::write(&source, text).expect("the target directory can be written");
    let started = Command::new("HSAILasm")
        .arg("-o")
        .arg(&module)
        .arg(&source)
        .output();
    let Ok(output) = started else {
        let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(
            !in_ci,
            "HSAILasm is missing and CI must have it: install hsail-tools"
        );
        eprintln!("skipped: HSAILasm is missing, install hsail-tools");
        return None;
    };
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let bytes = std::fs::read(&module);
    for file in [&source, &module] {
        drop(std::fs::remove_file(file));
    }
    assert!(output.status.success(), "HSAILasm: {said}\n{text}");
    Some(bytes.unwrap_or_else(|error| panic!("HSAILasm wrote no module: {error}: {said}\n{text}")))
}
