//! Vectors under every rounding and denormal setting of MODE, in the form of the file. The answers are the host's own
//! arithmetic, rounded by its control register, and for half precision exact doubles that are rounded here.

use std::arch::asm;
use std::fmt::Write;

/// MODE: bits 1:0 round single precision, 3:2 half and double (nearest, up, down, to zero); bits 5:4 let single precision
/// denormals in and out, 7:6 half and double ones; bit 8 makes NaN zero when clamping.
#[derive(Debug, Clone, Copy)]
struct Mode(u32);

impl Mode {
    fn rounding(self, bits: u32) -> u32 {
        self.0 >> if bits == 32 { 0 } else { 2 } & 3
    }

    /// A number as it comes in, or as it goes out: denormals may be zero.
    fn passed(self, value: u64, bits: u32, out: bool) -> u64 {
        let setting = self.0 >> if bits == 32 { 4 } else { 6 };
        let exponents = match bits {
            16 => 0x7c00,
            32 => 0x7f80_0000,
            _ => 0x7ff0 << 48,
        };
        let kept = setting >> u32::from(out) & 1 != 0;
        if kept || value & exponents != 0 {
            value
        } else {
            value & 1 << (bits - 1)
        }
    }

    /// The host's control register with the same rounding, and all exceptions masked.
    fn control(self, bits: u32) -> u32 {
        const DIRECTIONS: [u32; 4] = [0, 2, 1, 3];
        0x1f80 | DIRECTIONS[self.rounding(bits) as usize] << 13
    }
}

/// A host instruction on the lower part of registers, under a control register.
macro_rules! host {
    ($name:ident, $ty:ty, $instruction:literal) => {
        fn $name(mode: Mode, a: $ty, b: $ty, c: $ty) -> $ty {
            let (control, mut old) = (mode.control(8 * size_of::<$ty>() as u32), 0u32);
            let mut a = a;
            // SAFETY: the control register is put back before anything else computes.
            unsafe {
                asm!("stmxcsr [{old}]", "ldmxcsr [{new}]", $instruction, "ldmxcsr [{old}]",
                    old = in(reg) &raw mut old, new = in(reg) &raw const control,
                    a = inout(xmm_reg) a, b = in(xmm_reg) b, c = in(xmm_reg) c);
            }
            let _ = c;
            a
        }
    };
}

host!(add32, f32, "addss {a}, {b} /* {c} */");
host!(multiply32, f32, "mulss {a}, {b} /* {c} */");
host!(fused32, f32, "vfmadd213ss {a}, {b}, {c}");
host!(add64, f64, "addsd {a}, {b} /* {c} */");
host!(multiply64, f64, "mulsd {a}, {b} /* {c} */");
host!(fused64, f64, "vfmadd213sd {a}, {b}, {c}");

/// A double in single precision.
fn narrowed(mode: Mode, a: f64) -> f32 {
    let (control, mut old, result) = (mode.control(32), 0u32, 0f32);
    let mut result = result;
    // SAFETY: the control register is put back before anything else computes.
    unsafe {
        asm!("stmxcsr [{old}]", "ldmxcsr [{new}]", "cvtsd2ss {r}, {a}", "ldmxcsr [{old}]",
            old = in(reg) &raw mut old, new = in(reg) &raw const control, r = inout(xmm_reg) result, a = in(xmm_reg) a);
    }
    result
}

/// A half in double precision, exactly.
fn wide(half: u64) -> f64 {
    let (exponent, fraction) = (half >> 10 & 0x1f, (half & 0x3ff) as f64);
    let value = match exponent {
        0 => fraction / 16_777_216.0,
        31 if half & 0x3ff != 0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1024.0 + fraction) * 2f64.powi(exponent as i32 - 25),
    };
    if half & 0x8000 == 0 {
        value
    } else {
        -value
    }
}

/// A whole number that is not negative.
fn unsigned(whole: f64) -> u64 {
    #[expect(clippy::cast_sign_loss, reason = "It is not negative")]
    let units = whole as u64;
    units
}

