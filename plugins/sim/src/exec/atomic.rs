//! Read-modify-write operations: what they compute, and how they reach global memory, LDS, and
//! private memory.
//!
//! Global atomics are the host's, so that kernels and host threads can share memory. When all lanes
//! name one address, their effects are combined in lane order first and memory is touched once.

use super::fp;
use super::guard::{self, Size, Unmapped};
use super::memory::MemoryReason;
use super::mode::Mode;
use super::op::Flow;
use super::scalar_float::Half;
use super::vmem::{check_lanes, refuse, vanished};
use super::wave::Wave;

/// What an atomic does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Rmw {
    /// Replaces.
    Swap,
    /// Replaces if equal to the comparand.
    CompareSwap,
    /// Adds.
    Add,
    /// Subtracts.
    Sub,
    /// Subtracts memory from the data.
    ReverseSub,
    /// Signed minimum.
    SignedMin,
    /// Unsigned minimum.
    UnsignedMin,
    /// Signed maximum.
    SignedMax,
    /// Unsigned maximum.
    UnsignedMax,
    /// Bits of both.
    And,
    /// Bits of either.
    Or,
    /// Bits of one.
    Xor,
    /// Increments, back to zero after the data.
    Inc,
    /// Decrements, back to the data after zero.
    Dec,
    /// Adds floats.
    FloatAdd,
    /// Minimum of floats.
    FloatMin,
    /// Maximum of floats.
    FloatMax,
    /// Replaces if equal as floats.
    FloatCompareSwap,
    /// Adds two halves each.
    PackedAdd,
    /// Clears the bits of the data, then sets those of the second data.
    MaskOr,
    /// Subtracts if it does not wrap, else adds the second data.
    Wrap,
    /// Replaces each half whose data has its top bit set.
    ConditionalSwap,
}

impl Rmw {
    /// Every operation, at its number.
    const ALL: [Self; 22] = [
        Self::Swap,
        Self::CompareSwap,
        Self::Add,
        Self::Sub,
        Self::ReverseSub,
        Self::SignedMin,
        Self::UnsignedMin,
        Self::SignedMax,
        Self::UnsignedMax,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Inc,
        Self::Dec,
        Self::FloatAdd,
        Self::FloatMin,
        Self::FloatMax,
        Self::FloatCompareSwap,
        Self::PackedAdd,
        Self::MaskOr,
        Self::Wrap,
        Self::ConditionalSwap,
    ];

