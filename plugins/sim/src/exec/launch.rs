//! The state that a wave starts with, as the kernel descriptor asks for it.

use super::affine::{Affine, Numbers, Plain, BITS};
use super::descriptor::property;
use super::dispatch::Dispatch;
use super::mode::Mode;
use super::row::LANES;
use super::slot;
use super::wave::{HwRegs, Wave};
use crate::isa::Target;

/// The shape of one work-group, which is smaller than the others at the edge of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupShape {
    /// Work-items in each dimension.
    pub(crate) size: [u32; 3],
    /// Work-items.
    pub(crate) items: u32,
    /// Waves.
    pub(crate) waves: u32,
}

impl GroupShape {
    /// The shape of group `id`.
    pub(crate) fn new(dispatch: &Dispatch<'_>, id: [u32; 3]) -> Self {
        let size: [u32; 3] = std::array::from_fn(|i| {
            let full = u32::from(dispatch.workgroup[i]);
            dispatch.grid[i]
                .saturating_sub(id[i].saturating_mul(full))
                .min(full)
        });
        let items = size.iter().product();
        Self {
            size,
            items,
            waves: items.div_ceil(LANES as u32),
        }
    }
}

/// Registers that user and group bring: as many user SGPRs as a descriptor can ask for, and three ids.
const GIVEN: usize = 36;

/// Work-item ids of groups of one shape.
#[derive(Debug)]
pub(crate) struct Ids {
    size: [u32; 3],
    packed: bool,
    /// Ids but for the bases.
    formulas: Option<[Affine; 3]>,
    /// Waves, if the ids of each go on where those of the one before end.
    bundle: u32,
}

impl Ids {
    fn new(shape: &GroupShape, packed: bool) -> Self {
        let size = shape.size;
        let formulas = id_formulas(shape, packed);
        let goes_on = |ids: &[Affine; 3]| {
            (1..shape.waves).all(|wave| {
                let bases = id_bases(size, wave * LANES as u32, packed);
                ids.iter()
                    .zip(bases)
                    .all(|(id, base)| id.step().wrapping_mul(wave) == base)
            })
        };
        let full = shape.items == shape.waves * LANES as u32;
        let bundle = match &formulas {
            Some(ids) if full && (2..=MOST_TOGETHER).contains(&shape.waves) && goes_on(ids) => shape.waves,
            _ => 0,
        };
        Self {
            size,
            packed,
            formulas,
            bundle,
        }
    }
}

/// Waves of a bundle, at most: the bounds of formulas are right for so many.
const MOST_TOGETHER: u32 = 16;
/// Vector registers of all waves of a bundle, at most: they have to stay in the nearest cache.
const REGISTERS_TOGETHER: u32 = 128;

/// What all waves of a group start with.
#[derive(Debug)]
pub(crate) struct Start {
    shape: GroupShape,
    scratch_slot: u32,
    /// User SGPRs, then the group's system SGPRs.
    registers: [u32; GIVEN],
    /// Where those follow that are of one wave.
    end: usize,
    hwreg: HwRegs,
    /// Work-item ids but for the bases, and how many registers have them.
    ids: Option<[Affine; 3]>,
    id_registers: usize,
    packed: bool,
    /// Whether the waves may start as a bundle.
    pub(crate) together: bool,
}