/// A double in half precision.
fn half(mode: Mode, value: f64) -> u64 {
    let sign = value.to_bits() >> 48 & 0x8000;
    let magnitude = value.abs();
    if value.is_nan() {
        return 0x7e00;
    }
    if value.is_infinite() {
        return sign | 0x7c00;
    }
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).clamp(-14, 16);
    // In units of the last place.
    let scaled = magnitude * 2f64.powi(10 - exponent);
    let (whole, rest) = (scaled.floor(), scaled - scaled.floor());
    let away = match mode.rounding(16) {
        0 => rest > 0.5 || rest == 0.5 && whole % 2.0 == 1.0,
        1 => rest > 0.0 && sign == 0,
        2 => rest > 0.0 && sign != 0,
        _ => false,
    };
    let units = unsigned(whole).saturating_add(u64::from(away));
    let bits = units.saturating_add(u64::from((exponent + 14).unsigned_abs()) * 1024);
    if bits < 0x7c00 {
        return sign | bits;
    }
    let finite = match mode.rounding(16) {
        0 => false,
        1 => sign != 0,
        2 => sign == 0,
        _ => true,
    };
    sign | if finite { 0x7bff } else { 0x7c00 }
}

/// Values of a width, the edges first.
fn row(bits: u32, source: u64) -> Vec<u64> {
    let edges: &[u64] = match bits {
        16 => &[
            1, 0x8001, 0x3ff, 0x83ff, 0x400, 0x8401, 0x7bff, 0xfbff, 0x3c00, 0xbc01, 0x1400, 0x9000, 0x7c00,
            0x8000, 0, 0x7e00,
        ],
        32 => &[
            1,
            0x8000_0001,
            0x7f_ffff,
            0x807f_ffff,
            0x80_0000,
            0x8080_0001,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x3f80_0000,
            0xbf80_0001,
            0x3380_0000,
            0xb400_0000,
            0x7f80_0000,
            0x8000_0000,
            0,
            0x7fc0_0000,
            0x1f80_0000,
            0xa000_0001,
            0x477f_f000,
            0x3300_0001,
        ],
        _ => &[
            1,
            1 << 63 | 1,
            0xf_ffff_ffff_ffff,
            0x10 << 48,
            0x8010 << 48 | 1,
            0x7fef_ffff_ffff_ffff,
            0xffef_ffff_ffff_ffff,
            0x3ff0 << 48,
            0xbff0_0000_0000_0001,
            0x3ca0 << 48,
            0x7ff0 << 48,
            1 << 63,
            0,
            0x7ff8 << 48,
            0x1ff0 << 48,
            0xa000_0000_0000_0001,
            0x47ef_ffff_f000_0000,
            0x3810 << 48 | 3,
            0xb7f0_0000_1000_0000,
            0x380f_ffff_ffff_ffff,
        ],
    };
    let mut state = source * 77 + u64::from(bits);
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    // Numbers near one, or anything.
    let (near, fields) = match bits {
        16 => (0x3800, 0x8bff),
        32 => (0x3e80_0000, 0x81ff_ffff),
        _ => (0x3fc0 << 48, 0x803f_ffff_ffff_ffff),
    };
    let all = u64::MAX >> (64 - bits);
    (0..64)
        .map(|lane: usize| match (next(), next() % 4) {
            (random, _) if lane < 24 => edges[(random >> 7) as usize % edges.len()],
            (random, 0) => random >> 3 & all,
            (random, _) => (random >> 3 & fields) | near,
        })
        .collect()
}

/// An operation: its text and words, the widths of its sources and of its result, and what it makes of sources.
struct Operation {
    text: &'static str,
    words: &'static str,
    widths: &'static [u32],
    result: u32,
    of: fn(Mode, [u64; 3]) -> u64,
}

fn singles([a, b, c]: [u64; 3]) -> [f32; 3] {
    [a, b, c].map(|bits| f32::from_bits(bits as u32))
}

fn doubles(bits: [u64; 3]) -> [f64; 3] {
    bits.map(f64::from_bits)
}

