//! LLVM's tools as the judge of encodings and text.

use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

use hansa_sim::isa::Target;

/// Whether `tool` can be run. Without it a test cannot say anything: on CI that is a failure, at
/// home it is said and the test ends.
pub(crate) fn available(tool: &str) -> bool {
    let found = Command::new(tool)
        .arg("--version")
        .output()
        .is_ok_and(|out| out.status.success());
    if !found {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "{tool} is missing; install LLVM 15"
        );
        eprintln!("skipped: {tool} is not installed");
    }
    found
}

/// What llvm-mc says each encoding is; `None` where it knows none.
pub(crate) fn disassemble(target: Target, encodings: &[Vec<u32>]) -> Vec<Option<String>> {
    let mut input = String::new();
    for encoding in encodings {
        let bytes = encoding.iter().flat_map(|word| word.to_le_bytes());
        let list = bytes.map(|byte| format!("{byte:#04x}")).collect::<Vec<_>>();
        // The brackets make llvm-mc skip all of an encoding that it does not know.
        input.push_str(&format!("[{}]\n", list.join(",")));
    }
    let mut child = Command::new("llvm-mc-15")
        .args([
            "-arch=amdgcn",
            "-disassemble",
            &format!("-mcpu={}", target.name()),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("llvm-mc-15 starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("llvm-mc-15 ends");
    writer
        .join()
        .expect("the writer ends")
        .expect("llvm-mc-15 reads its input");
    // It ends with 1 when an encoding in brackets was unknown.
    let ended = matches!(output.status.code(), Some(0 | 1));
    assert!(ended, "llvm-mc-15 {target}: {}", output.status);

    // Lines that are no instruction are named in the warnings; the others come out in order.
    let warnings = String::from_utf8_lossy(&output.stderr);
    assert!(!warnings.contains("error:"), "llvm-mc-15 {target}: {warnings}");
    let rejected: HashSet<usize> = warnings
        .lines()
        .filter(|line| line.contains("warning: invalid instruction encoding"))
        .filter_map(|line| line.split(':').nth(1)?.parse().ok())
        .collect();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut accepted = text.lines().filter(|line| !line.contains(".text")).map(normalise);
    let known = (1..=encodings.len()).map(|n| (!rejected.contains(&n)).then(|| accepted.next())?);
    let known = known.collect();
    assert_eq!(
        accepted.next(),
        None,
        "llvm-mc-15 printed more lines than it was given encodings"
    );
    known
}

/// One instruction of a disassembled object: its bytes and its text.
pub(crate) struct Listed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) text: String,
}

/// What llvm-objdump says about an object file.
pub(crate) fn objdump(target: Target, object: &std::path::Path) -> Vec<Listed> {
    let output = Command::new("llvm-objdump-15")
        .args(["-d", &format!("--mcpu={}", target.name())])
        .arg(object)
        .output()
        .expect("llvm-objdump-15 runs");
    assert!(output.status.success(), "llvm-objdump-15: {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(listed).collect()
}

/// A line like `v_mov_b32_e32 v0, 0 // 000000000100: 7E000280`.
fn listed(line: &str) -> Option<Listed> {
    let (text, rest) = line.strip_prefix('\t')?.rsplit_once("// ")?;
    let (_, words) = rest.split_once(": ")?;
    let words = words
        .split(' ')
        .map_while(|word| u32::from_str_radix(word, 16).ok());
    Some(Listed {
        bytes: words.flat_map(u32::to_le_bytes).collect(),
        text: normalise(text),
    })
}

/// Single spaces, and no comment (LLVM warns about unaligned registers in one).
fn normalise(line: &str) -> String {
    let code = line.split(';').next().unwrap_or_default();
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}
