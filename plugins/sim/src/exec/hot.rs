//! The loop over operations, with the bodies of the most frequent ones in it.
//!
//! An operation on scalars or [formulas](super::affine) takes a few instructions of the host, and calling it as many again.
//! So the loop is compiled for each level, with a case for every operation of a [`Kind`], and calls the handlers of
//! the others. A case has the body that the handler has.

use super::affine::{alu, memory, wide};
use super::code::Chunk;
use super::control::BRANCHES;
use super::flat::NO_ADDRESS;
use super::level::{versions, Host};
use super::op::{Flow, Handler, Op};
use super::smem;
use super::sop::{Scalar, SOP1, SOP2, SOPC};
use super::valu::is_scalar;
use super::wave::Wave;

/// Runs operations from a slot of a chunk on, until one does anything but go on or jump. Answers which, and what
/// it does. Jumps are counted down to one.
pub(crate) type Loop = unsafe fn(&mut Wave, &Chunk, usize, &mut u32) -> (usize, Flow);

/// The handler of a mnemonic in a table; as a constant it can become a part of whoever calls it.
const fn listed(table: &[Scalar], name: &str) -> Handler {
    let mut i = 0;
    while i < table.len() {
        if is_same(table[i].0.as_bytes(), name.as_bytes()) {
            return table[i].1;
        }
        i += 1;
    }
    panic!("no such mnemonic in the table")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

macro_rules! kinds {
    (
        formulas { $($formula:ident $formula_name:literal => $body:path;)* }
        scalars { $($scalar:ident $scalar_name:literal in $table:ident;)* }
        rest { $($rest:ident => $rest_body:path;)* }
    ) => {
        /// Which case of the loop an operation is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kind {
            /// None of its own: the handler is called.
            Other,
            $(#[doc = concat!("`", $formula_name, "` on formulas.")] $formula,)*
            $(#[doc = concat!("`", $scalar_name, "`.")] $scalar,)*
            $(#[doc = concat!("`", stringify!($rest_body), "`.")] $rest,)*
            /// An address, and a load from there.
            SumAndLoad,
            /// An address, and a store there.
            SumAndStore,
        }

        impl Kind {
            /// The case of an instruction that has a handler for formulas.
            pub(crate) fn of_formula(name: &str) -> Self {
                match name {
                    $($formula_name => Self::$formula,)*
                    _ => Self::Other,
                }
            }

            /// The case of another instruction, if there is one.
            pub(crate) fn of_scalar(name: &str) -> Option<Self> {
                Some(match name {
                    $($scalar_name => Self::$scalar,)*
                    "s_load_dword" => Self::LoadOne,
                    "s_load_dwordx2" => Self::LoadTwo,
                    "s_load_dwordx4" => Self::LoadFour,
                    _ => return None,
                })
            }

            /// The case of an operation before another that makes use of its result: an address, and the access there.
            pub(crate) fn before(op: &Op, next: &Op) -> Self {
                let address = next.a == op.d && op.x as u16 == op.d + 1 && next.c == NO_ADDRESS;
                match (op.kind, next.kind) {
                    (Self::ScalarSum, Self::Load) if address => Self::SumAndLoad,
                    (Self::ScalarSum, Self::Store) if address => Self::SumAndStore,
                    (kind, _) => kind,
                }
            }

            /// The case of an addition of 64 bits by [`fuse`](super::fuse) that has a handler for formulas.
            pub(crate) fn of_sum(op: &Op) -> Self {
                if is_scalar(op.a) { Self::ScalarSum } else { Self::Sum }
            }
        }

        #[inline(always)]
        fn run<H: Host>(wave: &mut Wave, chunk: &Chunk, mut index: usize, budget: &mut u32) -> (usize, Flow) {
            loop {
                let mut op = &chunk.fast[index];
                let flow = match op.kind {
                    Kind::Other => settled(wave, chunk, op),
                    $(Kind::$formula => $body(wave, op),)*
                    $(Kind::$scalar => {
                        const RUN: Handler = listed($table, $scalar_name);
                        // SAFETY: handlers of scalar operations have no versions and run on every host.
                        unsafe { RUN(wave, op) }
                    })*
                    $(Kind::$rest => $rest_body(wave, op),)*
                    Kind::SumAndLoad | Kind::SumAndStore => {
                        match wide::add_scalar::<H::Numbers>(wave, op) {
                            Some(sum) => {
                                let stores = op.kind == Kind::SumAndStore;
                                index = op.next.into();
                                op = &chunk.fast[index];
                                if stores {
                                    memory::store_dword_of_sum::<H>(wave, op, sum)
                                } else {
                                    memory::load_dword_of_sum::<H>(wave, op, sum)
                                }
                            }
                            None => Flow::ByLanes,
                        }
                    }
                };
                let flow = if flow == Flow::ByLanes {
                    settled(wave, chunk, &chunk.fused[index])
                } else {
                    flow
                };
                index = match flow {
                    Flow::Next => op.next.into(),
                    Flow::Jump if *budget > 1 => {
                        *budget -= 1;
                        wave.jump.into()
                    }
                    flow => return (index, flow),
                };
            }
        }
    };
}

kinds! {
    formulas {
        Move "v_mov_b32" => alu::compute::<H, alu::Move>;
        Add "v_add_u32" => alu::compute::<H, alu::Add>;
        Left "v_lshlrev_b32" => alu::compute::<H, alu::Left>;
        LeftPair "v_lshlrev_b64" => wide::shift_left::<H>;
        AddCarryOut "v_add_co_u32" => wide::add::<H>;
        Load "global_load_dword" => memory::load_dword::<H, false>;
        Store "global_store_dword" => memory::store_dword::<H, false>;
    }
    scalars {
        ScalarMove "s_mov_b32" in SOP1;
        ScalarAdd "s_add_u32" in SOP2;
        ScalarAddCarry "s_addc_u32" in SOP2;
        ScalarAddSigned "s_add_i32" in SOP2;
        ScalarMultiply "s_mul_i32" in SOP2;
        ScalarAnd "s_and_b32" in SOP2;
        ScalarLeft "s_lshl_b32" in SOP2;
        ScalarRight "s_lshr_b32" in SOP2;
        ScalarOr "s_or_b32" in SOP2;
        ScalarXor "s_xor_b32" in SOP2;
        MaskMove "s_mov_b64" in SOP1;
        MaskAnd "s_and_b64" in SOP2;
        MaskOr "s_or_b64" in SOP2;
        MaskAndNot "s_andn2_b64" in SOP2;
        Choose "s_cselect_b32" in SOP2;
        IsEqual "s_cmp_eq_u32" in SOPC;
        IsUnequal "s_cmp_lg_u32" in SOPC;
        IsLess "s_cmp_lt_u32" in SOPC;
        IsMore "s_cmp_gt_u32" in SOPC;
        IsLessSigned "s_cmp_lt_i32" in SOPC;
        IsMoreSigned "s_cmp_gt_i32" in SOPC;
        Branch "s_branch" in BRANCHES;
        BranchIfNot "s_cbranch_scc0" in BRANCHES;
        BranchIf "s_cbranch_scc1" in BRANCHES;
        BranchIfNone "s_cbranch_execz" in BRANCHES;
        BranchIfSome "s_cbranch_execnz" in BRANCHES;
        BranchIfClear "s_cbranch_vccz" in BRANCHES;
        BranchIfSet "s_cbranch_vccnz" in BRANCHES;
    }
    rest {
        LoadOne => smem::load_few::<1>;
        LoadTwo => smem::load_few::<2>;
        LoadFour => smem::load_few::<4>;
        ScalarSum => wide::sum_with_scalar::<H>;
        Sum => wide::sum_of_pairs::<H>;
    }
}

/// Calls a handler when the rows that it reads are there.
#[inline(always)]
pub(super) fn settled(wave: &mut Wave, chunk: &Chunk, op: &Op) -> Flow {
    if wave.formulas.concern(op) {
        // SAFETY: handlers need the host instructions of the level that they were compiled for. A code cache takes
        // those of a level that the host has (`CodeCache::new`).
        unsafe { (chunk.settle)(wave, op) };
    }
    // SAFETY: as above.
    unsafe { (op.run)(wave, op) }
}

versions!(loops, run, [], [], (chunk: &Chunk, index: usize, budget: &mut u32) -> (usize, Flow));
