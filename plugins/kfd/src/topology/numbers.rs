//! The numbers of a GPU, with those of its generation where the kernel leaves a key out.
//!
//! Keys came with kernel versions (`drivers/gpu/drm/amd/amdkfd/kfd_topology.c`); a key that is there counts, whatever it
//! says. The generation's numbers are those of LLVM's `AMDGPUUsage` and of the kernel's chip descriptions.

use super::Properties;
use crate::chip::{Shape, Target};

/// Position of the kind of doorbell in the property `capability`, two bits.
const DOORBELL_KIND_SHIFT: u32 = 12;
/// KiB of group memory of a compute unit.
const LDS_KIB: u32 = 64;

/// How the packet processor of a GPU is rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorbellKind {
    /// 32 bits: the write index in words of the ring, which is laid out twice.
    Words,
    /// 32 bits: the number of packets that were written.
    Packets,
    /// 64 bits: the index of the last packet.
    Index,
}

/// The numbers of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// What sizes of buffers depend on.
    pub shape: Shape,
    /// Lanes of a wave.
    pub lanes: u32,
    /// Waves of a SIMD unit.
    pub waves_per_simd: u32,
    /// How it is rung; `None` for a kind that is not known.
    pub doorbell: Option<DoorbellKind>,
}

impl Numbers {
    /// The numbers of a node.
    #[must_use]
    pub fn of(p: &Properties, target: Target) -> Self {
        let number = |key, default| match p.find(key) {
            Some(_) => p.get(key),
            None => default,
        };
        let narrow = target.major >= 10;
        let doorbell = match p.find("capability") {
            None if target.major >= 9 => Some(DoorbellKind::Index),
            None => Some(DoorbellKind::Packets),
            Some(_) => match p.get("capability") >> DOORBELL_KIND_SHIFT & 3 {
                0 => Some(DoorbellKind::Words),
                1 => Some(DoorbellKind::Packets),
                2 => Some(DoorbellKind::Index),
                _ => None,
            },
        };
        let most_waves = match (target.major, target.minor, target.step) {
            (..=8, ..) | (9, 0, 0..=9 | 12) => 10,
            (9, ..) => 8,
            (10, 1, _) => 20,
            _ => 16,
        };
        Self {
            shape: Shape {
                simds: p.get("simd_count"),
                simds_per_cu: number("simd_per_cu", if narrow { 2 } else { 4 }),
                // Partitions of one die each are reported with 1, and by some kernels with 0.
                dies: number("num_xcc", 1).max(1),
                arrays: number("array_count", 1),
                arrays_per_engine: number("simd_arrays_per_engine", 1),
                lds_kib: number("lds_size_in_kb", LDS_KIB),
            },
            lanes: number("wave_front_size", if narrow { 32 } else { 64 }),
            waves_per_simd: number("max_waves_per_simd", most_waves),
            doorbell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_leaves_out_is_that_of_the_generation() {
        let p = Properties::parse(b"simd_count 128\n");
        let of = |major, minor, step| Numbers::of(&p, Target::new(major, minor, step));
        let rows = [
            (of(8, 0, 3), (4, 64, 10, Some(DoorbellKind::Packets))),
            (of(9, 0, 0), (4, 64, 10, Some(DoorbellKind::Index))),
            (of(9, 0, 10), (4, 64, 8, Some(DoorbellKind::Index))),
            (of(9, 4, 2), (4, 64, 8, Some(DoorbellKind::Index))),
            (of(10, 1, 0), (2, 32, 20, Some(DoorbellKind::Index))),
            (of(11, 0, 0), (2, 32, 16, Some(DoorbellKind::Index))),
        ];
        for (n, expected) in rows {
            let shape = n.shape;
            assert_eq!(
                (shape.simds_per_cu, n.lanes, n.waves_per_simd, n.doorbell),
                expected
            );
            assert_eq!(
                (shape.dies, shape.arrays, shape.arrays_per_engine, shape.lds_kib),
                (1, 1, 1, 64)
            );
        }
    }

    #[test]
    fn what_the_kernel_says_counts() {
        let p = Properties::parse(
            b"simd_count 8\nsimd_per_cu 0\nwave_front_size 16\ncapability 4736\nnum_xcc 0\nlds_size_in_kb 0\n",
        );
        let n = Numbers::of(&p, Target::new(9, 0, 0));
        assert_eq!((n.shape.simds_per_cu, n.lanes, n.shape.lds_kib), (0, 16, 0));
        assert_eq!((n.shape.dies, n.doorbell), (1, Some(DoorbellKind::Packets)));
        let p = Properties::parse(b"capability 12288\n");
        assert_eq!(Numbers::of(&p, Target::new(9, 0, 0)).doorbell, None);
    }
}
