//! The state of one wave: registers, and what handlers tell the run loop.

use std::sync::Arc;

use super::affine::Formulas;
use super::lds::Lds;
use super::memory::View;
use super::mode::Mode;
use super::row::{Row, LANES};
use super::slot;

/// VGPRs and AGPRs of a wave.
pub(crate) const REGISTERS: usize = 512;

/// Why a handler stopped its wave; the run loop adds the address of the instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A memory access that is not allowed.
    Memory {
        address: u64,
        write: bool,
        reason: super::MemoryReason,
    },
    /// Bits that are no instruction, or one without a handler.
    Illegal { word: u32 },
    /// `s_trap`.
    Trap { id: u8 },
    /// Code that is not there.
    EndOfCode,
}

/// What belongs to the work-group and moves from wave to wave as they take turns.
#[derive(Debug, Default)]
pub(crate) struct Env {
    /// Local data share of the work-group.
    pub(crate) lds: Lds,
    /// Global memory as the dispatch sees it.
    pub(crate) view: View,
    /// High bits of the shared aperture.
    pub(crate) shared_base: u64,
    /// High bits of the private aperture.
    pub(crate) private_base: u64,
    /// Reads the two clocks.
    pub(crate) clock: Option<Arc<dyn super::Clock>>,
}

/// A wave.
pub(crate) struct Wave {
    /// Vector registers, then accumulation registers.
    pub(crate) v: Box<[Box<Row>; REGISTERS]>,
    /// Registers that are known as formulas.
    pub(crate) formulas: Formulas,
    /// Rows that results are computed into.
    pub(crate) spare: [Box<Row>; 4],
    /// Sources that had to be brought into shape, two rows each.
    pub(crate) tmp: [Box<Row>; 6],
    /// EXEC, one word per lane, valid for [`Wave::mask_of`].
    mask: Box<Row>,
    mask_of: u64,
    /// Scalar registers and constants.
    pub(crate) s: Box<[u32; slot::SLOTS]>,
    /// The scalar condition code.
    pub(crate) scc: bool,
    mode: Mode,
    /// Cache of [`Mode::plain`].
    pub(crate) plain: u8,
    /// Whether MODE asks for relative VGPR indexing or for skipping vector instructions.
    pub(crate) careful: bool,
    /// Whether others of the work-group may still be at the barrier that the wave has left.
    pub(crate) leads: bool,
    /// Whether an observer has seen the instruction at [`Wave::pc`] already.
    pub(crate) seen: bool,
    /// Where [`super::op::Flow::Far`] continues.
    pub(crate) pc: u64,
    /// Where [`super::op::Flow::Jump`] continues.
    pub(crate) jump: u16,
    /// Why the wave stopped.
    pub(crate) stop: Option<Stop>,
    /// The immediate of `s_sendmsg` or `s_sleep`.
    pub(crate) message: u16,
    /// The global wave sync resource that it uses.
    pub(crate) sync: Option<super::wave_sync::Sync>,
    /// Hardware registers that only `s_getreg` sees.
    pub(crate) hwreg: HwRegs,
    /// Lane addresses of the current memory instruction.
    pub(crate) address: Box<[u64; 64]>,
    /// Elements of several dwords, lane after lane, of the current memory instruction.
    pub(crate) elements: Box<[u32; 4 * LANES]>,
    /// The group's part, while this wave runs.
    pub(crate) env: Box<Env>,
}

/// Contents of the read-only hardware registers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HwRegs {
    /// HW_ID.
    pub(crate) hw_id: u32,
    /// GPR_ALLOC.
    pub(crate) gpr_alloc: u32,
    /// LDS_ALLOC.
    pub(crate) lds_alloc: u32,
    /// TRAPSTS.
    pub(crate) trapsts: u32,
    /// Priority set by `s_setprio`.
    pub(crate) priority: u32,
}

impl std::fmt::Debug for Wave {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wave")
            .field("exec", &format_args!("{:#018x}", self.exec()))
            .field("scc", &self.scc)
            .field("mode", &self.mode)
            .field("stop", &self.stop)
            .finish_non_exhaustive()
    }
}

