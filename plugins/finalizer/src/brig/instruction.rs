//! Instructions (PRM 18.6).

use super::layout::instruction as kind;
use super::module::{CodeOffset, Module, Raw};
use super::opcode::Opcode;
use super::operand::{List, Operand};
use super::types::Type;
use super::values::{
    Align, AtomicOp, Compare, Geometry, ImageQuery, MemoryOrder, MemoryScope, Pack, Round, SamplerQuery,
    Segment, Width,
};

/// What an instruction has beside operation, type and operands, by its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields have the names of the manual")]
pub enum Form {
    /// `lda`.
    Addr { segment: Segment },
    /// Atomics on memory.
    Atomic {
        segment: Segment,
        order: MemoryOrder,
        scope: MemoryScope,
        operation: AtomicOp,
        equiv_class: u8,
    },
    /// Nothing more.
    Basic,
    /// Branches, calls and barriers.
    Br { width: Width },
    /// Comparisons.
    Cmp {
        source_type: Type,
        ftz: bool,
        compare: Compare,
        pack: Pack,
    },
    /// Conversions.
    Cvt {
        source_type: Type,
        ftz: bool,
        round: Round,
    },
    /// Image accesses.
    Image {
        image_type: Type,
        coord_type: Type,
        geometry: Geometry,
        equiv_class: u8,
    },
    /// Operations across lanes.
    Lane { source_type: Type, width: Width },
    /// Loads and stores.
    Mem {
        segment: Segment,
        align: Align,
        equiv_class: u8,
        width: Width,
        is_const: bool,
    },
    /// Fences.
    MemFence {
        order: MemoryOrder,
        global_scope: MemoryScope,
        group_scope: MemoryScope,
        image_scope: MemoryScope,
    },
    /// Arithmetic.
    Mod { ftz: bool, round: Round, pack: Pack },
    /// `queryimage`.
    QueryImage {
        image_type: Type,
        geometry: Geometry,
        query: ImageQuery,
    },
    /// `querysampler`.
    QuerySampler { query: SamplerQuery },
    /// Operations on user mode queues.
    Queue { segment: Segment, order: MemoryOrder },
    /// `nullptr`.
    Seg { segment: Segment },
    /// `segmentp`, `ftos`, `stof`.
    SegCvt {
        source_type: Type,
        segment: Segment,
        is_nonull: bool,
    },
    /// Operations on signals.
    Signal {
        signal_type: Type,
        order: MemoryOrder,
        operation: AtomicOp,
    },
    /// Operations with a second type.
    SourceType { source_type: Type },
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'m> {
    /// Where it is.
    pub at: CodeOffset,
    /// Its operation.
    pub opcode: Opcode,
    /// Its type.
    pub ty: Type,
    /// Its operands, the destination first.
    pub operands: List<'m>,
    /// What else it says.
    pub form: Form,
}

impl<'m> Instruction<'m> {
    /// An operand.
    #[must_use]
    pub fn operand(&self, index: usize) -> Option<Operand<'m>> {
        self.operands.operand(index)
    }

    /// The instruction of an entry that has been checked to be one.
    pub(super) fn new(module: &'m Module, at: CodeOffset, entry: Raw<'m>) -> Self {
        Self {
            at,
            opcode: Opcode(entry.u16(4)),
            ty: Type(entry.u16(6)),
            operands: module.list(entry.u32(8)),
            form: form(entry),
        }
    }
}

fn form(entry: Raw<'_>) -> Form {
    let ty = |at| Type(entry.u16(at));
    let flag = |at| entry.u8(at) & 1 != 0;
    let segment = |at| Segment(entry.u8(at));
    let order = |at| MemoryOrder(entry.u8(at));
    let scope = |at| MemoryScope(entry.u8(at));
    match entry.kind() {
        kind::ADDR => Form::Addr { segment: segment(12) },
        kind::ATOMIC => Form::Atomic {
            segment: segment(12),
            order: order(13),
            scope: scope(14),
            operation: AtomicOp(entry.u8(15)),
            equiv_class: entry.u8(16),
        },
        kind::BR => Form::Br {
            width: Width(entry.u8(12)),
        },
        kind::CMP => Form::Cmp {
            source_type: ty(12),
            ftz: flag(14),
            compare: Compare(entry.u8(15)),
            pack: Pack(entry.u8(16)),
        },
        kind::CVT => Form::Cvt {
            source_type: ty(12),
            ftz: flag(14),
            round: Round(entry.u8(15)),
        },
        kind::IMAGE => Form::Image {
            image_type: ty(12),
            coord_type: ty(14),
            geometry: Geometry(entry.u8(16)),
            equiv_class: entry.u8(17),
        },
        kind::LANE => Form::Lane {
            source_type: ty(12),
            width: Width(entry.u8(14)),
        },
        kind::MEM => Form::Mem {
            segment: segment(12),
            align: Align(entry.u8(13)),
            equiv_class: entry.u8(14),
            width: Width(entry.u8(15)),
            is_const: flag(16),
        },
        kind::MEM_FENCE => Form::MemFence {
            order: order(12),
            global_scope: scope(13),
            group_scope: scope(14),
            image_scope: scope(15),
        },
        kind::MOD => Form::Mod {
            ftz: flag(12),
            round: Round(entry.u8(13)),
            pack: Pack(entry.u8(14)),
        },
        kind::QUERY_IMAGE => Form::QueryImage {
            image_type: ty(12),
            geometry: Geometry(entry.u8(14)),
            query: ImageQuery(entry.u8(15)),
        },
        kind::QUERY_SAMPLER => Form::QuerySampler {
            query: SamplerQuery(entry.u8(12)),
        },
        kind::QUEUE => Form::Queue {
            segment: segment(12),
            order: order(13),
        },
        kind::SEG => Form::Seg { segment: segment(12) },
        kind::SEG_CVT => Form::SegCvt {
            source_type: ty(12),
            segment: segment(14),
            is_nonull: flag(15),
        },
        kind::SIGNAL => Form::Signal {
            signal_type: ty(12),
            order: order(14),
            operation: AtomicOp(entry.u8(15)),
        },
        kind::SOURCE_TYPE => Form::SourceType { source_type: ty(12) },
        _ => Form::Basic,
    }
}