const OPERATIONS: &[Operation] = &[
    Operation {
        text: "v_add_f32 v20, v0, v2",
        words: "02280500",
        widths: &[32, 32],
        result: 32,
        of: |mode, bits| {
            let [a, b, c] = singles(bits);
            add32(mode, a, b, c).to_bits().into()
        },
    },
    Operation {
        text: "v_mul_f32 v20, v0, v2",
        words: "0a280500",
        widths: &[32, 32],
        result: 32,
        of: |mode, bits| {
            let [a, b, c] = singles(bits);
            multiply32(mode, a, b, c).to_bits().into()
        },
    },
    Operation {
        text: "v_fma_f32 v20, v0, v2, v4",
        words: "d1cb0014,04120500",
        widths: &[32, 32, 32],
        result: 32,
        of: |mode, bits| {
            let [a, b, c] = singles(bits);
            fused32(mode, a, b, c).to_bits().into()
        },
    },
    Operation {
        text: "v_add_f64 v[20:21], v[0:1], v[2:3]",
        words: "d2800014,00020500",
        widths: &[64, 64],
        result: 64,
        of: |mode, bits| {
            let [a, b, c] = doubles(bits);
            add64(mode, a, b, c).to_bits()
        },
    },
    Operation {
        text: "v_mul_f64 v[20:21], v[0:1], v[2:3]",
        words: "d2810014,00020500",
        widths: &[64, 64],
        result: 64,
        of: |mode, bits| {
            let [a, b, c] = doubles(bits);
            multiply64(mode, a, b, c).to_bits()
        },
    },
    Operation {
        text: "v_fma_f64 v[20:21], v[0:1], v[2:3], v[4:5]",
        words: "d1cc0014,04120500",
        widths: &[64, 64, 64],
        result: 64,
        of: |mode, bits| {
            let [a, b, c] = doubles(bits);
            fused64(mode, a, b, c).to_bits()
        },
    },
    Operation {
        text: "v_add_f16 v20, v0, v2",
        words: "3e280500",
        widths: &[16, 16],
        result: 16,
        of: |mode, [a, b, _]| half(mode, add64(mode, wide(a), wide(b), 0.0)),
    },
    Operation {
        text: "v_mul_f16 v20, v0, v2",
        words: "44280500",
        widths: &[16, 16],
        result: 16,
        of: |mode, [a, b, _]| half(mode, wide(a) * wide(b)),
    },
    Operation {
        text: "v_cvt_f16_f32 v20, v0",
        words: "7e281500",
        widths: &[32],
        result: 16,
        of: |mode, bits| half(mode, singles(bits)[0].into()),
    },
    Operation {
        text: "v_cvt_f32_f16 v20, v0",
        words: "7e281700",
        widths: &[16],
        result: 32,
        of: |_, [a, ..]| (wide(a) as f32).to_bits().into(),
    },
    Operation {
        text: "v_cvt_f32_f64 v20, v[0:1]",
        words: "7e281f00",
        widths: &[64],
        result: 32,
        of: |mode, bits| narrowed(mode, doubles(bits)[0]).to_bits().into(),
    },
    Operation {
        text: "v_cvt_f64_f32 v[20:21], v0",
        words: "7e282100",
        widths: &[32],
        result: 64,
        of: |_, bits| f64::from(singles(bits)[0]).to_bits(),
    },
];

/// Whether the host has what the answers need.
pub fn has_answers() -> bool {
    std::arch::is_x86_feature_detected!("fma")
}

fn kind(bits: u32) -> String {
    format!("f{bits}")
}

fn list(values: impl Iterator<Item = u64>) -> String {
    values.map(|value| format!(" {value:x}")).collect()
}

/// All of it, as the file has vectors.
pub fn text() -> String {
    let mut text = String::new();
    for bits in [16, 32, 64] {
        for source in 0..3 {
            let _ = writeln!(
                text,
                "in {}.{source} 0{}",
                kind(bits),
                list(row(bits, source).into_iter())
            );
        }
    }
    for setting in 0..16 {
        let (rounding, denormals) = (setting & 3, setting >> 2);
        // Single precision has the one, half and double another.
        let mode = Mode(rounding | ((rounding + 1) % 4) << 2 | denormals << 4 | (3 - denormals) << 6 | 0x300);
        for operation in OPERATIONS {
            let rows: Vec<Vec<u64>> = (0u64..)
                .zip(operation.widths)
                .map(|(source, bits)| row(*bits, source))
                .collect();
            let results: Vec<u64> = (0..64)
                .map(|lane| {
                    let mut sources = [0; 3];
                    for ((source, row), bits) in sources.iter_mut().zip(&rows).zip(operation.widths) {
                        *source = mode.passed(row[lane], *bits, false);
                    }
                    mode.passed((operation.of)(mode, sources), operation.result, true)
                })
                .collect();
            let sources: Vec<String> = (0..)
                .zip(operation.widths)
                .map(|(n, bits)| format!("v{}={}.{n}", 2 * n, kind(*bits)))
                .collect();
            // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), and the same with what the program began with.
            let _ = writeln!(
                text,
                "op gfx900 ba004801,{:x},{},ba004801,3f0 host {} {} under MODE {:x}",
                mode.0,
                operation.words,
                sources.join(","),
                operation.text,
                mode.0
            );
            let _ = writeln!(
                text,
                "0 v20{}",
                list(results.iter().map(|value| value & 0xffff_ffff))
            );
            if operation.result == 64 {
                let _ = writeln!(text, "0 v21{}", list(results.iter().map(|value| value >> 32)));
            }
        }
    }
    text
}
