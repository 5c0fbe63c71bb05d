//! From [`Inst`] to text, as LLVM 15's disassembler writes it.
//!
//! The text follows from the row: mnemonic, suffix of the encoding, operands in the order of their
//! fields, modifiers that differ from their defaults.

mod control;
mod memory;
mod modifier;
mod operand;
mod vector;

use super::decode::decode;
use super::inst::{DecodeError, Inst, Operand};
use super::row::{Family, SlotKind};
use super::target::Target;

/// One line of a disassembly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Address of the instruction.
    pub pc: u64,
    /// The instruction, or why there is none. A dword that is none is skipped.
    pub inst: Result<Inst, DecodeError>,
    /// The text of the instruction, or a data directive.
    pub text: String,
}

/// Disassembles `code`, which starts at address `base`.
pub fn disassemble(target: Target, code: &[u8], base: u64) -> impl Iterator<Item = Line> + '_ {
    let mut rest = code;
    let mut pc = base;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let inst = decode(target, rest);
        let (size, text) = match &inst {
            Ok(inst) => (usize::from(inst.size), inst.text()),
            Err(error) if rest.len() >= 4 => (4, format!(".long {:#010x}", error.word)),
            Err(_) => (rest.len(), format!(".byte {}", bytes(rest))),
        };
        let line = Line { pc, inst, text };
        rest = &rest[size..];
        pc = pc.wrapping_add(size as u64);
        Some(line)
    })
}

fn bytes(code: &[u8]) -> String {
    code.iter()
        .map(|byte| format!("{byte:#04x}"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl Inst {
    /// The instruction as LLVM's disassembler writes it, with single spaces.
    #[must_use]
    pub fn text(&self) -> String {
        let (operands, modifiers) = match self.row.family {
            Family::Sop1 | Family::Sop2 | Family::Sopc | Family::Sopk | Family::Sopp => {
                (control::operands(self), String::new())
            }
            Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p => {
                (vector::operands(self), modifier::text(self))
            }
            Family::Vintrp => (vector::operands(self), String::new()),
            _ => (memory::operands(self), memory::modifiers(self)),
        };
        let mut text = format!("{}{}", self.row.name, modifier::suffix(self));
        if !operands.is_empty() {
            text.push(' ');
            text.push_str(&operands.join(", "));
        }
        text.push_str(&modifiers);
        text
    }

    /// The operand in the place of source `n`, for rows that have one to show.
    fn shown_source(&self, n: usize) -> Option<Operand> {
        let hidden = matches!(self.row.src[n].kind, SlotKind::None | SlotKind::Dst);
        (!hidden).then_some(self.src[n])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_instruction_becomes_data_and_decoding_goes_on() {
        let code = [0xff, 0xff, 0xff, 0xff, 0, 0, 0x80, 0xbf, 1, 2];
        let lines: Vec<_> = disassemble(Target::Gfx900, &code, 0x100).collect();
        let shown: Vec<_> = lines.iter().map(|line| (line.pc, line.text.as_str())).collect();
        let expected = [
            (0x100, ".long 0xffffffff"),
            (0x104, "s_nop 0"),
            (0x108, ".byte 0x01, 0x02"),
        ];
        assert_eq!(shown, expected);
    }
}
