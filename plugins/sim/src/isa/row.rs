//! Table rows: what an instruction is called, where it exists, which operands it has.

use bitflags::bitflags;

use super::target::TargetSet;

/// An encoding family: which fields an instruction word has and which table its opcode indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Scalar, two sources.
    Sop2,
    /// Scalar with a 16-bit immediate.
    Sopk,
    /// Scalar, one source.
    Sop1,
    /// Scalar compare.
    Sopc,
    /// Program control.
    Sopp,
    /// Scalar memory.
    Smem,
    /// Vector, two sources.
    Vop2,
    /// Vector, one source.
    Vop1,
    /// Vector compare.
    Vopc,
    /// Vector, 64-bit encoding, up to three sources.
    Vop3,
    /// Packed, mixed-precision, dot-product and matrix vector instructions.
    Vop3p,
    /// Untyped buffer access.
    Mubuf,
    /// Typed buffer access.
    Mtbuf,
    /// Image access.
    Mimg,
    /// Local and global data share.
    Ds,
    /// Memory access by flat address.
    Flat,
    /// Memory access known to be global.
    Global,
    /// Memory access known to be scratch.
    Scratch,
    /// Vertex parameter interpolation.
    Vintrp,
    /// Export.
    Exp,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 20] = [
        Self::Sop2,
        Self::Sopk,
        Self::Sop1,
        Self::Sopc,
        Self::Sopp,
        Self::Smem,
        Self::Vop2,
        Self::Vop1,
        Self::Vopc,
        Self::Vop3,
        Self::Vop3p,
        Self::Mubuf,
        Self::Mtbuf,
        Self::Mimg,
        Self::Ds,
        Self::Flat,
        Self::Global,
        Self::Scratch,
        Self::Vintrp,
        Self::Exp,
    ];

    /// The family's name in AMD's manuals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sop2 => "SOP2",
            Self::Sopk => "SOPK",
            Self::Sop1 => "SOP1",
            Self::Sopc => "SOPC",
            Self::Sopp => "SOPP",
            Self::Smem => "SMEM",
            Self::Vop2 => "VOP2",
            Self::Vop1 => "VOP1",
            Self::Vopc => "VOPC",
            Self::Vop3 => "VOP3",
            Self::Vop3p => "VOP3P",
            Self::Mubuf => "MUBUF",
            Self::Mtbuf => "MTBUF",
            Self::Mimg => "MIMG",
            Self::Ds => "DS",
            Self::Flat => "FLAT",
            Self::Global => "GLOBAL",
            Self::Scratch => "SCRATCH",
            Self::Vintrp => "VINTRP",
            Self::Exp => "EXP",
        }
    }
}

/// How the bits of an operand are read. It decides what an inline constant stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ty {
    /// No operand.
    None,
    /// 16 untyped bits.
    B16,
    /// 32 untyped bits. Wider memory operands are `B32` of several dwords.
    B32,
    /// 64 untyped bits.
    B64,
    /// 128 untyped bits.
    B128,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// Half precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Two 16-bit integers in a dword.
    PkI16,
    /// Two half-precision numbers in a dword.
    PkF16,
    /// Two single-precision numbers in two dwords.
    PkF32,
    /// Two dwords, chosen separately.
    PkB32,
}

impl Ty {
    /// Registers of 32 bits that a value takes.
    #[must_use]
    pub const fn dwords(self) -> u8 {
        match self {
            Self::None => 0,
            Self::B64 | Self::I64 | Self::U64 | Self::F64 | Self::PkF32 | Self::PkB32 => 2,
            Self::B128 => 4,
            _ => 1,
        }
    }

    /// Whether a value is one floating-point number.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
}

/// Which register files and constants an operand can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotKind {
    /// No operand.
    None,
    /// A vector register (on gfx90a an accumulation register, where the encoding has a bit for it).
    Vgpr,
    /// An accumulation register.
    Agpr,
    /// A scalar register or scalar special register.
    Sgpr,
    /// A scalar source: scalar registers, inline constants, a literal.
    Ssrc,
    /// Any source: scalar sources and vector registers.
    Vsrc,
    /// Source of a matrix instruction: vector or accumulation registers, inline constants.
    Msrc,
    /// VCC, implied by the encoding.
    Vcc,
    /// A literal that is always part of the instruction.
    Literal,
    /// The destination, read as well.
    Dst,
    /// A small number that is no operand code (parameter, index mask, probe mode).
    Imm,
}

/// One operand of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot {
    /// What it can name.
    pub kind: SlotKind,
    /// How its bits are read.
    pub ty: Ty,
    /// Registers of 32 bits that it spans; 1 for 16-bit operands.
    pub dwords: u8,
}

impl Slot {
    /// No operand.
    pub const NONE: Self = Self {
        kind: SlotKind::None,
        ty: Ty::None,
        dwords: 0,
    };

