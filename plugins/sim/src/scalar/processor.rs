//! Runs scalar instructions.
//!
//! It is strict where hardware is late, so that code that does not wait is found out: the answer to a message comes some
//! instructions after it, or when it is waited for, and `s_sendmsg` sees M0 as it was before the instruction in front of it up
//! to gfx10, as the manuals warn.

use super::op::{decode, Decoded, Inst, Op};
use super::wave::{operand, Wave};
use crate::exec::guard;
use crate::exec::{AddressSpace, MemoryReason};

/// What code reaches beside memory.
pub trait Outside {
    /// The number of the queue's doorbell.
    fn doorbell(&self) -> u32;

    /// An interrupt, with its 24 bits of data; from a trap handler or from the program.
    fn interrupt(&self, data: u32, privileged: bool);
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// `s_endpgm`.
    End,
    /// `s_trap`; the program counter is at it.
    Trap(u8),
    /// A dword that is no instruction; the program counter is at it.
    Illegal(u32),
    /// An instruction that is not known here; the program counter is at it.
    Unknown(u32),
    /// No code at the program counter.
    NoCode,
    /// A memory access that is not allowed.
    Memory {
        /// Where.
        address: u64,
        /// Whether it was a store.
        write: bool,
        /// What is wrong with it.
        reason: MemoryReason,
    },
    /// `s_rfe_b64`: the trap handler is left.
    Returned,
    /// `s_sethalt`: the wave stands.
    Halted,
    /// As many instructions ran as were allowed.
    Budget,
}

/// Messages, and the bits of their numbers.
const INTERRUPT: u32 = 1;
const GET_DOORBELL: u32 = 10;
const ASK_DOORBELL: u8 = 0x80;
/// Instructions until the answer of a message appears in EXEC.
const LATE: u32 = 9;
/// What a register has for whose answer nobody waited, and the upper half of EXEC after a message that uses it.
const NOT_YET: u32 = 0xdead_beef;
/// What operands from 240 on are.
const FLOATS: [f32; 8] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
/// Bits of an interrupt's data.
const DATA: u32 = 0xff_ffff;

/// Runs a wave.
pub(super) struct Processor<'a> {
    pub(super) wave: &'a mut Wave,
    space: &'a AddressSpace,
    outside: &'a dyn Outside,
    /// The answer in EXEC comes after so many instructions.
    late: Option<u32>,
    /// The register that waits for an answer.
    asked: Option<u8>,
    /// M0 before the last instruction, if that wrote it.
    m0_before: Option<u32>,
    /// Where a jump goes.
    target: Option<u64>,
}

impl<'a> Processor<'a> {
    pub(super) const fn new(wave: &'a mut Wave, space: &'a AddressSpace, outside: &'a dyn Outside) -> Self {
        Self {
            wave,
            space,
            outside,
            late: None,
            asked: None,
            m0_before: None,
            target: None,
        }
    }

    /// Runs until something else has to happen.
    pub(super) fn run(&mut self, budget: u32) -> Exit {
        for _ in 0..budget {
            if let Some(exit) = self.step() {
                return exit;
            }
        }
        Exit::Budget
    }

    fn step(&mut self) -> Option<Exit> {
        let pc = self.wave.pc;
        let Some(word) = self.code(pc) else {
            return Some(Exit::NoCode);
        };
        let second = self.code(pc.wrapping_add(4)).unwrap_or(0);
        let inst = match decode(self.wave.generation, [word, second]) {
            Decoded::Known(inst) => inst,
            Decoded::Illegal => return Some(Exit::Illegal(word)),
            Decoded::Unknown => return Some(Exit::Unknown(word)),
        };
        let m0 = self.wave.s[usize::from(self.wave.generation.m0())];
        let exit = match inst.op {
            // Only for trap handlers.
            Op::Return | Op::Ask if !self.wave.privileged => Some(Exit::Illegal(word)),
            Op::Trap => Some(Exit::Trap(inst.imm as u8)),
            Op::Load(_) | Op::Store(_) | Op::Exchange => self.access(&inst).err(),
            _ => self.execute(&inst),
        };
        let target = self.target.take();
        if matches!(
            exit,
            Some(Exit::Trap(_) | Exit::Illegal(_) | Exit::Unknown(_) | Exit::Memory { .. })
        ) {
            return exit;
        }
        self.wave.pc = target.unwrap_or_else(|| pc.wrapping_add(inst.size));
        self.m0_before = (self.wave.s[usize::from(self.wave.generation.m0())] != m0).then_some(m0);
        if let Some(left) = &mut self.late {
            *left -= 1;
            if *left == 0 {
                self.late = None;
                self.wave.s[operand::EXEC] = self.outside.doorbell() & !(1 << 31);
                self.wave.s[operand::EXEC + 1] = NOT_YET;
            }
        }
        exit
    }