    /// The operation with a number.
    #[inline(always)]
    pub(crate) fn from_number(number: u16) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Swap)
    }

    /// The operation and size that the part of a mnemonic after `atomic_` names.
    pub(crate) fn parse(part: &str) -> Option<(Self, Size)> {
        let (part, size) = match part.strip_suffix("_x2") {
            Some(part) => (part, Size::B64),
            None => (part, Size::B32),
        };
        let operation = match part {
            "swap" => Self::Swap,
            "cmpswap" => Self::CompareSwap,
            "add" => Self::Add,
            "sub" => Self::Sub,
            "smin" => Self::SignedMin,
            "umin" => Self::UnsignedMin,
            "smax" => Self::SignedMax,
            "umax" => Self::UnsignedMax,
            "and" => Self::And,
            "or" => Self::Or,
            "xor" => Self::Xor,
            "inc" => Self::Inc,
            "dec" => Self::Dec,
            "add_f32" => Self::FloatAdd,
            "pk_add_f16" => Self::PackedAdd,
            "add_f64" => return Some((Self::FloatAdd, Size::B64)),
            "min_f64" => return Some((Self::FloatMin, Size::B64)),
            "max_f64" => return Some((Self::FloatMax, Size::B64)),
            _ => return None,
        };
        Some((operation, size))
    }

    /// Memory's new value. `second` is the comparand, or the second data.
    #[inline(always)]
    pub(crate) fn apply(self, size: Size, old: u64, data: u64, second: u64) -> u64 {
        match size {
            Size::B32 => self.apply32(old as u32, data as u32, second as u32).into(),
            Size::B64 => self.apply64(old, data, second),
        }
    }

    fn apply32(self, old: u32, data: u32, second: u32) -> u32 {
        let (float, by) = (f32::from_bits(old), f32::from_bits(data));
        match self {
            Self::Swap | Self::ConditionalSwap => data,
            Self::CompareSwap => {
                if old == second {
                    data
                } else {
                    old
                }
            }
            Self::Add => old.wrapping_add(data),
            Self::Sub => old.wrapping_sub(data),
            Self::ReverseSub => data.wrapping_sub(old),
            Self::SignedMin => (old as i32).min(data as i32) as u32,
            Self::UnsignedMin => old.min(data),
            Self::SignedMax => (old as i32).max(data as i32) as u32,
            Self::UnsignedMax => old.max(data),
            Self::And => old & data,
            Self::Or => old | data,
            Self::Xor => old ^ data,
            Self::Inc => {
                if old >= data {
                    0
                } else {
                    old + 1
                }
            }
            Self::Dec => {
                if old == 0 || old > data {
                    data
                } else {
                    old - 1
                }
            }
            Self::FloatAdd => (float + by).to_bits(),
            Self::FloatMin => fp::min32(Mode(0), float, by).to_bits(),
            Self::FloatMax => fp::max32(Mode(0), float, by).to_bits(),
            Self::FloatCompareSwap => {
                if float == f32::from_bits(second) {
                    data
                } else {
                    old
                }
            }
            Self::PackedAdd => {
                let sum = |shift: u32| {
                    let part = |bits: u32| Half((bits >> shift) as u16).wide();
                    u32::from(Half::nearest(part(old) + part(data)).0) << shift
                };
                sum(0) | sum(16)
            }
            Self::MaskOr => old & !data | second,
            Self::Wrap => {
                if old >= data {
                    old - data
                } else {
                    old.wrapping_add(second)
                }
            }
        }
    }

    fn apply64(self, old: u64, data: u64, second: u64) -> u64 {
        let (float, by) = (f64::from_bits(old), f64::from_bits(data));
        match self {
            Self::Swap => data,
            Self::CompareSwap => {
                if old == second {
                    data
                } else {
                    old
                }
            }
            Self::Add => old.wrapping_add(data),
            Self::Sub => old.wrapping_sub(data),
            Self::ReverseSub => data.wrapping_sub(old),
            Self::SignedMin => (old as i64).min(data as i64) as u64,
            Self::UnsignedMin => old.min(data),
            Self::SignedMax => (old as i64).max(data as i64) as u64,
            Self::UnsignedMax => old.max(data),
            Self::And => old & data,
            Self::Or => old | data,
            Self::Xor => old ^ data,
            Self::Inc => {
                if old >= data {
                    0
                } else {
                    old + 1
                }
            }
            Self::Dec => {
                if old == 0 || old > data {
                    data
                } else {
                    old - 1
                }
            }
            Self::FloatAdd => (float + by).to_bits(),
            Self::FloatMin => fp::min64(Mode(0), float, by).to_bits(),
            Self::FloatMax => fp::max64(Mode(0), float, by).to_bits(),
            Self::FloatCompareSwap => {
                if float == f64::from_bits(second) {
                    data
                } else {
                    old
                }
            }
            Self::PackedAdd => old,
            Self::MaskOr => old & !data | second,
            Self::Wrap => {
                if old >= data {
                    old - data
                } else {
                    old.wrapping_add(second)
                }
            }
            Self::ConditionalSwap => {
                // Each half moves if its data has bit 31 set; the bit itself is not written.
                let half = |shift: u32| {
                    let (new, kept) = ((data >> shift) as u32, (old >> shift) as u32);
                    u64::from(if new >> 31 != 0 { new & 0x7fff_ffff } else { kept }) << shift
                };
                half(0) | half(32)
            }
        }
    }
}

/// An atomic instruction's fields, packed into [`super::op::Op::e`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind(pub(crate) u16);

impl Kind {
    /// Packs the fields.
    pub(crate) fn new(operation: Rmw, size: Size, returns: bool) -> Self {
        Self(operation as u16 | u16::from(size == Size::B64) << 6 | u16::from(returns) << 7)
    }

