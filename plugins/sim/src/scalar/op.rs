//! Scalar instructions, by generation.
//!
//! Sources: AMD's instruction set documents ("Vega", "RDNA 1" to "RDNA 4") for the fields, LLVM's assembler for the numbers.

use super::wave::Generation;

/// How an instruction's fields lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
}

/// What an instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Sub,
    AddCarry,
    SubCarry,
    Min,
    Max,
    Select,
    And,
    Or,
    Xor,
    AndNot,
    Left,
    Right,
    Field,
    Multiply,
    And64,
    Or64,
    AndNot64,
    Select64,
    Left64,
    Right64,
    Move,
    Not,
    Reverse,
    ClearBit,
    SetBit,
    Move64,
    Not64,
    Equal,
    Unequal,
    More,
    MoreOrEqual,
    Less,
    LessOrEqual,
    BitIsClear,
    BitIsSet,
    Equal64,
    Unequal64,
    GetPc,
    SetPc,
    SwapPc,
    Return,
    Ask,
    MoveImmediate,
    AddImmediate,
    GetRegister,
    SetRegister,
    SetRegisterImmediate,
    Idle,
    Branch,
    BranchIfClear,
    BranchIfSet,
    BranchIfNoVcc,
    BranchIfVcc,
    BranchIfNoExec,
    BranchIfExec,
    Wait,
    WaitForAnswers,
    WaitForAll,
    Trap,
    Send,
    Halt,
    End,
    Load(u8),
    Store(u8),
    /// Exchanges 64 bits of memory; the literal says whether what was there is wanted.
    Exchange,
}

/// Not in a generation.
const NO: u8 = 0xff;