    fn code(&self, address: u64) -> Option<u32> {
        let mapping = self.space.find(address)?;
        let mut word = [0];
        let there = address & 3 == 0 && mapping.access.execute && mapping.end - address >= 4;
        (there && guard::read(&mut word, address).is_ok()).then_some(word[0])
    }

    /// Whether a wave's code may change a register.
    fn writable(&self, number: usize) -> bool {
        let null = self.wave.generation.null().map(usize::from) == Some(number);
        let ttmp = (operand::TTMP..=operand::LAST_TTMP).contains(&number);
        number < 128 && !null && (self.wave.privileged || !ttmp)
    }

    fn put(&mut self, number: usize, value: u32) {
        if self.writable(number) {
            self.wave.s[number] = value;
        }
    }

    fn put64(&mut self, number: usize, value: u64) {
        self.put(number, value as u32);
        self.put(number + 1, (value >> 32) as u32);
    }

    fn get(&self, number: u8, inst: &Inst) -> u32 {
        match number {
            _ if self.wave.generation.null() == Some(number) => 0,
            0..=127 => self.wave.s[usize::from(number)],
            128..=192 => u32::from(number) - 128,
            193..=208 => 192_u32.wrapping_sub(number.into()),
            240..=247 => FLOATS[usize::from(number) - 240].to_bits(),
            253 => self.wave.scc.into(),
            255 => inst.literal,
            _ => 0,
        }
    }

    fn get64(&self, number: u8, inst: &Inst) -> u64 {
        match number {
            0..=127 => self.wave.pair(number.into()),
            193..=208 => i64::from(self.get(number, inst) as i32) as u64,
            240..=247 => f64::from(FLOATS[usize::from(number) - 240]).to_bits(),
            _ => self.get(number, inst).into(),
        }
    }

    /// A result of 32 bits that sets SCC when it is not 0.
    fn logic(&mut self, inst: &Inst, value: u32) {
        self.put(inst.dst.into(), value);
        self.wave.scc = value != 0;
    }

    fn logic64(&mut self, inst: &Inst, value: u64) {
        self.put64(inst.dst.into(), value);
        self.wave.scc = value != 0;
    }

    fn carry(&mut self, inst: &Inst, (value, carry): (u32, bool)) {
        self.put(inst.dst.into(), value);
        self.wave.scc = carry;
    }

    fn branch(&mut self, inst: &Inst, taken: bool) {
        if taken {
            let next = self.wave.pc.wrapping_add(4);
            self.jump(next.wrapping_add_signed(4 * i64::from(inst.imm)));
        }
    }

    /// Goes on at an address, of which 48 bits count.
    fn jump(&mut self, address: u64) {
        self.target = Some(((address << 16) as i64 >> 16) as u64);
    }

