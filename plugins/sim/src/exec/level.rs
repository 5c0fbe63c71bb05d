//! Which vector instructions of the host the handlers may use.
//!
//! One build serves every x86-64: each handler body is compiled three times, for the baseline, for
//! AVX2 with FMA, and for AVX-512. The level is chosen once per code cache.

use hansa_plugin_api::fork::Lazy;

use super::affine;
use super::guard_straight::{self, Routines};
use super::masks::{self, Steps};
use super::row::Row;

/// A set of host instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Baseline x86-64 only.
    Portable,
    /// AVX2, FMA, F16C, BMI, POPCNT, LZCNT.
    Avx2,
    /// AVX-512 F, BW, DQ, VL on top of [`Level::Avx2`].
    Avx512,
}

impl Level {
    /// Every level, weakest first.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// The variable that lowers the level: `portable`, `avx2` or `avx512`.
    pub const VARIABLE: &'static str = "HANSA_SIM_VECTOR";

    /// The strongest level the host has.
    #[must_use]
    pub fn detected() -> Self {
        static DETECTED: Lazy<Level> = Lazy::new(|| {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("lzcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            match (avx512, avx2) {
                (true, _) => Level::Avx512,
                (_, true) => Level::Avx2,
                _ => Level::Portable,
            }
        });
        *DETECTED
    }

    /// The detected level, or the weaker one that [`Level::VARIABLE`] asks for.
    #[must_use]
    pub fn chosen() -> Self {
        let wanted = match std::env::var(Self::VARIABLE).as_deref() {
            Ok("portable") => Self::Portable,
            Ok("avx2") => Self::Avx2,
            _ => Self::Avx512,
        };
        wanted.min(Self::detected())
    }

    /// Levels that this host can run, weakest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| *level <= Self::detected())
    }
}

/// What a handler body may assume about the host, as a type so that bodies are compiled per level. The type of a level is
/// used in handlers of that level only, which run where the host has its instructions ([`super::op::Handler`]).
pub(crate) trait Host {
    /// Whether a fused multiply-add is one instruction.
    const FMA: bool;
    /// How formulas are computed with.
    type Numbers: affine::Numbers;
    /// The lanes of the widest vector with a routine in [`guard_blocks`](super::guard_blocks), as a power of two.
    const BLOCK: u32;
    /// Guarded moves of rows.
    const QUARTERS: Routines;
    /// [`Row::compress`].
    fn compress(row: &Row) -> u64;
    /// [`Row::expand`].
    fn expand(row: &mut Row, bits: u64);
    /// How each lane's value differs from the next lane's.
    fn steps(row: &Row, stride: u32) -> Steps;
    /// Lanes that hold a value.
    fn equal(row: &Row, value: u32) -> u64;
}

/// [`Level::Portable`] as a type.
pub(crate) struct Portable;
/// [`Level::Avx2`] as a type.
pub(crate) struct Fused;
/// [`Level::Avx512`] as a type.
pub(crate) struct Wide;

impl Host for Portable {
    type Numbers = affine::Plain;
    const FMA: bool = false;
    const BLOCK: u32 = 2;
    const QUARTERS: Routines = guard_straight::PORTABLE;
    #[inline(always)]
    fn compress(row: &Row) -> u64 {
        row.compress()
    }
    #[inline(always)]
    fn expand(row: &mut Row, bits: u64) {
        row.expand(bits);
    }
    #[inline(always)]
    fn steps(row: &Row, stride: u32) -> Steps {
        masks::portable::steps(row, stride)
    }
    #[inline(always)]
    fn equal(row: &Row, value: u32) -> u64 {
        masks::portable::equal(row, value)
    }
}