type Row = (Format, &'static str, Op, [u8; 4]);

use Format::{Sop1, Sop2, Sopc, Sopk, Sopp};

/// Format, the mnemonic of LLVM for gfx9 or where it was first, what it does, and its number on gfx9, gfx10, gfx11 and gfx12.
const ROWS: [Row; 78] = [
    (Sop2, "s_add_u32", Op::Add, [0x00, 0x00, 0x00, 0x00]),
    (Sop2, "s_sub_u32", Op::Sub, [0x01, 0x01, 0x01, 0x01]),
    (Sop2, "s_addc_u32", Op::AddCarry, [0x04, 0x04, 0x04, 0x04]),
    (Sop2, "s_subb_u32", Op::SubCarry, [0x05, 0x05, 0x05, 0x05]),
    (Sop2, "s_min_u32", Op::Min, [0x07, 0x07, 0x13, 0x13]),
    (Sop2, "s_max_u32", Op::Max, [0x09, 0x09, 0x15, 0x15]),
    (Sop2, "s_cselect_b32", Op::Select, [0x0a, 0x0a, 0x30, 0x30]),
    (Sop2, "s_and_b32", Op::And, [0x0c, 0x0e, 0x16, 0x16]),
    (Sop2, "s_or_b32", Op::Or, [0x0e, 0x10, 0x18, 0x18]),
    (Sop2, "s_xor_b32", Op::Xor, [0x10, 0x12, 0x1a, 0x1a]),
    (Sop2, "s_andn2_b32", Op::AndNot, [0x12, 0x14, 0x22, 0x22]),
    (Sop2, "s_lshl_b32", Op::Left, [0x1c, 0x1e, 0x08, 0x08]),
    (Sop2, "s_lshr_b32", Op::Right, [0x1e, 0x20, 0x0a, 0x0a]),
    (Sop2, "s_bfe_u32", Op::Field, [0x25, 0x27, 0x26, 0x26]),
    (Sop2, "s_mul_i32", Op::Multiply, [0x24, 0x26, 0x2c, 0x2c]),
    (Sop2, "s_and_b64", Op::And64, [0x0d, 0x0f, 0x17, 0x17]),
    (Sop2, "s_or_b64", Op::Or64, [0x0f, 0x11, 0x19, 0x19]),
    (Sop2, "s_andn2_b64", Op::AndNot64, [0x13, 0x15, 0x23, 0x23]),
    (Sop2, "s_cselect_b64", Op::Select64, [0x0b, 0x0b, 0x31, 0x31]),
    (Sop2, "s_lshl_b64", Op::Left64, [0x1d, 0x1f, 0x09, 0x09]),
    (Sop2, "s_lshr_b64", Op::Right64, [0x1f, 0x21, 0x0b, 0x0b]),
    (Sop1, "s_mov_b32", Op::Move, [0x00, 0x03, 0x00, 0x00]),
    (Sop1, "s_not_b32", Op::Not, [0x04, 0x07, 0x1e, 0x1e]),
    (Sop1, "s_brev_b32", Op::Reverse, [0x08, 0x0b, 0x04, 0x04]),
    (Sop1, "s_bitset0_b32", Op::ClearBit, [0x18, 0x1b, 0x10, 0x10]),
    (Sop1, "s_bitset1_b32", Op::SetBit, [0x1a, 0x1d, 0x12, 0x12]),
    (Sop1, "s_mov_b64", Op::Move64, [0x01, 0x04, 0x01, 0x01]),
    (Sop1, "s_not_b64", Op::Not64, [0x05, 0x08, 0x1f, 0x1f]),
    (Sopc, "s_cmp_eq_u32", Op::Equal, [0x06, 0x06, 0x06, 0x06]),
    (Sopc, "s_cmp_lg_u32", Op::Unequal, [0x07, 0x07, 0x07, 0x07]),
    (Sopc, "s_cmp_gt_u32", Op::More, [0x08, 0x08, 0x08, 0x08]),
    (Sopc, "s_cmp_ge_u32", Op::MoreOrEqual, [0x09, 0x09, 0x09, 0x09]),
    (Sopc, "s_cmp_lt_u32", Op::Less, [0x0a, 0x0a, 0x0a, 0x0a]),
    (Sopc, "s_cmp_le_u32", Op::LessOrEqual, [0x0b, 0x0b, 0x0b, 0x0b]),
    (Sopc, "s_bitcmp0_b32", Op::BitIsClear, [0x0c, 0x0c, 0x0c, 0x0c]),
    (Sopc, "s_bitcmp1_b32", Op::BitIsSet, [0x0d, 0x0d, 0x0d, 0x0d]),
    (Sopc, "s_cmp_eq_u64", Op::Equal64, [0x12, 0x12, 0x10, 0x10]),
    (Sopc, "s_cmp_lg_u64", Op::Unequal64, [0x13, 0x13, 0x11, 0x11]),
    (Sop1, "s_getpc_b64", Op::GetPc, [0x1c, 0x1f, 0x47, 0x47]),
    (Sop1, "s_setpc_b64", Op::SetPc, [0x1d, 0x20, 0x48, 0x48]),
    (Sop1, "s_swappc_b64", Op::SwapPc, [0x1e, 0x21, 0x49, 0x49]),
    (Sop1, "s_rfe_b64", Op::Return, [0x1f, 0x22, 0x4a, 0x4a]),
    (Sop1, "s_sendmsg_rtn_b32", Op::Ask, [NO, NO, 0x4c, 0x4c]),
    (Sopk, "s_movk_i32", Op::MoveImmediate, [0x00, 0x00, 0x00, 0x00]),
    (Sopk, "s_addk_i32", Op::AddImmediate, [0x0e, 0x0f, 0x0f, 0x0f]),
    (Sopk, "s_getreg_b32", Op::GetRegister, [0x11, 0x12, 0x11, 0x11]),
    (Sopk, "s_setreg_b32", Op::SetRegister, [0x12, 0x13, 0x12, 0x12]),
    (
        Sopk,
        "s_setreg_imm32_b32",
        Op::SetRegisterImmediate,
        [0x14, 0x15, 0x13, 0x13],
    ),
    (
        Sopk,
        "s_waitcnt_lgkmcnt",
        Op::WaitForAnswers,
        [NO, 0x1a, 0x1b, NO],
    ),
    (Sopk, "s_waitcnt_vscnt", Op::Idle, [NO, 0x17, 0x18, NO]),
    (Sopp, "s_nop", Op::Idle, [0x00, 0x00, 0x00, 0x00]),
    (Sopp, "s_branch", Op::Branch, [0x02, 0x02, 0x20, 0x20]),
    (
        Sopp,
        "s_cbranch_scc0",
        Op::BranchIfClear,
        [0x04, 0x04, 0x21, 0x21],
    ),
    (Sopp, "s_cbranch_scc1", Op::BranchIfSet, [0x05, 0x05, 0x22, 0x22]),
    (
        Sopp,
        "s_cbranch_vccz",
        Op::BranchIfNoVcc,
        [0x06, 0x06, 0x23, 0x23],
    ),
    (Sopp, "s_cbranch_vccnz", Op::BranchIfVcc, [0x07, 0x07, 0x24, 0x24]),
    (
        Sopp,
        "s_cbranch_execz",
        Op::BranchIfNoExec,
        [0x08, 0x08, 0x25, 0x25],
    ),
    (
        Sopp,
        "s_cbranch_execnz",
        Op::BranchIfExec,
        [0x09, 0x09, 0x26, 0x26],
    ),
    (Sopp, "s_waitcnt", Op::Wait, [0x0c, 0x0c, 0x09, 0x09]),
    (Sopp, "s_trap", Op::Trap, [0x12, 0x12, 0x10, 0x10]),
    (Sopp, "s_sleep", Op::Idle, [0x0e, 0x0e, 0x03, 0x03]),
    (Sopp, "s_sendmsg", Op::Send, [0x10, 0x10, 0x36, 0x36]),
    (Sopp, "s_sethalt", Op::Halt, [0x0d, 0x0d, 0x02, 0x02]),
    (Sopp, "s_setprio", Op::Idle, [0x0f, 0x0f, 0x35, 0x35]),
    (Sopp, "s_waitcnt_depctr", Op::Idle, [NO, 0x23, 0x08, 0x08]),
    (Sopp, "s_clause", Op::Idle, [NO, 0x21, 0x05, 0x05]),
    (Sopp, "s_delay_alu", Op::Idle, [NO, NO, 0x07, 0x07]),
    (Sopp, "s_inst_prefetch", Op::Idle, [NO, 0x20, 0x04, NO]),
    (Sopp, "s_wait_idle", Op::WaitForAll, [NO, 0x22, 0x0a, 0x0a]),
    (Sopp, "s_wait_kmcnt", Op::WaitForAnswers, [NO, NO, NO, 0x47]),
    (Sopp, "s_wait_loadcnt", Op::Idle, [NO, NO, NO, 0x40]),
    (Sopp, "s_wait_storecnt", Op::Idle, [NO, NO, NO, 0x41]),
    (Sopp, "s_wait_samplecnt", Op::Idle, [NO, NO, NO, 0x42]),
    (Sopp, "s_wait_bvhcnt", Op::Idle, [NO, NO, NO, 0x43]),
    (Sopp, "s_wait_expcnt", Op::Idle, [NO, NO, NO, 0x44]),
    (Sopp, "s_wait_dscnt", Op::Idle, [NO, NO, NO, 0x46]),
    (Sopp, "s_endpgm", Op::End, [0x01, 0x01, 0x30, 0x30]),
    (Sopp, "s_icache_inv", Op::Idle, [0x13, 0x13, 0x3c, 0x3c]),
];

/// Numbers of SOPP that are instructions on gfx9, gfx10, gfx11 and gfx12; the others are none.
const CONTROL: [u128; 4] = [
    0x7fff_ffff,
    0x13f_cfff_ffff,
    0x3ff3_07ff_8007_0fbf,
    0x3df_1ff3_007f_803f_0faf,
];

/// Operands: the dword behind the instruction, and 0.
const LITERAL: u8 = 255;
const ZERO: u8 = 128;

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inst {
    pub(super) op: Op,
    /// Destination, as operands are numbered.
    pub(super) dst: u8,
    /// Sources, as operands are numbered.
    pub(super) src: [u8; 2],
    /// The immediate; of memory instructions the offset.
    pub(super) imm: i32,
    /// The dword behind it, if it has one.
    pub(super) literal: u32,
    /// Bytes.
    pub(super) size: u64,
}

/// What a dword is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoded {
    /// An instruction.
    Known(Inst),
    /// No instruction of this generation.
    Illegal,
    /// One that is not known here.
    Unknown,
}