impl Start {
    /// For the waves of a group, which use scratch slots from `scratch_slot` on. The ids of the group before are taken
    /// over if they are the same.
    pub(crate) fn new(
        dispatch: &Dispatch<'_>,
        group: [u32; 3],
        shape: GroupShape,
        scratch_slot: u32,
        before: &mut Option<Ids>,
    ) -> Self {
        let kernel = &dispatch.descriptor;
        let mut registers = [0; GIVEN];
        let mut at = 0;
        let mut put = |values: &[u32]| {
            registers[at..at + values.len()].copy_from_slice(values);
            at += values.len();
        };
        if let Some(user_data) = &dispatch.user_data {
            put(&user_data[..kernel.user_sgprs().min(user_data.len())]);
        }
        let pair = |value: u64| [value as u32, (value >> 32) as u32];
        if kernel.has(property::PRIVATE_SEGMENT_BUFFER) {
            put(&dispatch.scratch.descriptor);
        }
        for (bit, value) in [
            (property::DISPATCH_PTR, dispatch.dispatch_ptr),
            (property::QUEUE_PTR, dispatch.queue_ptr),
            (property::KERNARG_SEGMENT_PTR, dispatch.kernarg),
            (property::DISPATCH_ID, dispatch.dispatch_id),
            (property::FLAT_SCRATCH_INIT, dispatch.scratch.base),
        ] {
            if kernel.has(bit) {
                put(&pair(value));
            }
        }
        if kernel.has(property::PRIVATE_SEGMENT_SIZE) {
            put(&[dispatch.private_segment_bytes]);
        }
        let mut end = kernel.user_sgprs();
        for (i, id) in group.into_iter().enumerate() {
            if kernel.rsrc2 >> (7 + i) & 1 != 0 {
                registers[end] = id;
                end += 1;
            }
        }
        let packed = dispatch.code.target() == Target::Gfx90a;
        if !before
            .as_ref()
            .is_some_and(|ids| ids.size == shape.size && ids.packed == packed)
        {
            *before = None;
        }
        let ids = before.get_or_insert_with(|| Ids::new(&shape, packed));
        // Each wave has its own number or its own place in scratch memory.
        let apart = kernel.rsrc2 & (1 | 1 << 10) != 0;
        let granule = if packed { 8 } else { 4 };
        let vectors = ((kernel.rsrc1 & 63) + 1) * granule;
        Self {
            shape,
            scratch_slot,
            registers,
            end,
            hwreg: hardware_registers(dispatch, &shape),
            ids: ids.formulas,
            id_registers: if packed {
                1
            } else {
                1 + (kernel.rsrc2 >> 11 & 3).min(2) as usize
            },
            packed,
            together: !apart && ids.bundle != 0 && vectors * ids.bundle <= REGISTERS_TOGETHER,
        }
    }

    /// Writes the scalar registers of wave `number`.
    fn write_registers(&self, wave: &mut Wave, dispatch: &Dispatch<'_>, number: u32) {
        let (given, rest) = wave.s[..128].split_at_mut(GIVEN);
        given.copy_from_slice(&self.registers);
        rest.fill(0);
        let mut at = self.end;
        if dispatch.descriptor.rsrc2 >> 10 & 1 != 0 {
            wave.s[at] = u32::from(number == 0) << 31 | self.shape.waves & 63;
            at += 1;
        }
        if dispatch.descriptor.rsrc2 & 1 != 0 {
            wave.s[at] = (self.scratch_slot + number).wrapping_mul(dispatch.scratch.wave_bytes);
        }
    }
}

/// Brings wave `number` of a group into its initial state.
pub(crate) fn launch(wave: &mut Wave, dispatch: &Dispatch<'_>, start: &Start, number: u32) {
    let kernel = &dispatch.descriptor;
    wave.scc = false;
    wave.careful = false;
    wave.leads = false;
    wave.seen = false;
    wave.stop = None;
    wave.sync = None;
    wave.set_mode(Mode(kernel.mode()));
    wave.pc = dispatch.kernel_object.wrapping_add_signed(kernel.entry_offset);
    wave.hwreg = HwRegs {
        hw_id: start.hwreg.hw_id | number >> 2 & 15 | (number & 3) << 4,
        ..start.hwreg
    };
    start.write_registers(wave, dispatch, number);
    let apertures = [
        (slot::SHARED_BASE, dispatch.apertures.shared),
        (slot::PRIVATE_BASE, dispatch.apertures.private),
    ];
    for (at, base) in apertures {
        // A 32-bit operand gets the high half of these, a 64-bit one the whole: their low half is not used alone.
        if wave.s64(at) != base {
            wave.set_s64(at, base);
            wave.set_s64(at + 2, base | 0xffff_ffff);
        }
    }
    let first = number * LANES as u32;
    let lanes = start.shape.items.saturating_sub(first).min(LANES as u32);
    let exec = if lanes == 64 { !0 } else { (1u64 << lanes) - 1 };
    wave.set_s64(slot::EXEC, exec);
    work_item_ids(wave, start, first);
}

/// Limits follow bases.
const _: () =
    assert!(slot::SHARED_LIMIT == slot::SHARED_BASE + 2 && slot::PRIVATE_LIMIT == slot::PRIVATE_BASE + 2);

