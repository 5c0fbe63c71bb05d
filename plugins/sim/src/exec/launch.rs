//! The state that a wave starts with, as the kernel descriptor asks for it.

use super::affine::{Affine, Numbers, Plain};
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

/// Brings wave `number` of a group into its initial state.
pub(crate) fn launch(
    wave: &mut Wave,
    dispatch: &Dispatch<'_>,
    group: [u32; 3],
    shape: &GroupShape,
    number: u32,
    scratch_slot: u32,
) {
    let kernel = &dispatch.descriptor;
    wave.s[..128].fill(0);
    wave.scc = false;
    wave.careful = false;
    wave.stop = None;
    wave.sync = None;
    wave.set_mode(Mode(kernel.mode()));
    wave.pc = dispatch.kernel_object.wrapping_add_signed(kernel.entry_offset);
    wave.hwreg = hardware_registers(dispatch, shape, number);
    scalar_registers(wave, dispatch, group, shape, number, scratch_slot);
    for (at, value) in [
        (slot::SHARED_BASE, dispatch.apertures.shared),
        (slot::SHARED_LIMIT, dispatch.apertures.shared | 0xffff_ffff),
        (slot::PRIVATE_BASE, dispatch.apertures.private),
        (slot::PRIVATE_LIMIT, dispatch.apertures.private | 0xffff_ffff),
    ] {
        // A 32-bit operand gets the high half of these, a 64-bit one the whole: their low half is not used alone.
        wave.set_s64(at, value);
    }
    let first = number * LANES as u32;
    let lanes = shape.items.saturating_sub(first).min(LANES as u32);
    let exec = if lanes == 64 { !0 } else { (1u64 << lanes) - 1 };
    wave.set_s64(slot::EXEC, exec);
    work_item_ids(wave, dispatch, shape, first);
}

/// User SGPRs, then system SGPRs.
fn scalar_registers(
    wave: &mut Wave,
    dispatch: &Dispatch<'_>,
    group: [u32; 3],
    shape: &GroupShape,
    number: u32,
    scratch_slot: u32,
) {
    let kernel = &dispatch.descriptor;
    let mut at = 0;
    let mut put = |wave: &mut Wave, values: &[u32]| {
        wave.s[at..at + values.len()].copy_from_slice(values);
        at += values.len();
    };
    if let Some(user_data) = &dispatch.user_data {
        put(wave, &user_data[..kernel.user_sgprs().min(user_data.len())]);
    }
    let pair = |value: u64| [value as u32, (value >> 32) as u32];
    if kernel.has(property::PRIVATE_SEGMENT_BUFFER) {
        put(wave, &dispatch.scratch.descriptor);
    }
    for (bit, value) in [
        (property::DISPATCH_PTR, dispatch.dispatch_ptr),
        (property::QUEUE_PTR, dispatch.queue_ptr),
        (property::KERNARG_SEGMENT_PTR, dispatch.kernarg),
        (property::DISPATCH_ID, dispatch.dispatch_id),
        (property::FLAT_SCRATCH_INIT, dispatch.scratch.base),
    ] {
        if kernel.has(bit) {
            put(wave, &pair(value));
        }
    }
    if kernel.has(property::PRIVATE_SEGMENT_SIZE) {
        put(wave, &[dispatch.private_segment_bytes]);
    }
    let mut at = kernel.user_sgprs();
    let mut put = |wave: &mut Wave, value: u32| {
        wave.s[at] = value;
        at += 1;
    };
    for (i, id) in group.into_iter().enumerate() {
        if kernel.rsrc2 >> (7 + i) & 1 != 0 {
            put(wave, id);
        }
    }
    if kernel.rsrc2 >> 10 & 1 != 0 {
        put(wave, u32::from(number == 0) << 31 | shape.waves & 63);
    }
    if kernel.rsrc2 & 1 != 0 {
        put(
            wave,
            (scratch_slot + number).wrapping_mul(dispatch.scratch.wave_bytes),
        );
    }
}

/// Work-item ids of the lanes from flat id `first`.
fn work_item_ids(wave: &mut Wave, dispatch: &Dispatch<'_>, shape: &GroupShape, first: u32) {
    let packed = dispatch.code.target() == Target::Gfx90a;
    let wanted = dispatch.descriptor.rsrc2 >> 11 & 3;
    wave.formulas.forget(!0);
    let [width, height, _] = shape.size.map(|n| n.max(1));
    if let Some([x, y, z]) = id_formulas(shape, first) {
        if packed {
            let id = x.plus_shifted(y, 10).plus_shifted(z, 20);
            wave.formulas.set(0, Plain::load(&id));
            return;
        }
        for (register, formula) in [x, y, z].into_iter().take(1 + wanted as usize).enumerate() {
            wave.formulas.set(register as u16, Plain::load(&formula));
        }
        return;
    }
    let mut x = first % width;
    let mut y = first / width % height;
    let mut z = first / width / height;
    for lane in 0..LANES {
        if packed {
            wave.v[0].0[lane] = x | y << 10 | z << 20;
        } else {
            wave.v[0].0[lane] = x;
            if wanted >= 1 {
                wave.v[1].0[lane] = y;
            }
            if wanted >= 2 {
                wave.v[2].0[lane] = z;
            }
        }
        x += 1;
        if x == width {
            x = 0;
            y += 1;
            if y == height {
                y = 0;
                z += 1;
            }
        }
    }
}

/// Work-item ids in each dimension as formulas of the lane, if they are: the bits of the lane number must each belong to one
/// dimension. Lanes without a work-item may get any id.
fn id_formulas(shape: &GroupShape, first: u32) -> Option<[Affine; 3]> {
    let [width, height, depth] = shape.size;
    let flat = depth <= 1;
    let linear = flat && height <= 1;
    if linear {
        let rising = std::array::from_fn(|bit| 1 << bit);
        return Some([Affine::new(first, rising), Affine::uniform(0), Affine::uniform(0)]);
    }
    if !width.is_power_of_two() || !(flat || height.is_power_of_two()) {
        return None;
    }
    let at = |id: u32| {
        let (x, rest) = (id % width, id / width);
        if flat {
            [x, rest, 0]
        } else {
            [x, rest % height, rest / height]
        }
    };
    let base = at(first);
    Some(std::array::from_fn(|dimension| {
        let addends = std::array::from_fn(|bit| at(1 << bit)[dimension]);
        Affine::new(base[dimension], addends)
    }))
}

fn hardware_registers(dispatch: &Dispatch<'_>, shape: &GroupShape, number: u32) -> HwRegs {
    let rsrc1 = dispatch.descriptor.rsrc1;
    // LDS in units of 128 dwords.
    let lds = dispatch.group_segment_bytes.div_ceil(512);
    HwRegs {
        hw_id: number >> 2 & 15 | (number & 3) << 4 | (shape.waves & 15) << 16,
        gpr_alloc: (rsrc1 & 63) << 8 | (rsrc1 >> 6 & 15) << 24,
        lds_alloc: lds << 12,
        trapsts: 0,
        priority: 0,
    }
}