    #[expect(clippy::too_many_lines, reason = "one line or two for each instruction")]
    fn execute(&mut self, inst: &Inst) -> Option<Exit> {
        let dst = usize::from(inst.dst);
        let (a, b) = (self.get(inst.src[0], inst), self.get(inst.src[1], inst));
        let (wide_a, wide_b) = (self.get64(inst.src[0], inst), self.get64(inst.src[1], inst));
        let scc = self.wave.scc;
        let exec = self.wave.pair(operand::EXEC);
        let vcc = self.wave.pair(operand::VCC);
        let next = self.wave.pc.wrapping_add(inst.size);
        match inst.op {
            Op::Add => self.carry(inst, a.overflowing_add(b)),
            Op::Sub => self.carry(inst, a.overflowing_sub(b)),
            Op::AddCarry => {
                let sum = u64::from(a) + u64::from(b) + u64::from(scc);
                self.carry(inst, (sum as u32, sum >> 32 != 0));
            }
            Op::SubCarry => {
                let other = u64::from(b) + u64::from(scc);
                self.carry(
                    inst,
                    (u64::from(a).wrapping_sub(other) as u32, u64::from(a) < other),
                );
            }
            Op::Min => self.carry(inst, (a.min(b), a < b)),
            Op::Max => self.carry(inst, (a.max(b), a >= b)),
            Op::Select => self.put(dst, if scc { a } else { b }),
            Op::And => self.logic(inst, a & b),
            Op::Or => self.logic(inst, a | b),
            Op::Xor => self.logic(inst, a ^ b),
            Op::AndNot => self.logic(inst, a & !b),
            Op::Left => self.logic(inst, a << (b & 31)),
            Op::Right => self.logic(inst, a >> (b & 31)),
            Op::Field => {
                let (from, bits) = (b & 31, b >> 16 & 0x7f);
                let mask = if bits >= 32 { !0 } else { (1 << bits) - 1 };
                self.logic(inst, a >> from & mask);
            }
            Op::Multiply => self.put(dst, a.wrapping_mul(b)),
            Op::And64 => self.logic64(inst, wide_a & wide_b),
            Op::Or64 => self.logic64(inst, wide_a | wide_b),
            Op::AndNot64 => self.logic64(inst, wide_a & !wide_b),
            Op::Select64 => self.put64(dst, if scc { wide_a } else { wide_b }),
            Op::Left64 => self.logic64(inst, wide_a << (b & 63)),
            Op::Right64 => self.logic64(inst, wide_a >> (b & 63)),
            Op::Move => self.put(dst, a),
            Op::Not => self.logic(inst, !a),
            Op::Reverse => self.put(dst, a.reverse_bits()),
            Op::ClearBit => self.put(dst, self.wave.s[dst & 127] & !(1 << (a & 31))),
            Op::SetBit => self.put(dst, self.wave.s[dst & 127] | 1 << (a & 31)),
            Op::Move64 => self.put64(dst, wide_a),
            Op::Not64 => self.logic64(inst, !wide_a),
            Op::Equal => self.wave.scc = a == b,
            Op::Unequal => self.wave.scc = a != b,
            Op::More => self.wave.scc = a > b,
            Op::MoreOrEqual => self.wave.scc = a >= b,
            Op::Less => self.wave.scc = a < b,
            Op::LessOrEqual => self.wave.scc = a <= b,
            Op::BitIsClear => self.wave.scc = a >> (b & 31) & 1 == 0,
            Op::BitIsSet => self.wave.scc = a >> (b & 31) & 1 != 0,
            Op::Equal64 => self.wave.scc = wide_a == wide_b,
            Op::Unequal64 => self.wave.scc = wide_a != wide_b,
            Op::GetPc => self.put64(dst, next),
            Op::SetPc => self.jump(wide_a),
            Op::SwapPc => {
                self.put64(dst, next);
                self.jump(wide_a);
            }
            Op::Return => {
                self.wave.privileged = false;
                self.jump(wide_a);
                return Some(Exit::Returned);
            }
            Op::Ask if inst.src[0] == ASK_DOORBELL => {
                self.put(dst, NOT_YET);
                self.asked = Some(inst.dst);
            }
            Op::Ask => return Some(Exit::Unknown(u32::from(inst.src[0]))),
            Op::MoveImmediate => self.put(dst, inst.imm as u32),
            Op::AddImmediate => {
                let (value, overflows) = (a as i32).overflowing_add(inst.imm);
                self.carry(inst, (value as u32, overflows));
            }
            Op::GetRegister => {
                let (number, from, mask) = hardware(inst.imm);
                self.put(dst, self.wave.register(number) >> from & mask);
            }
            Op::SetRegister => self.set_register(inst, a),
            Op::SetRegisterImmediate => self.set_register(inst, inst.literal),
            Op::Idle | Op::Trap | Op::Load(_) | Op::Store(_) | Op::Exchange => {}
            Op::Branch => self.branch(inst, true),
            Op::BranchIfClear => self.branch(inst, !scc),
            Op::BranchIfSet => self.branch(inst, scc),
            Op::BranchIfNoVcc => self.branch(inst, vcc == 0),
            Op::BranchIfVcc => self.branch(inst, vcc != 0),
            Op::BranchIfNoExec => self.branch(inst, exec == 0),
            Op::BranchIfExec => self.branch(inst, exec != 0),
            Op::Wait => self.answer(self.is_for_answers(inst.imm as u32)),
            Op::WaitForAnswers => self.answer(inst.imm & 0x3f == 0),
            Op::WaitForAll => self.answer(true),
            Op::Send => self.send(inst.imm as u32),
            Op::Halt => {
                self.wave.set_halted(inst.imm & 1 != 0);
                if self.wave.halted() && !self.wave.privileged {
                    return Some(Exit::Halted);
                }
            }
            Op::End => return Some(Exit::End),
        }
        None
    }