/// Decodes an instruction from its first two dwords.
pub(super) fn decode(generation: Generation, [word, second]: [u32; 2]) -> Decoded {
    let field = |from: u32, bits: u32| (word >> from & ((1 << bits) - 1)) as u8;
    let (format, number) = match word >> 23 {
        0x17d => (Sop1, field(8, 8)),
        0x17e => (Sopc, field(16, 7)),
        0x17f => (Sopp, field(16, 7)),
        _ if word >> 28 == 0xb => (Sopk, field(23, 5)),
        _ if word >> 30 == 2 => (Sop2, field(23, 7)),
        _ => return memory(generation, [word, second]),
    };
    let column = generation.encoding();
    if format == Sopp && CONTROL[column] >> number & 1 == 0 {
        return Decoded::Illegal;
    }
    let mut rows = ROWS.iter();
    let Some((.., op, _)) = rows.find(|(f, .., numbers)| *f == format && numbers[column] == number) else {
        return Decoded::Unknown;
    };
    let short = i32::from(word as i16);
    let (dst, src) = match format {
        Sop1 => (field(16, 7), [field(0, 8), 0]),
        Sop2 => (field(16, 7), [field(0, 8), field(8, 8)]),
        Sopc => (0, [field(0, 8), field(8, 8)]),
        Sopk => (field(16, 7), [field(16, 7), 0]),
        Sopp => (0, [0, 0]),
    };
    let long = match format {
        Sopk => *op == Op::SetRegisterImmediate,
        Sopp => false,
        // The number of a message is no operand.
        _ => *op != Op::Ask && src.contains(&LITERAL),
    };
    Decoded::Known(Inst {
        op: *op,
        dst,
        src,
        imm: short,
        literal: if long { second } else { 0 },
        size: if long { 8 } else { 4 },
    })
}