    /// An operand of `kind` that holds one value of type `ty`.
    #[must_use]
    pub const fn new(kind: SlotKind, ty: Ty) -> Self {
        Self {
            kind,
            ty,
            dwords: ty.dwords(),
        }
    }

    /// An operand of `kind` that spans `dwords` registers of type `ty`.
    #[must_use]
    pub const fn wide(kind: SlotKind, ty: Ty, dwords: u8) -> Self {
        Self { kind, ty, dwords }
    }

    /// Whether the row has this operand.
    #[must_use]
    pub const fn is_some(self) -> bool {
        !matches!(self.kind, SlotKind::None)
    }
}

bitflags! {
    /// Which shapes and modifiers an instruction has beyond its plain encoding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Forms: u16 {
        /// The text names the encoding: `_e32`, `_e64`.
        const SUFFIX = 1;
        /// It exists in the 64-bit VOP3 encoding too.
        const E64 = 1 << 1;
        /// Sub-dword addressing.
        const SDWA = 1 << 2;
        /// Cross-lane source.
        const DPP = 1 << 3;
        /// VOP3: halves of 16-bit operands can be chosen.
        const OP_SEL = 1 << 4;
        /// VOP3P: `neg`, `abs`, `op_sel` apply to mixed-precision operands one by one.
        const MIX = 1 << 5;
        /// VOP3P: a matrix instruction.
        const MFMA = 1 << 6;
        /// Memory: an atomic operation; `glc` returns the old value.
        const ATOMIC = 1 << 7;
        /// DS: two 8-bit offsets in place of one of 16 bits.
        const OFFSET2 = 1 << 8;
        /// Interpolation of a vertex attribute, which the immediate names.
        const INTERP = 1 << 9;
        /// VOP3: the result can be clamped.
        const CLAMP = 1 << 10;
        /// VOP3: the result can be multiplied.
        const OMOD = 1 << 11;
        /// Memory: the `lds` bit sends the loaded data to LDS.
        const LDS = 1 << 12;
        /// MIMG: the `d16` bit makes the data 16 bits wide.
        const D16 = 1 << 13;
    }
}

/// An instruction as the tables describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Row {
    /// The encoding.
    pub family: Family,
    /// The opcode within the encoding.
    pub opcode: u16,
    /// The mnemonic without `_e32`, `_e64`, `_sdwa`, `_dpp`.
    pub name: &'static str,
    /// Where it exists.
    pub targets: TargetSet,
    /// The destination.
    pub dst: Slot,
    /// The second, scalar destination: carry or condition mask.
    pub sdst: Slot,
    /// The sources, in the order of [`Inst::src`](super::Inst::src).
    pub src: [Slot; 4],
    /// Sources that take `neg` and `abs`, bit n for `src[n]`.
    pub float_mods: u8,
    /// Shapes and modifiers.
    pub forms: Forms,
}

impl Row {
    /// A row without operands that exists everywhere.
    pub(super) const fn new(family: Family, opcode: u16, name: &'static str) -> Self {
        Self {
            family,
            opcode,
            name,
            targets: TargetSet::ALL,
            dst: Slot::NONE,
            sdst: Slot::NONE,
            src: [Slot::NONE; 4],
            float_mods: 0,
            forms: Forms::empty(),
        }
    }

    /// The same on `targets` only.
    pub(super) const fn on(mut self, targets: TargetSet) -> Self {
        self.targets = targets;
        self
    }

    /// The same with a destination.
    pub(super) const fn dst(mut self, slot: Slot) -> Self {
        self.dst = slot;
        self
    }

    /// The same with a scalar destination.
    pub(super) const fn sdst(mut self, slot: Slot) -> Self {
        self.sdst = slot;
        self
    }

    /// The same with source `n`.
    pub(super) const fn src(mut self, n: usize, slot: Slot) -> Self {
        self.src[n] = slot;
        self
    }

    /// The same with exactly these forms.
    pub(super) const fn only(mut self, forms: Forms) -> Self {
        self.forms = forms;
        self
    }

    /// The same with these forms too.
    pub(super) const fn with(mut self, forms: Forms) -> Self {
        self.forms = self.forms.union(forms);
        self
    }

    /// The same without these forms.
    pub(super) const fn without(mut self, forms: Forms) -> Self {
        self.forms = self.forms.difference(forms);
        self
    }

    /// The same with `neg` and `abs` on the sources of the mask.
    pub(super) const fn modified(mut self, mask: u8) -> Self {
        self.float_mods = mask;
        self
    }

    /// The same with `neg` and `abs` on every floating-point source.
    pub(super) const fn float_sources_modified(self) -> Self {
        let mut mask = 0;
        let mut n = 0;
        while n < 3 {
            if self.src[n].ty.is_float() {
                mask |= 1 << n;
            }
            n += 1;
        }
        self.modified(mask)
    }
}
