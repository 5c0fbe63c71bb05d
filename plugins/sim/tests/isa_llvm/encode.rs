//! Valid encodings of a row: every field that the row has takes random legal values, every other
//! field is zero.

use hansa_sim::isa::{Family, Forms, Row, Slot, SlotKind, Target, Ty};

use crate::rng::Rng;

/// Encodings per row and form.
const PLAIN: usize = 16;
const SPECIAL: usize = 8;

const SDWA: u32 = 249;
const DPP: u32 = 250;
const LITERAL: u32 = 255;

/// Encodings of `row` in all its forms.
pub(crate) fn encodings(row: &Row, target: Target, rng: &mut Rng) -> Vec<Vec<u32>> {
    let mut e = Encoder { row, target, rng };
    let mut list: Vec<Vec<u32>> = (0..PLAIN).map(|_| e.plain()).collect();
    let wide = row.src[0].dwords.max(row.dst.dwords) > 1;
    if row.forms.contains(Forms::SDWA) {
        list.extend((0..SPECIAL).map(|_| e.sdwa()));
    }
    if row.forms.contains(Forms::DPP) && (!wide || target == Target::Gfx90a) {
        list.extend((0..SPECIAL).map(|_| e.dpp()));
    }
    list
}

struct Encoder<'a> {
    row: &'a Row,
    target: Target,
    rng: &'a mut Rng,
}