/// Work-item ids of the lanes from flat id `first`.
fn work_item_ids(wave: &mut Wave, start: &Start, first: u32) {
    wave.formulas.forget(!0);
    let size = start.shape.size.map(|n| n.max(1));
    if let Some(ids) = &start.ids {
        let bases = id_bases(size, first, start.packed);
        for (register, (id, base)) in ids.iter().zip(bases).take(start.id_registers).enumerate() {
            wave.formulas
                .set(register as u16, Plain::load(&id.with_base(base)));
        }
        return;
    }
    for lane in 0..LANES {
        let ids = id_bases(size, first + lane as u32, start.packed);
        for (register, id) in ids.into_iter().take(start.id_registers).enumerate() {
            wave.v[register].0[lane] = id;
        }
    }
}

/// The ids of the work-item with a flat id, as they are in registers.
fn id_bases([width, height, _]: [u32; 3], flat: u32, packed: bool) -> [u32; 3] {
    let [x, y, z] = if flat < width {
        [flat, 0, 0]
    } else {
        let (row, x) = (flat / width, flat % width);
        [x, row % height, row / height]
    };
    if packed {
        [x | y << 10 | z << 20, 0, 0]
    } else {
        [x, y, z]
    }
}

/// The addends of work-item ids as formulas of the lane, if they are: the bits of the lane number must each belong to one
/// dimension. Lanes without a work-item may get any id.
fn id_formulas(shape: &GroupShape, packed: bool) -> Option<[Affine; 3]> {
    let [width, height, depth] = shape.size;
    let flat = depth <= 1;
    // The last dimension that there is goes on for lanes without a work-item.
    let size = if flat && height <= 1 {
        [u32::MAX, 1, 1]
    } else if width.is_power_of_two() && flat {
        [width, u32::MAX, 1]
    } else if width.is_power_of_two() && height.is_power_of_two() {
        [width, height, depth]
    } else {
        return None;
    };
    let addends: [_; BITS] = std::array::from_fn(|bit| id_bases(size, 1 << bit, packed));
    Some(std::array::from_fn(|id| {
        Affine::new(0, addends.map(|addend| addend[id]))
    }))
}

fn hardware_registers(dispatch: &Dispatch<'_>, shape: &GroupShape) -> HwRegs {
    let rsrc1 = dispatch.descriptor.rsrc1;
    // LDS in units of 128 dwords.
    let lds = dispatch.group_segment_bytes.div_ceil(512);
    HwRegs {
        hw_id: (shape.waves & 15) << 16,
        gpr_alloc: (rsrc1 & 63) << 8 | (rsrc1 >> 6 & 15) << 24,
        lds_alloc: lds << 12,
        trapsts: 0,
        priority: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_of_ids_give_every_work_item_its_ids() {
        let shapes = [
            ([256, 1, 1], true),
            ([200, 1, 1], true),
            ([16, 9, 1], true),
            ([8, 4, 5], true),
            ([1, 64, 2], true),
            ([12, 5, 1], false),
            ([8, 3, 4], false),
        ];
        for (size, has_formulas) in shapes {
            let items: u32 = size.iter().product();
            let shape = GroupShape {
                size,
                items,
                waves: items.div_ceil(64),
            };
            for packed in [false, true] {
                let formulas = id_formulas(&shape, packed);
                assert_eq!(formulas.is_some(), has_formulas, "{size:?}");
                for flat in 0..items {
                    let (x, rest) = (flat % size[0], flat / size[0]);
                    let ids = [x, rest % size[1], rest / size[1]];
                    let expected = if packed {
                        [ids[0] + (ids[1] << 10) + (ids[2] << 20), 0, 0]
                    } else {
                        ids
                    };
                    assert_eq!(id_bases(size, flat, packed), expected);
                    let first = flat & !63;
                    for (id, formula) in formulas.iter().flatten().enumerate() {
                        let mut row = super::super::row::Row::ZERO;
                        formula
                            .with_base(id_bases(size, first, packed)[id])
                            .expand(&mut row);
                        assert_eq!(row.0[(flat - first) as usize], expected[id], "{size:?}, {flat}");
                    }
                }
            }
        }
    }
}