impl Wave {
    /// A wave with all registers zero.
    pub(crate) fn new() -> Box<Self> {
        let rows = || Box::new(Row::ZERO);
        Box::new(Self {
            v: Box::new(std::array::from_fn(|_| rows())),
            formulas: Formulas::default(),
            spare: std::array::from_fn(|_| rows()),
            tmp: std::array::from_fn(|_| rows()),
            mask: rows(),
            mask_of: 0,
            s: Box::new(slot::initial()),
            scc: false,
            mode: Mode(0),
            plain: 0,
            careful: false,
            leads: false,
            seen: false,
            pc: 0,
            jump: 0,
            stop: None,
            message: 0,
            sync: None,
            hwreg: HwRegs::default(),
            address: Box::new([0; 64]),
            elements: Box::new([0; 4 * LANES]),
            env: Box::default(),
        })
    }

    /// Two scalar slots as one value.
    #[inline(always)]
    pub(crate) fn s64(&self, slot: usize) -> u64 {
        u64::from(self.s[slot & 511]) | u64::from(self.s[(slot + 1) & 511]) << 32
    }

    /// Writes two scalar slots.
    #[inline(always)]
    pub(crate) fn set_s64(&mut self, slot: usize, value: u64) {
        self.s[slot & 511] = value as u32;
        self.s[(slot + 1) & 511] = (value >> 32) as u32;
    }

    /// The execution mask.
    #[inline(always)]
    pub(crate) fn exec(&self) -> u64 {
        self.s64(slot::EXEC)
    }

    /// VCC.
    #[inline(always)]
    pub(crate) fn vcc(&self) -> u64 {
        self.s64(slot::VCC)
    }

    /// The MODE register.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Writes the MODE register.
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        self.plain = mode.plain();
    }

    /// Brings the expanded execution mask up to date.
    #[inline(always)]
    pub(crate) fn refresh_mask(&mut self, exec: u64) {
        if self.mask_of != exec {
            self.mask_of = exec;
            self.mask.expand(exec);
        }
    }

    /// The expanded mask that [`Wave::refresh_mask`] made last.
    #[inline(always)]
    pub(crate) fn mask(&self) -> &Row {
        &self.mask
    }

    /// Registers, spare rows, scalar slots, and the expanded mask, borrowed apart.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        Parts {
            v: &mut self.v,
            spare: &mut self.spare,
            tmp: &mut self.tmp,
            mask: &self.mask,
            s: &mut self.s,
        }
    }

    /// The register with operand code `code`.
    #[inline(always)]
    pub(crate) fn row(&self, code: u16) -> &Row {
        &self.v[usize::from(code) & 511]
    }

    /// Puts spare row `from` into register `code` for the lanes in `lanes`.
    #[inline(always)]
    pub(crate) fn commit(&mut self, code: u16, from: usize, lanes: u64) {
        let register = usize::from(code) & 511;
        if lanes != !0 {
            self.refresh_mask(lanes);
            blend(&mut self.spare[from], &self.v[register], &self.mask);
        }
        std::mem::swap(&mut self.v[register], &mut self.spare[from]);
    }
}

/// Keeps the lanes of `new` that `mask` has, and takes the others from `old`.
#[inline(always)]
pub(crate) fn blend(new: &mut Row, old: &Row, mask: &Row) {
    for i in 0..64 {
        new.0[i] = (new.0[i] & mask.0[i]) | (old.0[i] & !mask.0[i]);
    }
}

/// A wave's register files, borrowed apart.
pub(crate) struct Parts<'a> {
    pub(crate) v: &'a mut [Box<Row>; REGISTERS],
    pub(crate) spare: &'a mut [Box<Row>; 4],
    pub(crate) tmp: &'a mut [Box<Row>; 6],
    pub(crate) mask: &'a Row,
    pub(crate) s: &'a mut [u32; slot::SLOTS],
}