impl Host for Fused {
    type Numbers = affine::Vector;
    const FMA: bool = true;
    const BLOCK: u32 = 3;
    const QUARTERS: Routines = guard_straight::AVX2;
    #[inline(always)]
    fn compress(row: &Row) -> u64 {
        // SAFETY: a handler of this level runs where the host has AVX2.
        unsafe { masks::avx2::compress(row) }
    }
    #[inline(always)]
    fn expand(row: &mut Row, bits: u64) {
        row.expand(bits);
    }
    #[inline(always)]
    fn steps(row: &Row, stride: u32) -> Steps {
        // SAFETY: as above.
        unsafe { masks::avx2::steps(row, stride) }
    }
    #[inline(always)]
    fn equal(row: &Row, value: u32) -> u64 {
        // SAFETY: as above.
        unsafe { masks::avx2::equal(row, value) }
    }
}

impl Host for Wide {
    type Numbers = affine::Vector;
    const FMA: bool = true;
    const BLOCK: u32 = 3;
    const QUARTERS: Routines = guard_straight::AVX512;
    #[inline(always)]
    fn compress(row: &Row) -> u64 {
        // SAFETY: a handler of this level runs where the host has AVX-512.
        unsafe { masks::avx512::compress(row) }
    }
    #[inline(always)]
    fn expand(row: &mut Row, bits: u64) {
        // SAFETY: as above.
        unsafe { masks::avx512::expand(row, bits) };
    }
    #[inline(always)]
    fn steps(row: &Row, stride: u32) -> Steps {
        // SAFETY: as above.
        unsafe { masks::avx512::steps(row, stride) }
    }
    #[inline(always)]
    fn equal(row: &Row, value: u32) -> u64 {
        // SAFETY: as above.
        unsafe { masks::avx512::equal(row, value) }
    }
}

/// Compiles an `#[inline(always)]` handler body for every level.
///
/// `versions!(name, body, [O: Trait, const K: u8], [O, K])` defines a module `name` with functions `portable`,
/// `avx2` and `avx512` that call `body::<Host, O, K>(wave, op)`, and `const fn all()` that lists them. A body that is no handler
/// says what it takes besides the wave: `versions!(name, body, [], [], (index: usize) -> Flow)`.
macro_rules! versions {
    ($name:ident, $body:ident, [$($generics:tt)*], [$($args:ident),*]) => {
        $crate::exec::level::versions!($name, $body, [$($generics)*], [$($args),*], (op: &Op) -> Flow);
    };
    ($name:ident, $body:ident, [$($generics:tt)*], [$($args:ident),*], ($($more:ident: $type:ty),*) -> $result:ty) => {
        #[doc = concat!("The versions of `", stringify!($body), "`.")]
        pub(crate) mod $name {
            use super::*;
            #[allow(unused_imports, reason = "Not every body is a handler")]
            use $crate::exec::{level, op::{Flow, Op}, wave::Wave};

            pub(crate) fn portable<$($generics)*>(wave: &mut Wave, $($more: $type),*) -> $result {
                $body::<level::Portable, $($args),*>(wave, $($more),*)
            }

            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,popcnt,lzcnt")]
            pub(crate) fn avx2<$($generics)*>(wave: &mut Wave, $($more: $type),*) -> $result {
                $body::<level::Fused, $($args),*>(wave, $($more),*)
            }

            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512dq,avx512vl")]
            pub(crate) fn avx512<$($generics)*>(wave: &mut Wave, $($more: $type),*) -> $result {
                $body::<level::Wide, $($args),*>(wave, $($more),*)
            }

            #[allow(dead_code, reason = "Tables of vector operations pick the versions they want")]
            pub(crate) const fn all<$($generics)*>() -> [unsafe fn(&mut Wave, $($type),*) -> $result; 3] {
                [portable::<$($args),*>, avx2::<$($args),*>, avx512::<$($args),*>]
            }
        }
    };
}
pub(crate) use versions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_always_available() {
        assert_eq!(Level::available().next(), Some(Level::Portable));
        assert!(Level::chosen() <= Level::detected());
    }
}
