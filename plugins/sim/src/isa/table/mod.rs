//! The instruction tables, one file per encoding family, and the index over them.

mod ds;
mod exp;
mod flat;
mod flat_shape;
mod global;
mod mimg;
mod mtbuf;
mod mubuf;
mod scratch;
mod smem;
mod sop1;
mod sop2;
mod sopc;
mod sopk;
mod sopp;
mod vintrp;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;

use hansa_plugin_api::fork::Lazy;

use super::row::{Family, Forms, Row};
use super::target::Target;

/// Opcodes per family in the index; VOP3 has the longest opcode field, of ten bits.
const OPCODES: usize = 1024;

static VOPC_E64: [Row; e64_count(&vopc::ROWS)] = e64_rows(&vopc::ROWS);
static VOP2_E64: [Row; e64_count(&vop2::ROWS)] = e64_rows(&vop2::ROWS);
static VOP1_E64: [Row; e64_count(&vop1::ROWS)] = e64_rows(&vop1::ROWS);

/// Every row of every family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    Family::ALL.into_iter().flat_map(family_rows)
}

/// Every row that exists on `target`: what the decoder knows, for coverage reports.
pub fn rows_of(target: Target) -> impl Iterator<Item = &'static Row> {
    rows().filter(move |row| row.targets.contains(target))
}

/// Every row of one family.
pub fn family_rows(family: Family) -> impl Iterator<Item = &'static Row> {
    let (rows, promoted): (&'static [Row], [&'static [Row]; 3]) = match family {
        Family::Sop2 => (&sop2::ROWS, [&[]; 3]),
        Family::Sopk => (&sopk::ROWS, [&[]; 3]),
        Family::Sop1 => (&sop1::ROWS, [&[]; 3]),
        Family::Sopc => (&sopc::ROWS, [&[]; 3]),
        Family::Sopp => (&sopp::ROWS, [&[]; 3]),
        Family::Smem => (&smem::ROWS, [&[]; 3]),
        Family::Vop2 => (&vop2::ROWS, [&[]; 3]),
        Family::Vop1 => (&vop1::ROWS, [&[]; 3]),
        Family::Vopc => (&vopc::ROWS, [&[]; 3]),
        Family::Vop3 => (&vop3::ROWS, [&VOPC_E64, &VOP2_E64, &VOP1_E64]),
        Family::Vop3p => (&vop3p::ROWS, [&[]; 3]),
        Family::Mubuf => (&mubuf::ROWS, [&[]; 3]),
        Family::Mtbuf => (&mtbuf::ROWS, [&[]; 3]),
        Family::Mimg => (&mimg::ROWS, [&[]; 3]),
        Family::Ds => (&ds::ROWS, [&[]; 3]),
        Family::Flat => (&flat::ROWS, [&[]; 3]),
        Family::Global => (&global::ROWS, [&[]; 3]),
        Family::Scratch => (&scratch::ROWS, [&[]; 3]),
        Family::Vintrp => (&vintrp::ROWS, [&[]; 3]),
        Family::Exp => (&exp::ROWS, [&[]; 3]),
    };
    promoted.into_iter().flatten().chain(rows)
}

/// The row of an opcode on `target`, in constant time.
#[must_use]
pub fn row(target: Target, family: Family, opcode: u16) -> Option<&'static Row> {
    static INDEX: Lazy<Vec<Option<&'static Row>>> = Lazy::new(|| {
        let mut index = vec![None; Target::ALL.len() * Family::ALL.len() * OPCODES];
        for target in Target::ALL {
            for row in rows_of(target) {
                index[position(target, row.family, row.opcode)] = Some(row);
            }
        }
        index
    });
    if usize::from(opcode) >= OPCODES {
        return None;
    }
    INDEX[position(target, family, opcode)]
}

fn position(target: Target, family: Family, opcode: u16) -> usize {
    (target.index() * Family::ALL.len() + family as usize) * OPCODES + usize::from(opcode)
}

const fn e64_count(rows: &[Row]) -> usize {
    let mut count = 0;
    let mut i = 0;
    while i < rows.len() {
        if rows[i].forms.contains(Forms::E64) {
            count += 1;
        }
        i += 1;
    }
    count
}

const fn e64_rows<const N: usize>(rows: &[Row]) -> [Row; N] {
    let mut promoted = [rows[0]; N];
    let mut to = 0;
    let mut i = 0;
    while i < rows.len() {
        if rows[i].forms.contains(Forms::E64) {
            promoted[to] = vop3::promoted(&rows[i]);
            to += 1;
        }
        i += 1;
    }
    promoted
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_rows_share_an_opcode_on_a_target() {
        for target in Target::ALL {
            let mut seen = HashSet::new();
            for row in rows_of(target) {
                assert!(seen.insert((row.family, row.opcode)), "{target} {row:?}");
            }
        }
    }

    #[test]
    fn every_row_is_found_by_its_opcode() {
        for target in Target::ALL {
            for expected in rows_of(target) {
                let found = row(target, expected.family, expected.opcode);
                assert!(
                    found.is_some_and(|r| std::ptr::eq(r, expected)),
                    "{target} {expected:?}"
                );
            }
        }
    }

    #[test]
    fn an_opcode_past_the_index_is_no_row() {
        assert_eq!(row(Target::Gfx900, Family::Exp, u16::MAX), None);
    }
}
