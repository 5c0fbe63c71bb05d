//! Kernels that do what they must not, of scalar instructions, as LLVM 19 assembles them.

/// Generations of instructions, each with a column of a kernel: gfx9, gfx10, gfx11, gfx12.
pub(crate) type Kernel = [&'static [u32]; 4];

/// `s_trap 2`.
pub(crate) const ABORT: Kernel = [
    &[0xbf92_0002, 0xbf81_0000],
    &[0xbf92_0002, 0xbf81_0000],
    &[0xbf90_0002, 0xbfb0_0000],
    &[0xbf90_0002, 0xbfb0_0000],
];

/// `s_trap 7`.
pub(crate) const TRAP: Kernel = [
    &[0xbf92_0007, 0xbf81_0000],
    &[0xbf92_0007, 0xbf81_0000],
    &[0xbf90_0007, 0xbfb0_0000],
    &[0xbf90_0007, 0xbfb0_0000],
];

/// A dword that LLVM's disassembler takes for no instruction of any generation.
pub(crate) const ILLEGAL: Kernel = [&[0xbfff_0000]; 4];

/// A load from 0xdead0000.
pub(crate) const WILD: Kernel = [
    &[
        0xbe82_00ff,
        0xdead_0000,
        0xbe83_0080,
        0xc002_0101,
        0,
        0xbf8c_c07f,
        0xbf81_0000,
    ],
    &[
        0xbe82_03ff,
        0xdead_0000,
        0xbe83_0380,
        0xf400_0101,
        0xfa00_0000,
        0xbf8c_c07f,
        0xbf81_0000,
    ],
    &[
        0xbe82_00ff,
        0xdead_0000,
        0xbe83_0080,
        0xf400_0101,
        0xf800_0000,
        0xbf89_fc07,
        0xbfb0_0000,
    ],
    &[
        0xbe82_00ff,
        0xdead_0000,
        0xbe83_0080,
        0xf400_0101,
        0xf800_0000,
        0xbfc7_0000,
        0xbfb0_0000,
    ],
];

/// A load from 0x800000dead0000, whose upper bits do not repeat bit 47.
pub(crate) const APERTURE: Kernel = [
    &[
        0xbe82_00ff,
        0xdead_0000,
        0xbe83_00ff,
        0x80_0000,
        0xc002_0101,
        0,
        0xbf8c_c07f,
        0xbf81_0000,
    ],
    &[
        0xbe82_03ff,
        0xdead_0000,
        0xbe83_03ff,
        0x80_0000,
        0xf400_0101,
        0xfa00_0000,
        0xbf8c_c07f,
        0xbf81_0000,
    ],
    &[
        0xbe82_00ff,
        0xdead_0000,
        0xbe83_00ff,
        0x80_0000,
        0xf400_0101,
        0xf800_0000,
        0xbf89_fc07,
        0xbfb0_0000,
    ],
    &[
        0xbe82_00ff,
        0xdead_0000,
        0xbe83_00ff,
        0x80_0000,
        0xf400_0101,
        0xf800_0000,
        0xbfc7_0000,
        0xbfb0_0000,
    ],
];

/// Fills registers, `s_trap 3`, and `s_trap 9` if s2, s101, M0, VCC, EXEC or SCC are others then; once more with SCC clear and
/// VCC set, and after a store to ttmp0.
pub(crate) const BREAKPOINT: Kernel = [
    &[
        0xbe82_00ff,
        0x1234_5678,
        0xbee5_00ff,
        0x9abc_def0,
        0xbefc_00ff,
        0x5555,
        0xbeea_0180,
        0xbefe_00ff,
        0x8000_0001,
        0xbeff_0083,
        0xbf06_0202,
        0xbf92_0003,
        0xbf84_0018,
        0xbf87_0017,
        0xbf88_0016,
        0xbf06_ff02,
        0x1234_5678,
        0xbf84_0013,
        0xbf06_ff65,
        0x9abc_def0,
        0xbf84_0010,
        0xbf06_ff7c,
        0x5555,
        0xbf84_000d,
        0xbf06_ff7e,
        0x8000_0001,
        0xbf84_000a,
        0xbf06_837f,
        0xbf84_0008,
        0xbeea_0085,
        0xbeec_00ff,
        0x1234,
        0xbf07_0202,
        0xbf92_0003,
        0xbf85_0002,
        0xbf86_0001,
        0xbf81_0000,
        0xbf92_0009,
        0xbf81_0000,
    ],
    &[
        0xbe82_03ff,
        0x1234_5678,
        0xbee5_03ff,
        0x9abc_def0,
        0xbefc_03ff,
        0x5555,
        0xbeea_0480,
        0xbefe_03ff,
        0x8000_0001,
        0xbeff_0383,
        0xbf06_0202,
        0xbf92_0003,
        0xbf84_0018,
        0xbf87_0017,
        0xbf88_0016,
        0xbf06_ff02,
        0x1234_5678,
        0xbf84_0013,
        0xbf06_ff65,
        0x9abc_def0,
        0xbf84_0010,
        0xbf06_ff7c,
        0x5555,
        0xbf84_000d,
        0xbf06_ff7e,
        0x8000_0001,
        0xbf84_000a,
        0xbf06_837f,
        0xbf84_0008,
        0xbeea_0385,
        0xbeec_03ff,
        0x1234,
        0xbf07_0202,
        0xbf92_0003,
        0xbf85_0002,
        0xbf86_0001,
        0xbf81_0000,
        0xbf92_0009,
        0xbf81_0000,
    ],
    LATE_BREAKPOINT,
    LATE_BREAKPOINT,
];

/// The same on gfx11 and gfx12.
const LATE_BREAKPOINT: &[u32] = &[
    0xbe82_00ff,
    0x1234_5678,
    0xbee5_00ff,
    0x9abc_def0,
    0xbefd_00ff,
    0x5555,
    0xbeea_0180,
    0xbefe_00ff,
    0x8000_0001,
    0xbeff_0083,
    0xbf06_0202,
    0xbf90_0003,
    0xbfa1_0018,
    0xbfa4_0017,
    0xbfa5_0016,
    0xbf06_ff02,
    0x1234_5678,
    0xbfa1_0013,
    0xbf06_ff65,
    0x9abc_def0,
    0xbfa1_0010,
    0xbf06_ff7d,
    0x5555,
    0xbfa1_000d,
    0xbf06_ff7e,
    0x8000_0001,
    0xbfa1_000a,
    0xbf06_837f,
    0xbfa1_0008,
    0xbeea_0085,
    0xbeec_00ff,
    0x1234,
    0xbf07_0202,
    0xbf90_0003,
    0xbfa2_0002,
    0xbfa3_0001,
    0xbfb0_0000,
    0xbf90_0009,
    0xbfb0_0000,
];

/// The column of a processor.
pub(crate) fn column(processor: &str) -> usize {
    ["gfx9", "gfx10", "gfx11", "gfx12"]
        .iter()
        .rposition(|family| processor.starts_with(family))
        .unwrap()
}
