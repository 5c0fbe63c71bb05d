//! Sizes of the memory that the kernel saves waves to when it takes a queue off the device.
//!
//! The kernel refuses a queue whose control stack has another size than it computes, and (since 6.12) one whose
//! buffers are not exactly as large as they must be. The formula is that of the kernel's `kfd_queue.c`.

use super::Target;

/// Bytes of scalar registers of one compute unit.
const SCALAR_REGISTER_BYTES: u64 = 0x4000;
/// Bytes of hardware registers of one compute unit.
const HARDWARE_REGISTER_BYTES: u64 = 0x1000;
/// Bytes of the head of the area.
const HEADER_BYTES: u64 = 40;
/// Bytes that the debugger has for each wave.
const DEBUG_BYTES: u64 = 32;
/// Most bytes of the control stack on gfx10.
const GFX10_MOST_STACK: u64 = 0x7000;

/// What the sizes depend on, as the topology has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// SIMD units of the node.
    pub simds: u32,
    /// SIMD units of a compute unit.
    pub simds_per_cu: u32,
    /// Dies that share a queue.
    pub dies: u32,
    /// Shader arrays of the node.
    pub arrays: u32,
    /// Shader arrays of a shader engine.
    pub arrays_per_engine: u32,
    /// KiB of group memory of a compute unit.
    pub lds_kib: u32,
}

/// The sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveArea {
    /// Control stack of one die.
    pub control_stack: u32,
    /// Control stack and waves of one die.
    pub per_die: u32,
    /// What the debugger has on one die.
    pub debug_per_die: u32,
    /// All of it, for all dies, in whole pages.
    pub total: u64,
}

/// Computes the sizes. `None` when the numbers cannot be: nothing of the machine is trusted.
#[must_use]
pub fn save_area(target: Target, shape: Shape, page: u64) -> Option<SaveArea> {
    let dies = u64::from(shape.dies.max(1));
    let units = u64::from(shape.simds.checked_div(shape.simds_per_cu)?) / dies;
    if units == 0 || units > 4096 {
        return None;
    }
    let gfx10_and_later = target >= Target::new(10, 1, 0);
    let waves = if gfx10_and_later {
        units * 32
    } else {
        let engines = u64::from(shape.arrays.checked_div(shape.arrays_per_engine)?);
        (units * 40).min(engines * 512)
    };
    if waves == 0 {
        return None;
    }
    let stack_bytes = if gfx10_and_later { 12 } else { 8 };
    let mut stack = (HEADER_BYTES + waves * stack_bytes + 8).next_multiple_of(page);
    if target.major == 10 {
        stack = stack.min(GFX10_MOST_STACK);
    }
    let vector = u64::from(target.chip().map_or(0x4_0000, |chip| chip.vector_register_bytes));
    let unit_bytes =
        vector + SCALAR_REGISTER_BYTES + u64::from(shape.lds_kib) * 1024 + HARDWARE_REGISTER_BYTES;
    let per_die = stack + (units * unit_bytes).next_multiple_of(page);
    let debug = (waves * DEBUG_BYTES).next_multiple_of(64);
    Some(SaveArea {
        control_stack: u32::try_from(stack).ok()?,
        per_die: u32::try_from(per_die).ok()?,
        debug_per_die: u32::try_from(debug).ok()?,
        total: ((per_die + debug) * dies).next_multiple_of(page),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(version: u32, shape: Shape) -> SaveArea {
        save_area(Target::of_version(version).unwrap(), shape, 4096).unwrap()
    }

    /// T27: what real kernels were given.
    #[test]
    fn sizes_are_those_of_captures() {
        let mi300x = Shape {
            simds: 1216,
            simds_per_cu: 4,
            dies: 8,
            arrays: 32,
            arrays_per_engine: 1,
            lds_kib: 64,
        };
        let a = area(90_402, mi300x);
        assert_eq!((a.per_die, a.control_stack), (23_203_840, 12_288));
        let a = area(
            90_500,
            Shape {
                simds: 1024,
                lds_kib: 160,
                ..mi300x
            },
        );
        assert_eq!((a.per_die, a.control_stack), (22_687_744, 12_288));
        let rdna = Shape {
            simds: 128,
            simds_per_cu: 2,
            dies: 1,
            arrays: 8,
            arrays_per_engine: 2,
            lds_kib: 64,
        };
        let a = area(120_001, rdna);
        assert_eq!((a.per_die, a.control_stack), (30_699_520, 28_672));
        let a = area(100_102, Shape { simds: 40, ..rdna });
        assert_eq!((a.per_die, a.debug_per_die), (0x6a_6000, 20 * 32 * 32));
        assert_eq!(a.total, 0x6a_b000);
        // Vega 10 under ROCr 5.2.3.
        let a = area(
            90_000,
            Shape {
                simds: 256,
                simds_per_cu: 4,
                dies: 1,
                arrays: 4,
                arrays_per_engine: 1,
                lds_kib: 64,
            },
        );
        assert_eq!((a.per_die, a.control_stack), (0x154_5000, 0x5000));
        assert_eq!(a.total, 0x155_5000);
    }

    #[test]
    fn numbers_that_cannot_be_have_no_sizes() {
        let shape = Shape {
            simds: 256,
            simds_per_cu: 4,
            dies: 1,
            arrays: 4,
            arrays_per_engine: 1,
            lds_kib: 64,
        };
        let gfx900 = Target::new(9, 0, 0);
        for bad in [
            Shape {
                simds_per_cu: 0,
                ..shape
            },
            Shape {
                arrays_per_engine: 0,
                ..shape
            },
            Shape { simds: 0, ..shape },
            Shape {
                simds: u32::MAX,
                ..shape
            },
            Shape {
                lds_kib: u32::MAX,
                ..shape
            },
            Shape {
                dies: 1 << 20,
                ..shape
            },
        ] {
            assert_eq!(save_area(gfx900, bad, 4096), None, "{bad:?}");
        }
    }
}
