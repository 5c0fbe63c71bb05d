//! The scalar state of a wave, and the hardware registers that are part of it.

/// What differs between generations for scalar code and for trap handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// gfx900 to gfx90a.
    Gfx9,
    /// gfx940 and later of gfx9.
    Gfx940,
    /// gfx1010 to gfx1013.
    Gfx101,
    /// gfx1030 to gfx1036.
    Gfx103,
    /// gfx11.
    Gfx11,
    /// gfx12.
    Gfx12,
}

impl Generation {
    /// The generation of a processor, as LLVM numbers it: major and minor.
    #[must_use]
    pub const fn of(major: u32, minor: u32) -> Option<Self> {
        Some(match (major, minor) {
            (9, 0) => Self::Gfx9,
            (9, _) => Self::Gfx940,
            (10, 0..=2) => Self::Gfx101,
            (10, _) => Self::Gfx103,
            (11, _) => Self::Gfx11,
            (12, 0) => Self::Gfx12,
            _ => return None,
        })
    }

    /// The column of numbers of instructions.
    pub(super) const fn encoding(self) -> usize {
        match self {
            Self::Gfx9 | Self::Gfx940 => 0,
            Self::Gfx101 | Self::Gfx103 => 1,
            Self::Gfx11 => 2,
            Self::Gfx12 => 3,
        }
    }

    /// Operand number of M0.
    pub(super) const fn m0(self) -> u8 {
        if self.encoding() < 2 {
            124
        } else {
            125
        }
    }

    /// Operand number of the register that is always 0.
    pub(super) const fn null(self) -> Option<u8> {
        match self.encoding() {
            0 => None,
            1 => Some(125),
            _ => Some(124),
        }
    }

    /// Bit of HALT in STATUS, from gfx12 on in STATE_PRIV.
    const fn halt(self) -> u32 {
        match self {
            Self::Gfx12 => 1 << 14,
            _ => 1 << 13,
        }
    }
}

/// Operand numbers.
pub(super) mod operand {
    pub(crate) const VCC: usize = 106;
    pub(crate) const TTMP: usize = 108;
    pub(crate) const LAST_TTMP: usize = 123;
    pub(crate) const EXEC: usize = 126;
}

/// Numbers of hardware registers.
mod register {
    pub(super) const MODE: u32 = 1;
    pub(super) const STATUS: u32 = 2;
    pub(super) const TRAPSTS: u32 = 3;
    pub(super) const IB_STS: u32 = 7;
    // From gfx12 on.
    pub(super) const STATE_PRIV: u32 = 4;
    pub(super) const EXCP_FLAG_PRIV: u32 = 17;
    pub(super) const EXCP_FLAG_USER: u32 = 18;
    pub(super) const TRAP_CTRL: u32 = 19;
    pub(super) const SCHED_MODE: u32 = 26;
}

/// Bits of STATUS that the wave's other state says.
const SCC: u32 = 1;
const PRIVILEGED: u32 = 1 << 5;
const TRAPS: u32 = 1 << 6;
const EXECZ: u32 = 1 << 9;
const VCCZ: u32 = 1 << 10;
const VALID: u32 = 1 << 16;
const COMPUTED: u32 = SCC | PRIVILEGED | TRAPS | EXECZ | VCCZ | VALID;
/// SCC in STATE_PRIV.
const STATE_SCC: u32 = 1 << 9;

/// The scalar state of a wave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wave {
    /// Which generation it is of.
    pub generation: Generation,
    /// Registers by the numbers of operands: SGPRs, VCC, trap temporaries from 108 on, M0, EXEC.
    pub s: [u32; 128],
    /// The next instruction.
    pub pc: u64,
    /// The scalar condition code.
    pub scc: bool,
    /// MODE.
    pub mode: u32,
    /// TRAPSTS, from gfx12 on EXCP_FLAG_PRIV.
    pub flags: u32,
    /// What STATUS, from gfx12 on STATE_PRIV, has beside conditions and privileges.
    pub status: u32,
    /// IB_STS.
    pub ib_sts: u32,
    /// EXCP_FLAG_USER.
    pub user_flags: u32,
    /// TRAP_CTRL.
    pub trap_control: u32,
    /// SCHED_MODE.
    pub sched_mode: u32,
    /// In a trap handler.
    pub privileged: bool,
}

