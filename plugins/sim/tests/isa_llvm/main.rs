//! The decoder and disassembler against LLVM 15.

mod encode;
mod oracle;
mod rng;

use std::path::PathBuf;
use std::process::Command;

use hansa_sim::isa::{decode, disassemble, row, rows_of, Family, Target};

use crate::rng::Rng;

/// Opcodes that LLVM decodes although no GFX9 processor has them: its table for the oldest chips
/// has no generation on `buffer_wbinvl1`, so that its old opcode is taken for a new one.
const LLVM_ONLY: [(Family, u16); 1] = [(Family::Mubuf, 0x71)];

fn bytes(encoding: &[u32]) -> Vec<u8> {
    encoding.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn ours(target: Target, encoding: &[u32]) -> Result<String, String> {
    let code = bytes(encoding);
    let inst = decode(target, &code).map_err(|error| error.to_string())?;
    if usize::from(inst.size) != code.len() {
        return Err(format!("size {} of {}", inst.size, inst.text()));
    }
    Ok(inst.text())
}

fn every_row_reads_as_llvm_reads_it(target: Target) {
    if !oracle::available("llvm-mc-15") {
        return;
    }
    let mut rng = Rng::new(0x9e37_79b9_7f4a_7c15);
    let mut encodings = Vec::new();
    for row in rows_of(target) {
        encodings.extend(encode::encodings(row, target, &mut rng));
    }
    let expected = oracle::disassemble(target, &encodings);
    let mut wrong = Vec::new();
    for (encoding, expected) in encodings.iter().zip(&expected) {
        let found = ours(target, encoding);
        if found.as_ref().ok() != expected.as_ref() {
            wrong.push(format!("{encoding:08x?}\n  LLVM {expected:?}\n  here {found:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{target}: {} of {} differ:\n{}",
        wrong.len(),
        encodings.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}

#[test]
fn gfx900_rows_read_as_llvm_reads_them() {
    every_row_reads_as_llvm_reads_it(Target::Gfx900);
}

#[test]
fn gfx906_rows_read_as_llvm_reads_them() {
    every_row_reads_as_llvm_reads_it(Target::Gfx906);
}

#[test]
fn gfx908_rows_read_as_llvm_reads_them() {
    every_row_reads_as_llvm_reads_it(Target::Gfx908);
}

#[test]
fn gfx90a_rows_read_as_llvm_reads_them() {
    every_row_reads_as_llvm_reads_it(Target::Gfx90a);
}

/// An encoding: its family, the number of its opcodes, the first word for an opcode.
type Encoding = (Family, u16, fn(u32) -> u32);

fn opcode_fields() -> Vec<Encoding> {
    vec![
        (Family::Sop2, 0x60, |op| 0x8000_0000 | op << 23),
        (Family::Sopk, 0x1d, |op| 0xb000_0000 | op << 23),
        (Family::Sop1, 0x100, |op| 0xbe80_0000 | op << 8),
        (Family::Sopc, 0x80, |op| 0xbf00_0000 | op << 16),
        (Family::Sopp, 0x80, |op| 0xbf80_0000 | op << 16),
        (Family::Smem, 0x100, |op| 0xc000_0000 | op << 18),
        (Family::Vop2, 0x3e, |op| op << 25),
        (Family::Vop1, 0x100, |op| 0x7e00_0000 | op << 9),
        (Family::Vopc, 0x100, |op| 0x7c00_0000 | op << 17),
        (Family::Vop3, 0x380, |op| 0xd000_0000 | op << 16),
        (Family::Vop3p, 0x80, |op| 0xd380_0000 | op << 16),
        (Family::Vintrp, 0x4, |op| 0xd400_0000 | op << 16),
        (Family::Ds, 0x100, |op| 0xd800_0000 | op << 17),
        (Family::Flat, 0x80, |op| 0xdc00_0000 | op << 18),
        (Family::Scratch, 0x80, |op| 0xdc00_4000 | op << 18),
        (Family::Global, 0x80, |op| 0xdc00_8000 | op << 18),
        (Family::Mubuf, 0x80, |op| 0xe000_0000 | op << 18),
        (Family::Mtbuf, 0x10, |op| 0xe800_0000 | op << 15),
        (Family::Mimg, 0x80, |op| 0xf000_0000 | op << 18),
        (Family::Exp, 0x1, |_| 0xc400_0000),
    ]
}

/// Field values that make most opcodes a valid instruction: zeros, vector registers in all source
/// fields, the data share bit, the LDS bit.
fn templates(family: Family, word: u32) -> Vec<Vec<u32>> {
    let short = matches!(
        family,
        Family::Sop2
            | Family::Sopk
            | Family::Sop1
            | Family::Sopc
            | Family::Sopp
            | Family::Vop2
            | Family::Vop1
            | Family::Vopc
            | Family::Vintrp
    );
    if short {
        return vec![vec![word], vec![word | 0x100], vec![word, 0]];
    }
    let mut list = vec![
        vec![word, 0],
        vec![word, 0x0402_0100],
        vec![word, 0x0401_0080],
        vec![word, 2 << 9],
    ];
    if !matches!(family, Family::Vop3 | Family::Vop3p | Family::Mtbuf) {
        list.push(vec![word | 1 << 16, 0]);
        list.push(vec![word | 1 << 16, 0x0000_00ff]);
    }
    list
}

#[test]
fn llvm_knows_no_opcode_that_the_tables_lack() {
    if !oracle::available("llvm-mc-15") {
        return;
    }
    for target in Target::ALL {
        let mut missing = Vec::new();
        for (family, end, word) in opcode_fields() {
            let unknown =
                |op: &u16| row(target, family, *op).is_none() && !LLVM_ONLY.contains(&(family, *op));
            for op in (0..end).filter(unknown) {
                missing.extend(templates(family, word(u32::from(op))));
            }
        }
        let found = oracle::disassemble(target, &missing);
        let surplus: Vec<_> = missing
            .iter()
            .zip(found)
            .filter(|(_, text)| text.is_some())
            .collect();
        assert!(surplus.is_empty(), "{target}: LLVM knows {surplus:08x?}");
    }
}

/// Kernels with loops, calls, atomics, LDS, scratch, halves, doubles and packed operations.
const KERNELS: &str = include_str!("kernels.cl");

#[test]
fn compiled_kernels_read_as_llvm_reads_them() {
    if !["clang-15", "llvm-objdump-15"]
        .iter()
        .all(|tool| oracle::available(tool))
    {
        return;
    }
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let source = dir.join("isa_kernels.cl");
    std::fs::write(&source, KERNELS).expect("the source is written");
    for target in Target::ALL {
        for level in ["-O0", "-O3"] {
            let object = dir.join(format!("isa_{target}{level}.o"));
            let status = Command::new("clang-15")
                .args([
                    "-target",
                    "amdgcn-amd-amdhsa",
                    "-nogpulib",
                    "-cl-std=CL2.0",
                    "-c",
                    level,
                ])
                .arg(format!("-mcpu={target}"))
                .args(["-x", "cl", "-o"])
                .args([&object, &source])
                .status()
                .expect("clang-15 runs");
            assert!(status.success(), "clang-15 {target} {level}");
            let listing = oracle::objdump(target, &object);
            assert!(
                listing.len() > 500,
                "{target} {level}: {} instructions",
                listing.len()
            );
            for expected in listing {
                let inst = decode(target, &expected.bytes);
                let found = inst.map(|inst| (usize::from(inst.size), inst.text()));
                let wanted = (expected.bytes.len(), expected.text);
                assert_eq!(found, Ok(wanted), "{target} {level} {:02x?}", expected.bytes);
            }
        }
    }
}

#[test]
fn arbitrary_bytes_are_consumed_without_a_panic() {
    let mut rng = Rng::new(42);
    let families: Vec<u32> = opcode_fields().iter().map(|(_, _, word)| word(0)).collect();
    for target in Target::ALL {
        // Half of the words start like a known encoding, so that decoding gets past the first step.
        let mut code = Vec::new();
        for _ in 0..200_000 {
            let start = if rng.one_in(2) { rng.pick(&families) } else { 0 };
            code.extend((start | rng.bits(32)).to_le_bytes());
        }
        code.extend([1, 2, 3]);
        let lines = disassemble(target, &code, 0x1000);
        let mut end = 0x1000;
        for line in lines {
            assert_eq!(line.pc, end);
            assert!(!line.text.is_empty());
            let left = 0x1000 + code.len() as u64 - end;
            end += line.inst.map_or_else(|_| left.min(4), |inst| inst.size.into());
        }
        assert_eq!(end, 0x1000 + code.len() as u64);
    }
}

#[test]
fn every_prefix_of_an_instruction_is_an_error() {
    for target in Target::ALL {
        let mut rng = Rng::new(7);
        for row in rows_of(target) {
            for encoding in encode::encodings(row, target, &mut rng) {
                let code = bytes(&encoding);
                for end in 0..code.len() {
                    assert!(decode(target, &code[..end]).is_err(), "{} {code:02x?}", row.name);
                }
            }
        }
    }
}