impl Encoder<'_> {
    fn plain(&mut self) -> Vec<u32> {
        match self.row.family {
            Family::Sop1 | Family::Sop2 | Family::Sopc | Family::Sopk | Family::Sopp => self.sop(),
            Family::Smem => self.smem(),
            Family::Vop1 | Family::Vop2 | Family::Vopc => self.short(),
            Family::Vop3 if self.row.forms.contains(Forms::INTERP) => self.interp(),
            Family::Vop3 => self.vop3(),
            Family::Vop3p if self.row.forms.contains(Forms::MFMA) => self.matrix(),
            Family::Vop3p => self.vop3p(),
            Family::Vintrp => {
                let src = self.vsrc_of_vintrp();
                let attribute = self.rng.bits(8) << 8;
                vec![0xd400_0000 | self.op(16) | src | attribute | self.rng.bits(8) << 18]
            }
            Family::Ds => self.ds(),
            Family::Flat | Family::Global | Family::Scratch => self.flat(),
            Family::Mubuf => self.mubuf(),
            Family::Mtbuf => self.mtbuf(),
            Family::Mimg => self.mimg(),
            Family::Exp => vec![0xc400_0000 | self.rng.bits(13), self.rng.bits(32)],
        }
    }

    fn op(&self, low: u32) -> u32 {
        u32::from(self.row.opcode) << low
    }

    fn flag(&mut self, low: u32) -> u32 {
        u32::from(self.rng.one_in(3)) << low
    }

    /// A vector register that leaves room for the tuple, even where gfx90a wants it.
    fn vgpr(&mut self, dwords: u8) -> u32 {
        let number = self.rng.below(257 - u32::from(dwords));
        if dwords > 1 {
            number & !1
        } else {
            number
        }
    }

    fn vgpr_if(&mut self, slot: Slot) -> u32 {
        if slot.is_some() {
            self.vgpr(slot.dwords)
        } else {
            0
        }
    }

    /// A scalar register or writable special register.
    fn sgpr(&mut self, dwords: u8) -> u32 {
        match dwords {
            0 | 1 => {
                let special = [102, 103, 104, 105, 106, 107, 108, 123, 124, 126, 127];
                if self.rng.one_in(3) {
                    self.rng.pick(&special)
                } else {
                    self.rng.below(102)
                }
            }
            2 => {
                let special = [102, 104, 106, 108, 122, 126];
                if self.rng.one_in(3) {
                    self.rng.pick(&special)
                } else {
                    self.rng.below(51) * 2
                }
            }
            n if self.rng.one_in(4) => 108 + self.rng.below((20 - u32::from(n)) / 4) * 4,
            n => self.rng.below((104 - u32::from(n)) / 4) * 4,
        }
    }

    fn constant(&mut self) -> u32 {
        match self.rng.below(3) {
            0 => 128 + self.rng.below(81),
            1 => 240 + self.rng.below(9),
            _ => self.rng.pick(&[128, 192, 193, 208, 242, 248]),
        }
    }

    /// A scalar source, perhaps a literal.
    fn ssrc(&mut self, slot: Slot, literal: bool) -> u32 {
        match self.rng.below(5) {
            0 => self.constant(),
            1 if literal => LITERAL,
            1 => self.rng.pick(&[235, 236, 237, 238, 239, 251, 252, 253]),
            _ => self.sgpr(slot.dwords),
        }
    }

    /// Any source.
    fn vsrc(&mut self, slot: Slot, literal: bool) -> u32 {
        match slot.kind {
            SlotKind::Ssrc => self.ssrc(slot, false),
            SlotKind::Sgpr => self.sgpr(slot.dwords),
            SlotKind::Vsrc if slot.dwords <= 2 && self.rng.one_in(2) => self.ssrc(slot, literal),
            SlotKind::Vsrc | SlotKind::Vgpr | SlotKind::Agpr => 256 + self.vgpr(slot.dwords),
            _ => 0,
        }
    }

    /// Literals of interest: random, small, and those that look like inline constants.
    fn literal(&mut self) -> u32 {
        let special = [
            0x3f80_0000,
            0x3c00,
            0xbc00,
            0x3118,
            0x3e22_f983,
            0xffff_fff0,
            0xfff0,
        ];
        match self.rng.below(4) {
            0 => self.rng.bits(32),
            1 => self.rng.bits(16),
            2 => self.rng.below(80),
            _ => self.rng.pick(&special),
        }
    }

    fn sop(&mut self) -> Vec<u32> {
        let row = self.row;
        let dst = if row.dst.is_some() {
            self.sgpr(row.dst.dwords) << 16
        } else {
            0
        };
        let mut source = |n: usize| match row.src[n].kind {
            SlotKind::Ssrc => self.ssrc(row.src[n], true),
            SlotKind::Sgpr => self.sgpr(row.src[n].dwords),
            SlotKind::Imm => self.rng.bits(5),
            _ => 0,
        };
        let (src0, src1) = (source(0), source(1));
        let imm = match self.rng.below(3) {
            _ if row.family == Family::Sopp && !has_immediate(row.name) => 0,
            0 => self.rng.below(100),
            _ => self.rng.bits(16),
        };
        let word = match row.family {
            Family::Sop1 => 0xbe80_0000 | self.op(8) | dst | src0,
            Family::Sop2 => 0x8000_0000 | self.op(23) | dst | src1 << 8 | src0,
            Family::Sopc => 0xbf00_0000 | self.op(16) | src1 << 8 | src0,
            Family::Sopp => 0xbf80_0000 | self.op(16) | imm,
            _ if row.src[0].kind == SlotKind::Sgpr => 0xb000_0000 | self.op(23) | src0 << 16 | imm,
            _ => 0xb000_0000 | self.op(23) | dst | imm,
        };
        let literal = match row.family {
            Family::Sopp => false,
            Family::Sopk => row.src[0].kind == SlotKind::Literal,
            _ => src0 == LITERAL || src1 == LITERAL,
        };
        if literal {
            vec![word, self.literal()]
        } else {
            vec![word]
        }
    }

    fn smem(&mut self) -> Vec<u32> {
        let row = self.row;
        let data = match row.src[2].kind {
            SlotKind::Imm => self.rng.bits(7),
            SlotKind::Sgpr => self.sgpr(row.src[2].dwords),
            _ if row.dst.is_some() => self.sgpr(row.dst.dwords),
            _ => 0,
        };
        let word = 0xc000_0000 | self.op(18) | data << 6;
        if !row.src[0].is_some() {
            return vec![word, 0];
        }
        let base = self.sgpr(row.src[0].dwords) >> 1;
        let moves = row.dst.is_some() || row.src[2].kind == SlotKind::Sgpr;
        let glc = if moves { self.flag(16) } else { 0 };
        let word = word | base | glc;
        let register = self.sgpr(1);
        match self.rng.below(3) {
            0 => vec![word | 1 << 17, self.rng.bits(21)],
            1 => vec![word, register],
            _ => vec![word | 1 << 17 | 1 << 14, self.rng.bits(21) | register << 25],
        }
    }

    /// The first word of VOP1, VOP2, VOPC, with source 0 and source 1 given.
    fn short_word(&mut self, src0: u32, src1: u32) -> u32 {
        let row = self.row;
        let dst = match row.dst.kind {
            SlotKind::Sgpr => self.sgpr(row.dst.dwords),
            _ => self.vgpr_if(row.dst),
        };
        match row.family {
            Family::Vop1 => 0x7e00_0000 | self.op(9) | dst << 17 | src0,
            Family::Vop2 => self.op(25) | dst << 17 | src1 << 9 | src0,
            _ => 0x7c00_0000 | self.op(17) | src1 << 9 | src0,
        }
    }

    fn short(&mut self) -> Vec<u32> {
        let row = self.row;
        let own_literal = row.src.iter().any(|slot| slot.kind == SlotKind::Literal);
        // Reading a lane takes a vector register.
        let register = row.dst.kind == SlotKind::Sgpr;
        let src0 = match row.src[0].kind {
            SlotKind::Vsrc if register => 256 + self.vgpr(1),
            _ => self.vsrc(row.src[0], true),
        };
        let src1 = if row.family == Family::Vop1 {
            0
        } else {
            self.vgpr(row.src[0].dwords)
        };
        let word = self.short_word(src0, src1);
        if own_literal || src0 == LITERAL {
            vec![word, self.literal()]
        } else {
            vec![word]
        }
    }

    fn sdwa(&mut self) -> Vec<u32> {
        let row = self.row;
        let modifiers = |rng: &mut Rng, n: u32| {
            // Float sources have neg and abs, others sign extension.
            let bits = rng.sparse(3);
            if row.float_mods >> n & 1 != 0 {
                bits & 0b110
            } else {
                bits & 1
            }
        };
        let source = |e: &mut Self| {
            if e.rng.one_in(3) {
                (e.ssrc(row.src[0], false), 1)
            } else {
                (e.vgpr(1), 0)
            }
        };
        let (src0, scalar0) = source(self);
        let mut high = src0 | scalar0 << 23;
        high |= self.rng.below(7) << 16 | modifiers(self.rng, 0) << 19;
        let mut src1 = 0;
        if row.src[1].is_some() {
            let (code, scalar1) = source(self);
            src1 = code;
            high |= scalar1 << 31 | self.rng.below(7) << 24 | modifiers(self.rng, 1) << 27;
        }
        if row.family == Family::Vopc {
            let mask = self.sgpr(2);
            high |= if self.rng.one_in(2) {
                1 << 15 | mask << 8
            } else {
                0
            };
        } else {
            high |= self.rng.below(7) << 8 | self.rng.below(3) << 11 | self.flag(13);
            high |= if row.dst.ty.is_float() {
                self.rng.bits(2) << 14
            } else {
                0
            };
        }
        vec![self.short_word(SDWA, src1), high]
    }

    fn dpp(&mut self) -> Vec<u32> {
        let row = self.row;
        let control = match self.rng.below(4) {
            _ if row.src[0].dwords > 1 => 0x150 + self.rng.bits(4),
            0 => self.rng.bits(8),
            1 => 0x101 + self.rng.below(15) + 16 * self.rng.below(3),
            2 if self.target == Target::Gfx90a => 0x150 + self.rng.bits(4),
            _ => self
                .rng
                .pick(&[0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143]),
        };
        let mut high = self.vgpr(row.src[0].dwords) | control << 8 | self.flag(19);
        for n in 0..2 {
            if row.float_mods >> n & 1 != 0 {
                high |= self.rng.sparse(2) << (20 + 2 * n);
            }
        }
        high |= self.rng.bits(8) << 24;
        let src1 = if row.family == Family::Vop1 {
            0
        } else {
            self.vgpr(row.src[1].dwords)
        };
        vec![self.short_word(DPP, src1), high]
    }

    fn vop3(&mut self) -> Vec<u32> {
        let row = self.row;
        let mut high = 0;
        for n in 0..3 {
            high |= self.vsrc(row.src[n], false) << (9 * n);
        }
        if row.dst.kind == SlotKind::Sgpr {
            high = high & !0x1ff | 256 | self.vgpr(1);
        }
        let mods = u32::from(row.float_mods);
        high |= (self.rng.sparse(3) & mods) << 29;
        let mut word = 0xd000_0000 | self.op(16);
        word |= match row.dst.kind {
            SlotKind::Vgpr => self.vgpr(row.dst.dwords),
            SlotKind::Sgpr => self.sgpr(row.dst.dwords),
            _ if row.sdst.is_some() => self.sgpr(row.sdst.dwords),
            _ => 0,
        };
        if row.dst.is_some() && row.sdst.is_some() {
            word |= self.sgpr(row.sdst.dwords) << 8;
        } else {
            word |= (self.rng.sparse(3) & mods) << 8;
        }
        if row.forms.contains(Forms::OP_SEL) {
            let sources = if row.src[2].is_some() { 0b1111 } else { 0b1011 };
            word |= (self.rng.sparse(4) & sources) << 11;
        }
        if row.forms.contains(Forms::CLAMP) {
            word |= self.flag(15);
        }
        if row.forms.contains(Forms::OMOD) {
            high |= self.rng.bits(2) << 27;
        }
        vec![word, high]
    }

    fn vsrc_of_vintrp(&mut self) -> u32 {
        if self.row.src[0].kind == SlotKind::Imm {
            self.rng.below(3)
        } else {
            self.vgpr(1)
        }
    }

    fn interp(&mut self) -> Vec<u32> {
        let row = self.row;
        let parameter = row.src[0].kind == SlotKind::Imm;
        let src = self.vsrc_of_vintrp() | u32::from(!parameter) << 8;
        let mut word = 0xd000_0000 | self.op(16) | self.vgpr(1) | self.flag(15);
        let mut high = self.rng.bits(8) | src << 9;
        if row.src[2].is_some() {
            high |= (256 + self.vgpr(1)) << 18;
        }
        // Only the half-precision forms have halves of attributes.
        if row.name.ends_with("f16") {
            high |= self.flag(8);
        }
        let mods = u32::from(row.float_mods & 1) << 1 | u32::from(row.float_mods & 4);
        word |= (self.rng.sparse(3) & mods) << 8;
        high |= (self.rng.sparse(3) & mods) << 29;
        if row.forms.contains(Forms::OMOD) {
            high |= self.rng.bits(2) << 27;
        }
        vec![word, high]
    }

    fn vop3p(&mut self) -> Vec<u32> {
        let row = self.row;
        let sources = (0..3).filter(|&n| row.src[n].is_some()).count();
        let all = (1 << sources) - 1;
        let mut high = 0;
        for n in 0..3 {
            high |= self.vsrc(row.src[n], false) << (9 * n);
        }
        let float = [Ty::F32, Ty::PkF16, Ty::PkF32].contains(&row.src[0].ty);
        let negated = if float { all } else { 0 };
        let op_sel_hi = self.rng.bits(3) & all;
        let mut word = 0xd380_0000 | self.op(16) | self.vgpr(row.dst.dwords) | self.flag(15);
        word |= (self.rng.sparse(3) & negated) << 8 | (self.rng.bits(3) & all) << 11;
        word |= (op_sel_hi >> 2) << 14;
        high |= (op_sel_hi & 3) << 27 | (self.rng.sparse(3) & negated) << 29;
        vec![word, high]
    }

    fn matrix(&mut self) -> Vec<u32> {
        let row = self.row;
        let mut word = 0xd380_0000 | self.op(16) | self.vgpr(row.dst.dwords);
        let mut high = (256 + self.vgpr(row.src[0].dwords)) | 3 << 27;
        if !row.src[1].is_some() {
            if row.src[0].kind == SlotKind::Msrc && self.rng.one_in(2) {
                high = self.constant() | 3 << 27;
            }
            return vec![word | 1 << 14, high];
        }
        high = high & !(3 << 27) | self.rng.bits(2) << 27;
        high |= (256 + self.vgpr(row.src[1].dwords)) << 9;
        high |= match self.rng.below(3) {
            0 => self.constant(),
            _ => 256 + self.vgpr(row.src[2].dwords),
        } << 18;
        high |= self.rng.bits(3) << 29;
        word |= self.rng.bits(3) << 8 | self.rng.bits(4) << 11;
        if self.target == Target::Gfx90a {
            word |= self.rng.bits(1) << 15;
        }
        vec![word, high]
    }

    /// The SCC bit of gfx90a, which its floating-point atomics lack.
    fn coherence(&mut self, low: u32) -> u32 {
        let float = ["_f16", "_f32", "_f64"]
            .iter()
            .any(|end| self.row.name.ends_with(end));
        if float {
            0
        } else {
            self.gfx90a_flag(low)
        }
    }

    fn gfx90a_flag(&mut self, low: u32) -> u32 {
        if self.target == Target::Gfx90a {
            self.flag(low)
        } else {
            0
        }
    }

    fn ds(&mut self) -> Vec<u32> {
        let row = self.row;
        let synchronises = row.name.starts_with("ds_gws") || row.name == "ds_ordered_count";
        let has_data = row.dst.is_some() || row.src.iter().any(|slot| slot.is_some());
        let mut word = 0xd800_0000 | self.op(17);
        let lanes_only = row.name.contains("permute");
        word |= if synchronises {
            1 << 16
        } else if has_data && !lanes_only {
            self.flag(16)
        } else {
            0
        };
        if has_data || synchronises {
            word |= match self.rng.below(3) {
                0 => self.rng.bits(8),
                1 => self.rng.bits(8) << 8,
                _ => self.rng.bits(16),
            };
            word |= if row.src[0].is_some() || row.dst.is_some() {
                self.gfx90a_flag(25)
            } else {
                0
            };
        }
        let high = self.vgpr_if(row.src[0]) | self.vgpr_if(row.src[1]) << 8;
        vec![
            word,
            high | self.vgpr_if(row.src[2]) << 16 | self.vgpr_if(row.dst) << 24,
        ]
    }

    fn flat(&mut self) -> Vec<u32> {
        let row = self.row;
        let segment = match row.family {
            Family::Flat => 0,
            Family::Scratch => 1,
            _ => 2,
        };
        let offset = if segment == 0 {
            self.rng.bits(12)
        } else {
            self.rng.bits(13)
        };
        let atomic = row.forms.contains(Forms::ATOMIC);
        let lds = row.forms.contains(Forms::LDS) && self.rng.one_in(4);
        let glc = if atomic && !row.dst.is_some() {
            0
        } else {
            self.flag(16)
        };
        let mut word = 0xdc00_0000 | self.op(18) | segment << 14 | glc | self.flag(17);
        word |= if self.rng.one_in(3) { 0 } else { offset };
        word |= u32::from(lds) << 13 | self.coherence(25);
        let scalar = segment != 0 && self.rng.one_in(2);
        let mut high = match (segment, scalar) {
            (0, _) => 0,
            (_, true) => self.sgpr(row.src[2].dwords) << 16,
            (_, false) => 0x7f << 16,
        };
        high |= if segment == 1 && scalar {
            0
        } else {
            self.vgpr(row.src[0].dwords)
        };
        let returns = row.dst.is_some() && !lds && (!atomic || glc != 0);
        high |= self.vgpr_if(row.src[1]) << 8;
        high |= if returns {
            self.vgpr(row.dst.dwords) << 24
        } else {
            0
        };
        // Without a data register there is no file to choose.
        high |= if lds { 0 } else { self.gfx90a_flag(23) };
        vec![word, high]
    }

    fn mubuf(&mut self) -> Vec<u32> {
        let row = self.row;
        if !row.src[1].is_some() {
            return vec![0xe000_0000 | self.op(18), 0];
        }
        let from_lds = !row.src[0].is_some();
        let lds = row.forms.contains(Forms::LDS) && (from_lds || self.rng.one_in(4));
        let mut word = 0xe000_0000 | self.op(18) | u32::from(lds) << 16;
        word |= self.flag(17) | self.coherence(15);
        let no_return = row.forms.contains(Forms::ATOMIC) && !row.dst.is_some();
        word |= if no_return { 0 } else { self.flag(14) };
        word |= if from_lds { 0 } else { self.rng.bits(2) << 12 };
        vec![word | self.buffer_offset(), self.buffer(lds)]
    }

    fn mtbuf(&mut self) -> Vec<u32> {
        let mut word = 0xe800_0000 | self.op(15) | self.rng.bits(2) << 12 | self.flag(14);
        word |= if self.rng.one_in(3) { 1 } else { self.rng.bits(4) } << 19;
        word |= if self.rng.one_in(3) { 0 } else { self.rng.bits(3) } << 23;
        let high = self.buffer(false) | self.flag(22) | self.gfx90a_flag(21);
        vec![word | self.buffer_offset(), high]
    }

    fn buffer_offset(&mut self) -> u32 {
        if self.rng.one_in(3) {
            0
        } else {
            self.rng.bits(12)
        }
    }

    /// The second word of MUBUF and MTBUF.
    fn buffer(&mut self, lds: bool) -> u32 {
        let row = self.row;
        let data = if row.src[3].is_some() { row.src[3] } else { row.dst };
        let atomic = row.forms.contains(Forms::ATOMIC);
        let mut high = self.sgpr(4) >> 2 << 16 | self.ssrc(row.src[2], false) << 24;
        high |= if row.src[0].is_some() { self.vgpr(2) } else { 0 };
        if data.is_some() && !lds {
            high |= self.vgpr(data.dwords + 1) << 8;
            // TFE, or on gfx90a the choice of the register file.
            let tfe = self.target == Target::Gfx90a || !atomic;
            high |= if tfe { self.flag(23) } else { 0 };
        }
        high
    }

    fn mimg(&mut self) -> Vec<u32> {
        let row = self.row;
        let atomic = row.forms.contains(Forms::ATOMIC);
        let data = if row.src[3].is_some() { row.src[3] } else { row.dst };
        let dmask = match (atomic, data.dwords) {
            (false, _) => self.rng.bits(4),
            (true, 1) => self.rng.pick(&[1, 3]),
            (true, _) => self.rng.pick(&[3, 15]),
        };
        let mut word = 0xf000_0000 | self.op(18) | dmask << 8 | self.rng.sparse(4) << 12;
        word |= self.flag(17) | self.flag(25) | self.gfx90a_flag(7);
        // TFE, or on gfx90a the choice of the register file.
        word |= if self.target == Target::Gfx90a || !atomic {
            self.flag(16)
        } else {
            0
        };
        let mut high = self.vgpr(row.src[0].dwords) | self.vgpr(8) << 8 | self.sgpr(8) >> 2 << 16;
        high |= if row.src[2].is_some() {
            self.sgpr(4) >> 2 << 21
        } else {
            0
        };
        high |= if row.forms.contains(Forms::D16) {
            self.flag(31)
        } else {
            0
        };
        vec![word, high]
    }
}

/// Whether a SOPP instruction has a use for its immediate.
fn has_immediate(name: &str) -> bool {
    let bare = [
        "s_barrier",
        "s_wakeup",
        "s_icache_inv",
        "s_ttracedata",
        "s_endpgm_saved",
        "s_set_gpr_idx_off",
        "s_endpgm_ordered_ps_done",
    ];
    !bare.contains(&name)
}