impl Wave {
    /// A wave with all registers zero.
    #[must_use]
    pub const fn new(generation: Generation, pc: u64) -> Self {
        Self {
            generation,
            s: [0; 128],
            pc,
            scc: false,
            mode: 0,
            flags: 0,
            status: 0,
            ib_sts: 0,
            user_flags: 0,
            trap_control: 0,
            sched_mode: 0,
            privileged: false,
        }
    }

    /// A trap temporary.
    #[must_use]
    pub const fn ttmp(&self, number: usize) -> u32 {
        self.s[operand::TTMP + (number & 15)]
    }

    /// Writes a trap temporary.
    pub const fn set_ttmp(&mut self, number: usize, value: u32) {
        self.s[operand::TTMP + (number & 15)] = value;
    }

    /// Whether the wave stands still outside trap handlers.
    #[must_use]
    pub const fn halted(&self) -> bool {
        self.status & self.generation.halt() != 0
    }

    /// Sets or clears HALT.
    pub(super) const fn set_halted(&mut self, halted: bool) {
        if halted {
            self.status |= self.generation.halt();
        } else {
            self.status &= !self.generation.halt();
        }
    }

    /// A pair of registers.
    pub(super) const fn pair(&self, first: usize) -> u64 {
        self.s[first & 127] as u64 | (self.s[(first + 1) & 127] as u64) << 32
    }

    const fn is_gfx12(&self) -> bool {
        matches!(self.generation, Generation::Gfx12)
    }

    /// STATUS, from gfx12 on STATE_PRIV.
    pub(super) fn state(&self) -> u32 {
        if self.is_gfx12() {
            return self.status & !STATE_SCC | if self.scc { STATE_SCC } else { 0 };
        }
        self.status & !COMPUTED | self.conditions()
    }

    fn conditions(&self) -> u32 {
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        bit(self.scc, SCC)
            | bit(self.privileged, PRIVILEGED)
            | TRAPS
            | bit(self.pair(operand::EXEC) == 0, EXECZ)
            | bit(self.pair(operand::VCC) == 0, VCCZ)
            | VALID
    }

    /// The value of a hardware register.
    pub(super) fn register(&self, number: u32) -> u32 {
        match (number, self.is_gfx12()) {
            (register::MODE, _) => self.mode,
            (register::STATUS, false) | (register::STATE_PRIV, true) => self.state(),
            // Of gfx12's STATUS only what the wave's other state says.
            (register::STATUS, true) => self.conditions() & (PRIVILEGED | TRAPS | EXECZ | VCCZ | VALID),
            (register::TRAPSTS, false) | (register::EXCP_FLAG_PRIV, true) => self.flags,
            (register::IB_STS, false) => self.ib_sts,
            (register::EXCP_FLAG_USER, true) => self.user_flags,
            (register::TRAP_CTRL, true) => self.trap_control,
            (register::SCHED_MODE, true) => self.sched_mode,
            _ => 0,
        }
    }

    /// Writes a hardware register. Those of the trap handler's are ignored outside it.
    pub(super) fn set_register(&mut self, number: u32, value: u32) {
        match (number, self.is_gfx12(), self.privileged) {
            (register::MODE, ..) => self.mode = value,
            (register::STATUS, false, true) => {
                self.scc = value & SCC != 0;
                self.status = value & !COMPUTED;
            }
            (register::STATE_PRIV, true, true) => {
                self.scc = value & STATE_SCC != 0;
                self.status = value & !STATE_SCC;
            }
            (register::TRAPSTS, false, true) | (register::EXCP_FLAG_PRIV, true, true) => self.flags = value,
            // The flags of arithmetic are the program's.
            (register::TRAPSTS, false, false) => self.flags = self.flags & !0x7f | value & 0x7f,
            (register::IB_STS, false, true) => self.ib_sts = value,
            (register::EXCP_FLAG_USER, true, _) => self.user_flags = value,
            (register::TRAP_CTRL, true, true) => self.trap_control = value,
            (register::SCHED_MODE, true, _) => self.sched_mode = value,
            _ => {}
        }
    }
}
