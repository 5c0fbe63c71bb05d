//! How the tables of vector operations are written: one line per mnemonic, each with its semantics.

use super::valu::Forms;

/// A row of a semantics table.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// The mnemonic.
    pub(crate) name: &'static str,
    /// Its compiled forms.
    pub(crate) forms: Forms,
}

/// A table row of an operation that computes a value: mnemonic, heat, and semantics as
/// `|mode, a: type, ..| -> type { .. }`. `rounded { .. }` is used when rounding is not to nearest,
/// `clamped { .. }` for integers with the clamp bit. `Vector` names the host level in the bodies.
macro_rules! lane {
    ($name:expr, $heat:ident, |$m:pat_param, $a:ident: $ta:ty| -> $d:ty $body:block $($rest:tt)*) => {
        $crate::exec::define::lane!(@ $name, $heat, $m, $a: $ta, _b: (), _c: (), $d, $body $($rest)*)
    };
    ($name:expr, $heat:ident, |$m:pat_param, $a:ident: $ta:ty, $b:ident: $tb:ty| -> $d:ty $body:block $($rest:tt)*) => {
        $crate::exec::define::lane!(@ $name, $heat, $m, $a: $ta, $b: $tb, _c: (), $d, $body $($rest)*)
    };
    ($name:expr, $heat:ident, |$m:pat_param, $a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| -> $d:ty $body:block $($rest:tt)*) => {
        $crate::exec::define::lane!(@ $name, $heat, $m, $a: $ta, $b: $tb, $c: $tc, $d, $body $($rest)*)
    };
    (@ $name:expr, $heat:ident, $m:pat_param, $a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $d:ty, $body:block
        $(, rounded $rounded:block)? $(, clamped $clamped:block)?) => {{
        struct Operation;
        impl $crate::exec::valu::Lane for Operation {
            type A = $ta;
            type B = $tb;
            type C = $tc;
            type D = $d;
            $(const ROUNDS: bool = { const _: &str = stringify!($rounded); true };)?
            #[inline(always)]
            #[allow(unused_variables, reason = "Few operations look at the mode when it is the plain one")]
            fn result<Vector: $crate::exec::level::Host>($m: $crate::exec::mode::Mode, $a: $ta, $b: $tb, $c: $tc) -> $d $body
            $(fn rounded($m: $crate::exec::mode::Mode, $a: $ta, $b: $tb, $c: $tc) -> $d $rounded)?
            $(fn clamped($m: $crate::exec::mode::Mode, $a: $ta, $b: $tb, $c: $tc) -> $d $clamped)?
        }
        $crate::exec::define::Entry {
            name: $name,
            forms: $crate::exec::valu::lane::<Operation, { $crate::exec::valu::$heat }>(),
        }
    }};
}

/// A table row of a compare.
macro_rules! test {
    ($name:expr, $heat:ident, |$m:pat_param, $a:ident: $ta:ty, $b:ident: $tb:ty| $body:expr) => {{
        struct Operation;
        impl $crate::exec::valu::Test for Operation {
            type A = $ta;
            type B = $tb;
            #[inline(always)]
            fn test($m: $crate::exec::mode::Mode, $a: $ta, $b: $tb) -> bool {
                $body
            }
        }
        $crate::exec::define::Entry {
            name: $name,
            forms: $crate::exec::valu::test::<Operation, { $crate::exec::valu::$heat }>(),
        }
    }};
}

/// A table row of an operation with a mask bit: the bit that comes in is the last argument (`in`
/// or `-`), and the result is a value and, after `out`, a bit.
macro_rules! carry {
    ($name:expr, $heat:ident, in $in:literal out $out:literal,
        |$m:pat_param, $a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $bit:ident| -> $d:ty $body:block
        $(, clamped $clamped:block)?) => {{
        struct Operation;
        impl $crate::exec::valu::Carry for Operation {
            type A = $ta;
            type B = $tb;
            type C = $tc;
            type D = $d;
            const IN: bool = $in;
            const OUT: bool = $out;
            #[inline(always)]
            fn result<Vector: $crate::exec::level::Host>(
                $m: $crate::exec::mode::Mode, $a: $ta, $b: $tb, $c: $tc, $bit: bool,
            ) -> ($d, bool) $body
            $(fn clamped($m: $crate::exec::mode::Mode, $a: $ta, $b: $tb, $c: $tc, $bit: bool) -> ($d, bool) $clamped)?
        }
        $crate::exec::define::Entry {
            name: $name,
            forms: $crate::exec::valu::carry::<Operation, { $crate::exec::valu::$heat }>(),
        }
    }};
}

pub(crate) use {carry, lane, test};