/// Scalar loads and stores. The first source is the base, the second an offset in a register.
fn memory(generation: Generation, [word, second]: [u32; 2]) -> Decoded {
    let first = word >> 26;
    let column = generation.encoding();
    let number = match (column, first) {
        (0, 0x30) | (1 | 2, 0x3d) => word >> 18 & 0xff,
        (3, 0x3d) => word >> 13 & 0x3f,
        _ => return Decoded::Unknown,
    };
    let op = match number {
        0 => Op::Load(1),
        1 => Op::Load(2),
        2 => Op::Load(4),
        16 if column < 2 => Op::Store(1),
        17 if column < 2 => Op::Store(2),
        0xa0 if column < 2 => Op::Exchange,
        _ => return Decoded::Unknown,
    };
    let bits = if column == 3 { 24 } else { 21 };
    let offset = (second << (32 - bits)) as i32 >> (32 - bits);
    let none = generation.null().unwrap_or(ZERO);
    let far = (second >> 25) as u8;
    // gfx9 has bits for which of the two offsets there is; a register alone is where the other would be.
    let (imm, register) = match (column, word >> 17 & 1, word >> 14 & 1) {
        (0, 0, 0) => (0, second as u8 & 0x7f),
        (0, 0, _) => (0, far),
        (0, _, 0) => (offset, none),
        _ => (offset, far),
    };
    Decoded::Known(Inst {
        op,
        dst: (word >> 6 & 0x7f) as u8,
        src: [(word << 1 & 0x7e) as u8, register],
        imm,
        literal: if op == Op::Exchange { word >> 16 & 1 } else { 0 },
        size: 8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// A processor of each column.
    const PROCESSORS: [(&str, Generation); 4] = [
        ("gfx900", Generation::Gfx9),
        ("gfx1030", Generation::Gfx103),
        ("gfx1100", Generation::Gfx11),
        ("gfx1200", Generation::Gfx12),
    ];
    const ASSEMBLER: &str = "/usr/lib/llvm-19/bin/llvm-mc";

    /// What LLVM's assembler makes of lines; `None`, with a word on stderr, where it is missing outside CI.
    fn assemble(processor: &str, text: &str) -> Option<Vec<Vec<u8>>> {
        if !Path::new(ASSEMBLER).exists() {
            let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
            assert!(
                !in_ci,
                "{ASSEMBLER} is missing and CI must have it: install llvm-19"
            );
            eprintln!("skipped: {ASSEMBLER} is missing, install llvm-19");
            return None;
        }
        let mut child = Command::new(ASSEMBLER)
            .args(["-triple=amdgcn-amd-amdhsa", "-show-encoding"])
            .arg(format!("-mcpu={processor}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(text.as_bytes()).expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{processor}: {text}");
        let listing = String::from_utf8(output.stdout).expect("it is text");
        let encodings = listing.lines().filter_map(|line| line.split_once("encoding: ["));
        let bytes = |(_, list): (&str, &str)| {
            let list = list.trim_end_matches(']').split(',');
            list.map(|byte| u8::from_str_radix(byte.trim_start_matches("0x"), 16).expect("a byte"))
                .collect()
        };
        Some(encodings.map(bytes).collect())
    }

    /// An instruction with operands that tell where each field is.
    fn text(format: Format, name: &str) -> String {
        match (format, name) {
            (_, "s_sendmsg_rtn_b32") => format!("{name} s5, sendmsg(MSG_RTN_GET_DOORBELL)"),
            (_, "s_getpc_b64") => format!("{name} s[4:5]"),
            (_, "s_setpc_b64" | "s_rfe_b64") => format!("{name} s[8:9]"),
            (_, "s_waitcnt_lgkmcnt" | "s_waitcnt_vscnt") => format!("{name} null, 3"),
            (_, "s_getreg_b32") => format!("{name} s5, hwreg(3, 4, 5)"),
            (_, "s_setreg_b32") => format!("{name} hwreg(3, 4, 5), s5"),
            (_, "s_setreg_imm32_b32") => format!("{name} hwreg(3, 4, 5), 0x12345"),
            (Sop2, "s_lshl_b64" | "s_lshr_b64") => format!("{name} s[4:5], s[8:9], s11"),
            (Sop2, _) if name.ends_with("64") => format!("{name} s[4:5], s[8:9], s[10:11]"),
            (Sop2, _) => format!("{name} s5, 0x12345, s11"),
            (Sop1, _) if name.ends_with("64") => format!("{name} s[4:5], s[8:9]"),
            (Sop1, _) => format!("{name} s5, s9"),
            (Sopc, _) if name.ends_with("64") => format!("{name} s[8:9], s[10:11]"),
            (Sopc, _) => format!("{name} s9, 0x12345"),
            (Sopk, _) => format!("{name} s5, -3"),
            (Sopp, "s_endpgm" | "s_icache_inv" | "s_wait_idle") => name.to_owned(),
            (Sopp, _) => format!("{name} 3"),
        }
    }

    #[test]
    fn instructions_are_what_llvm_assembles() {
        let mut checked = 0;
        for (column, (processor, generation)) in PROCESSORS.into_iter().enumerate() {
            let rows: Vec<_> = ROWS.iter().filter(|row| row.3[column] != NO).collect();
            let lines: String = rows.iter().map(|row| text(row.0, row.1) + "\n").collect();
            let Some(encodings) = assemble(processor, &lines) else {
                return;
            };
            assert_eq!(encodings.len(), rows.len());
            for ((format, name, op, _), bytes) in rows.into_iter().zip(encodings) {
                let word = |at: usize| {
                    let bytes = bytes.get(at..at + 4);
                    bytes.map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                };
                let Decoded::Known(inst) = decode(generation, [word(0), word(4)]) else {
                    panic!("{processor}: {name} {bytes:?}")
                };
                assert_eq!(
                    (inst.op, inst.size),
                    (*op, bytes.len() as u64),
                    "{processor}: {name}"
                );
                let first = |number: u8| number & !1 == 4;
                match format {
                    Sop1 | Sopk
                        if !matches!(
                            inst.op,
                            Op::SetPc | Op::Return | Op::WaitForAnswers | Op::Idle | Op::SetRegisterImmediate
                        ) =>
                    {
                        assert!(first(inst.dst), "{processor}: {name}");
                    }
                    Sop2 => assert!(first(inst.dst) && inst.src[1] & !1 == 10, "{processor}: {name}"),
                    _ => {}
                }
                if bytes.len() == 8 {
                    assert_eq!(inst.literal, 0x12345, "{processor}: {name}");
                }
                checked += 1;
            }
        }
        assert!(checked > 200, "{checked}");
    }

    #[test]
    fn scalar_memory_is_what_llvm_assembles() {
        let loads = "s_load_dword s7, s[8:9], 0x14\ns_load_dwordx2 s[6:7], s[8:9], 0x14\ns_load_dwordx4 s[4:7], s[8:9], 0x14\n";
        let register = "s_load_dword s7, s[8:9], s11 offset:0x14\n";
        let exchange = "s_atomic_swap_x2 s[6:7], s[8:9], 0x14 glc\n";
        let alone = "s_load_dword s7, s[8:9], s11\n";
        let stores = "s_store_dword s7, s[8:9], 0x14\ns_store_dwordx2 s[6:7], s[8:9], 0x14\n";
        for (processor, generation, text) in [
            (
                "gfx900",
                Generation::Gfx9,
                [loads, register, alone, stores, exchange].concat(),
            ),
            (
                "gfx1010",
                Generation::Gfx101,
                [loads, register, stores, exchange].concat(),
            ),
            ("gfx1100", Generation::Gfx11, [loads, register].concat()),
            ("gfx1200", Generation::Gfx12, [loads, register].concat()),
        ] {
            let Some(encodings) = assemble(processor, &text) else {
                return;
            };
            for (line, bytes) in text.lines().zip(encodings) {
                let word =
                    |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
                let count = match line {
                    _ if line.contains("x4") => 4,
                    _ if line.contains("x2") => 2,
                    _ => 1,
                };
                let op = match line {
                    _ if line.contains("load") => Op::Load(count),
                    _ if line.contains("store") => Op::Store(count),
                    _ => Op::Exchange,
                };
                let none = generation.null().unwrap_or(ZERO);
                let offset = if line.contains("s11") { 11 } else { none };
                let expected = Inst {
                    op,
                    dst: 8 - count.max(1),
                    src: [8, offset],
                    imm: if line.contains("0x14") { 0x14 } else { 0 },
                    literal: line.contains("glc").into(),
                    size: 8,
                };
                assert_eq!(
                    decode(generation, [word(0), word(4)]),
                    Decoded::Known(expected),
                    "{processor}: {line}"
                );
            }
        }
    }

    #[test]
    fn every_number_of_a_format_is_one_instruction() {
        for column in 0..4 {
            for (i, (format, name, _, numbers)) in ROWS.iter().enumerate() {
                let number = numbers[column];
                let twice = ROWS[..i]
                    .iter()
                    .find(|(f, .., other)| f == format && other[column] == number && number != NO);
                assert_eq!(twice, None, "{name} in column {column}");
            }
        }
    }
}
