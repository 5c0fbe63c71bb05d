//! Broken modules: every one is refused or read to its end, none makes the reader panic or wait.

mod assembler;

use assembler::assemble;
use hansa_finalizer::brig::{Directive, Entry, Executable, MachineModel, Module, Operand, Profile, Round};
use hansa_finalizer::program::{Program, Settings};

const ALL: &str = include_str!("hsail/all.hsail");

/// Looks at everything that an operand says; the answer is how much that is.
fn look_at(operand: Operand<'_>) -> usize {
    match operand {
        Operand::List(list) | Operand::ConstantList(_, list) => {
            list.operands()
                .map(|operand| format!("{operand:?}").len().min(1))
                .sum::<usize>()
                + 1
        }
        Operand::CodeList(list) => list.code().count() + 1,
        Operand::Constant(constant) => constant.bytes.len() + 1,
        Operand::String(text) => text.len() + 1,
        _ => 1,
    }
}

fn look_at_body(executable: Executable<'_>) -> usize {
    let arguments = executable.output().into_iter().chain(executable.inputs());
    let arguments: usize = arguments.map(|v| v.name.len().min(1) + 1).sum();
    let entries = executable.entries().map(|entry| match entry {
        Entry::Instruction(i) => i.operands.operands().map(look_at).sum::<usize>() + 1,
        Entry::Directive(Directive::Control(c)) => c.operands.operands().map(look_at).sum::<usize>() + 1,
        Entry::Directive(_) => 1,
    });
    arguments + entries.sum::<usize>()
}

/// Whether a module is accepted; then everything in it is looked at.
fn accepted(bytes: &[u8]) -> bool {
    let Ok(module) = Module::parse(bytes.to_vec()) else {
        return false;
    };
    let seen = module.executables().map(look_at_body).sum::<usize>()
        + module
            .variables()
            .map(|v| v.init.map_or(1, look_at))
            .sum::<usize>()
        + module.top().count();
    assert!(seen <= 100 * bytes.len(), "{seen} for {} bytes", bytes.len());
    let mut program = Program::new(Settings {
        machine_model: MachineModel::LARGE,
        profile: Profile::FULL,
        rounding: Round::NEAR,
    });
    program.add(1, module).is_ok()
}

#[test]
fn every_single_byte_may_be_wrong() {
    let Some(good) = assemble(ALL) else { return };
    assert!(accepted(&good));
    let mut refused = 0;
    for at in 0..good.len() {
        for wrong in [0x00, 0x01, 0x7f, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= wrong;
            refused += usize::from(!accepted(&bad));
            bad[at] = wrong;
            refused += usize::from(!accepted(&bad));
        }
    }
    // Names, constants and hints can be anything; what carries the structure cannot.
    assert!(
        refused > good.len(),
        "only {refused} of {} were refused",
        10 * good.len()
    );
}

#[test]
fn many_bytes_may_be_wrong() {
    let Some(good) = assemble(ALL) else { return };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut bad = good.clone();
        for _ in 0..=random(4) {
            // A word in the place of another: offsets that lead somewhere else, sizes that are others.
            let (to, from) = (random(bad.len() / 4) * 4, random(bad.len() / 4) * 4);
            let word = good[from..from + 4].to_vec();
            bad[to..to + 4].copy_from_slice(&word);
        }
        refused += usize::from(!accepted(&bad));
    }
    assert!(refused > 10_000, "only {refused} of 20000 were refused");
}

#[test]
fn every_end_may_be_missing() {
    let Some(good) = assemble(ALL) else { return };
    for length in 0..good.len() {
        assert!(
            !accepted(&good[..length]),
            "accepted {length} of {} bytes",
            good.len()
        );
    }
}

/// A list that very many instructions share must not be looked at very many times.
#[test]
fn sharing_has_a_limit() {
    let module = |count: usize| {
        let labels: Vec<String> = (0..count).map(|i| format!("@l{i}")).collect();
        let text = format!(
            "module &m:1:0:$full:$large:$default;\nprog kernel &k() {{\nmov_b32 $s0, 0;\nsbr_u32 $s0 [{}];\n{}\n{}:\nret;\n}};",
            labels.join(", "),
            "sbr_u32 $s0 [@l0];\n".repeat(count),
            labels.join(":\n")
        );
        assemble(&text).map(|bytes| share_targets(&bytes))
    };
    let Some(few) = module(20) else { return };
    let few = Module::parse(few).expect("sharing is allowed");
    assert!(few.executables().map(look_at_body).sum::<usize>() > 20 * 20);
    let Some(many) = module(3000) else { return };
    let refused = Module::parse(many).expect_err("this is too much of it");
    assert!(refused.to_string().contains("share"), "{refused}");
}

/// Gives all switches the operands of the first.
fn share_targets(module: &[u8]) -> Vec<u8> {
    const SWITCH: u8 = 86;
    let mut bytes = module.to_vec();
    let word = |at: usize| u32::from_le_bytes(module[at..at + 4].try_into().expect("four bytes")) as usize;
    let code = word(word(96) + 8);
    let mut at = code + word(code + 8);
    let mut first = None;
    while at < code + word(code) {
        if module[at + 3] == 0x20 && module[at + 4] == SWITCH {
            let operands = *first.get_or_insert(at + 8);
            bytes[at + 8..at + 12].copy_from_slice(&module[operands..operands + 4]);
        }
        at += word(at) & 0xffff;
    }
    bytes
}