    /// What it does.
    #[inline(always)]
    pub(crate) fn operation(self) -> Rmw {
        Rmw::from_number(self.0 & 63)
    }

    /// How wide it is.
    #[inline(always)]
    pub(crate) fn size(self) -> Size {
        if self.0 & 64 != 0 {
            Size::B64
        } else {
            Size::B32
        }
    }

    /// Whether the old value is returned.
    #[inline(always)]
    pub(crate) fn returns(self) -> bool {
        self.0 & 128 != 0
    }
}

/// One lane's value of `size` in the registers from `code`.
#[inline(always)]
pub(crate) fn lane_value(wave: &Wave, code: u16, size: Size, lane: usize) -> u64 {
    let low = wave.row(code).0[lane].into();
    match size {
        Size::B32 => low,
        Size::B64 => low | u64::from(wave.row(code + 1).0[lane]) << 32,
    }
}

/// Registers of a value of `size`.
#[inline(always)]
pub(crate) fn registers(size: Size) -> u16 {
    match size {
        Size::B32 => 1,
        Size::B64 => 2,
    }
}

/// Does the operation of `kind` at [`Wave::address`] for the lanes of `lanes`. Data come from the
/// registers from `data`, a comparand from the ones behind them; old values go to `dst`.
pub(crate) fn global_atomic(wave: &mut Wave, kind: Kind, lanes: u64, data: u16, dst: u16) -> Flow {
    if lanes == 0 {
        return Flow::Next;
    }
    let size = kind.size();
    let bytes = u64::from(registers(size)) * 4;
    let wrong = |address: u64| address & (bytes - 1) != 0;
    for lane in 0..64 {
        if lanes >> lane & 1 != 0 && wrong(wave.address[lane]) {
            return refuse(wave, wave.address[lane], true, MemoryReason::Misaligned);
        }
    }
    for write in [false, true] {
        if let Err(flow) = check_lanes(wave, lanes, bytes, write) {
            return flow;
        }
    }
    let first = wave.address[lanes.trailing_zeros() as usize];
    let uniform = (0..64).all(|lane| lanes >> lane & 1 == 0 || wave.address[lane] == first);
    let result = if uniform && lanes.count_ones() > 1 {
        combined(wave, kind, lanes, data, first)
    } else {
        one_by_one(wave, kind, lanes, data)
    };
    if let Err(unmapped) = result {
        return vanished(wave, unmapped, true);
    }
    if kind.returns() {
        for part in 0..registers(size) {
            wave.commit(dst + part, part.into(), lanes);
        }
    }
    Flow::Next
}

/// Remembers a lane's old value for its register.
#[inline(always)]
fn set_old(wave: &mut Wave, lane: usize, old: u64) {
    wave.spare[0].0[lane] = old as u32;
    wave.spare[1].0[lane] = (old >> 32) as u32;
}

/// Every lane by itself.
fn one_by_one(wave: &mut Wave, kind: Kind, lanes: u64, data: u16) -> Result<(), Unmapped> {
    let (operation, size) = (kind.operation(), kind.size());
    let second = data + registers(size);
    for lane in 0..64 {
        if lanes >> lane & 1 == 0 {
            continue;
        }
        let address = wave.address[lane];
        let value = lane_value(wave, data, size, lane);
        let comparand = lane_value(wave, second, size, lane);
        let old = host_atomic(operation, size, address, value, comparand)?;
        set_old(wave, lane, old);
    }
    Ok(())
}

/// One atomic on host memory; returns the old value.
pub(crate) fn host_atomic(
    operation: Rmw,
    size: Size,
    address: u64,
    data: u64,
    second: u64,
) -> Result<u64, Unmapped> {
    match operation {
        Rmw::Add => guard::fetch_add(size, address, data),
        Rmw::Sub => guard::fetch_add(size, address, data.wrapping_neg()),
        Rmw::Swap => guard::exchange(size, address, data),
        Rmw::CompareSwap => guard::compare_exchange(size, address, second, data),
        _ => update(size, address, |old| operation.apply(size, old, data, second)),
    }
}