    fn set_register(&mut self, inst: &Inst, value: u32) {
        let (number, from, mask) = hardware(inst.imm);
        let old = self.wave.register(number);
        self.wave
            .set_register(number, old & !(mask << from) | (value & mask) << from);
    }

    /// Whether `s_waitcnt` waits until no answer is outstanding.
    const fn is_for_answers(&self, imm: u32) -> bool {
        match self.wave.generation.encoding() {
            0 => imm >> 8 & 0xf == 0,
            1 => imm >> 8 & 0x3f == 0,
            _ => imm >> 4 & 0x3f == 0,
        }
    }

    fn answer(&mut self, waits: bool) {
        if waits {
            if let Some(register) = self.asked.take() {
                let doorbell = self.outside.doorbell();
                self.put(register.into(), doorbell);
            }
        }
    }

    fn send(&mut self, message: u32) {
        let early = self.wave.generation.encoding() < 2;
        let m0 = self.wave.s[usize::from(self.wave.generation.m0())];
        let m0 = self.m0_before.filter(|_| early).unwrap_or(m0);
        match message & 0xff {
            INTERRUPT => self.outside.interrupt(m0 & DATA, self.wave.privileged),
            GET_DOORBELL if early && self.wave.privileged => self.late = Some(LATE),
            _ => {}
        }
    }

    /// A load, a store or an exchange.
    fn access(&mut self, inst: &Inst) -> Result<(), Exit> {
        let base = self.wave.pair(inst.src[0].into()) & !3;
        let register = self.get(inst.src[1], inst);
        let first = base
            .wrapping_add_signed(inst.imm.into())
            .wrapping_add(register.into())
            & !3;
        let dst = usize::from(inst.dst);
        let gone = |(address, write)| Exit::Memory {
            address,
            write,
            reason: MemoryReason::HostUnmapped,
        };
        match inst.op {
            Op::Load(count) => {
                for i in 0..count.into() {
                    let address = self.allowed(first.wrapping_add(4 * i as u64), 4, false)?;
                    let mut word = [0];
                    guard::read(&mut word, address).map_err(|_| gone((address, false)))?;
                    self.put(dst + i, word[0]);
                }
            }
            Op::Store(count) => {
                for i in 0..count.into() {
                    let address = self.allowed(first.wrapping_add(4 * i as u64), 4, true)?;
                    let word = [self.wave.s[(dst + i) & 127]];
                    guard::write(address, &word).map_err(|_| gone((address, true)))?;
                }
            }
            _ => {
                let address = self.allowed(first, 8, true)?;
                let new = self.wave.pair(dst);
                let old = guard::exchange(guard::Size::B64, address, new);
                let old = old.map_err(|_| gone((address, true)))?;
                if inst.literal != 0 {
                    self.put64(dst, old);
                }
            }
        }
        Ok(())
    }

    /// The address of an access that is allowed.
    fn allowed(&self, address: u64, bytes: u64, write: bool) -> Result<u64, Exit> {
        let failed = |reason| Exit::Memory {
            address,
            write,
            reason,
        };
        if bytes == 8 && address & 7 != 0 {
            return Err(failed(MemoryReason::Misaligned));
        }
        let mapping = self.space.find(address);
        let mapping = mapping.ok_or_else(|| failed(MemoryReason::NotMapped))?;
        let allowed = mapping.access.read && (mapping.access.write || !write);
        if !allowed || mapping.end - address < bytes {
            return Err(failed(MemoryReason::NotAllowed));
        }
        Ok(address)
    }
}

/// Number, first bit and unshifted mask of the field that a hardware register immediate names.
const fn hardware(immediate: i32) -> (u32, u32, u32) {
    let immediate = immediate as u32;
    let bits = (immediate >> 11 & 31) + 1;
    let mask = if bits == 32 { !0 } else { (1 << bits) - 1 };
    (immediate & 63, immediate >> 6 & 31, mask)
}