/// Replaces memory's value by `new` of it, atomically; returns the old value.
fn update(size: Size, address: u64, mut new: impl FnMut(u64) -> u64) -> Result<u64, Unmapped> {
    let mut old = guard::load(size, address)?;
    loop {
        let seen = guard::compare_exchange(size, address, old, new(old))?;
        if seen == old {
            return Ok(old);
        }
        old = seen;
    }
}

/// All lanes at one address, in lane order, as one atomic.
fn combined(wave: &mut Wave, kind: Kind, lanes: u64, data: u16, address: u64) -> Result<(), Unmapped> {
    let (operation, size) = (kind.operation(), kind.size());
    let second = data + registers(size);
    if matches!(operation, Rmw::Add | Rmw::Sub) {
        // The sum needs no loop over a contended cell.
        let mut total = 0u64;
        for lane in 0..64 {
            if lanes >> lane & 1 != 0 {
                set_old(wave, lane, total);
                let value = lane_value(wave, data, size, lane);
                total = operation.apply(size, total, value, 0);
            }
        }
        let old = guard::fetch_add(size, address, total)?;
        for lane in 0..64 {
            let before = u64::from(wave.spare[0].0[lane]) | u64::from(wave.spare[1].0[lane]) << 32;
            set_old(wave, lane, Rmw::Add.apply(size, old, before, 0));
        }
        return Ok(());
    }
    update(size, address, |old| {
        let mut current = old;
        for lane in 0..64 {
            if lanes >> lane & 1 != 0 {
                set_old(wave, lane, current);
                let value = lane_value(wave, data, size, lane);
                let comparand = lane_value(wave, second, size, lane);
                current = operation.apply(size, current, value, comparand);
            }
        }
        current
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn b32(operation: Rmw, old: u32, data: u32, second: u32) -> u32 {
        operation.apply(Size::B32, old.into(), data.into(), second.into()) as u32
    }

    #[test]
    fn operations_compute_what_the_manual_says() {
        assert_eq!(b32(Rmw::Inc, 7, 7, 0), 0);
        assert_eq!(b32(Rmw::Inc, 6, 7, 0), 7);
        assert_eq!(b32(Rmw::Dec, 0, 7, 0), 7);
        assert_eq!(b32(Rmw::Dec, 9, 7, 0), 7);
        assert_eq!(b32(Rmw::Dec, 5, 7, 0), 4);
        assert_eq!(b32(Rmw::SignedMin, 1, !0, 0), !0);
        assert_eq!(b32(Rmw::UnsignedMin, 1, !0, 0), 1);
        assert_eq!(b32(Rmw::MaskOr, 0xff, 0x0f, 0x01), 0xf1);
        assert_eq!(b32(Rmw::Wrap, 5, 3, 10), 2);
        assert_eq!(b32(Rmw::Wrap, 2, 3, 10), 12);
        assert_eq!(b32(Rmw::ReverseSub, 2, 3, 0), 1);
        assert_eq!(
            b32(Rmw::FloatAdd, 1f32.to_bits(), 2f32.to_bits(), 0),
            3f32.to_bits()
        );
        assert_eq!(b32(Rmw::PackedAdd, 0x3c00_3c00, 0x4000_3c00, 0), 0x4200_4000);
        assert_eq!(
            Rmw::ConditionalSwap.apply(Size::B64, 0x1111_1111_2222_2222, 0x8000_0005_0000_0007, 0),
            0x0000_0005_2222_2222
        );
        assert_eq!(Rmw::CompareSwap.apply(Size::B64, 5, 9, 5), 9);
    }

    #[test]
    fn numbers_and_names_round_trip() {
        for (number, operation) in Rmw::ALL.into_iter().enumerate() {
            assert_eq!(operation as usize, number);
        }
        let kind = Kind::new(Rmw::Xor, Size::B64, true);
        assert_eq!(
            (kind.operation(), kind.size(), kind.returns()),
            (Rmw::Xor, Size::B64, true)
        );
        assert_eq!(Rmw::parse("smax_x2"), Some((Rmw::SignedMax, Size::B64)));
        assert_eq!(Rmw::parse("add_f64"), Some((Rmw::FloatAdd, Size::B64)));
        assert_eq!(Rmw::parse("nothing"), None);
    }
}
