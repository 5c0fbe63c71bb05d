//! Loads and stores whose addresses are formulas.
//!
//! The addends say at once which lanes are neighbours in memory: where those of the lowest bits are the size of an element,
//! twice that, and so on, lanes lie side by side, and where they are 0, lanes have one address. All lanes are checked in one
//! step, from the least address to the greatest. Negative addends, runs of fewer than four lanes, and whatever is not allowed,
//! are left to lanes.

use super::settle::settle;
use super::wide::Sum;
use super::{bits, Affine, Numbers, BITS, KNOWN};
use crate::exec::flat::{self, global_base, NO_ADDRESS};
use crate::exec::group::Member;
use crate::exec::guard::{self, Unmapped};
use crate::exec::guard_blocks as blocks;
use crate::exec::guard_straight::{expect_after, AHEAD};
use crate::exec::level::{versions, Host};
use crate::exec::op::{flag, Flow, Op, Versions};
use crate::exec::row::LANES;
use crate::exec::runs::{join, spread};
use crate::exec::vmem::{commit_loaded, vanished, Layout};
use crate::exec::wave::Wave;
use crate::isa::{Family, Inst};

/// Where the lanes of an access are.
struct Place<N> {
    /// The address of lane 0.
    first: u64,
    /// Distances.
    low: N,
}

/// Addends of lanes that lie `stride` apart.
const fn apart(stride: u32) -> Affine {
    let mut addends = [0; BITS + 2];
    let mut bit = 0;
    while bit < BITS {
        addends[2 + bit] = stride << bit;
        bit += 1;
    }
    Affine(addends)
}

/// Addends of lanes with one address.
static SAME: Affine = apart(0);
/// Addends of dwords side by side.
static DWORDS: Affine = apart(4);

impl<N: Numbers> Place<N> {
    /// Where they are, if the device may access it all.
    #[inline(always)]
    fn new<const FLAT: bool>(wave: &mut Wave, op: &Op, bytes: u64, write: bool) -> Option<Self> {
        if wave.exec() != !0 {
            return None;
        }
        let low = wave.formulas.get::<N>(op.a)?;
        let (least, most) = low.rising()?;
        let top = if op.c == NO_ADDRESS {
            wave.formulas.get::<N>(op.a + 1)?.value()?
        } else {
            0
        };
        let tops = [wave.env.shared_base, wave.env.private_base].map(|base| (base >> 32) as u32);
        if FLAT && tops.contains(&top) {
            return None;
        }
        let first = global_base(wave, op).wrapping_add(u64::from(least) | u64::from(top) << 32);
        let spread = most - least;
        Self::checked(wave, Sum { low, first, spread }, bytes, write)
    }

    /// The same where the addresses have just been computed.
    #[inline(always)]
    fn of_sum(wave: &mut Wave, op: &Op, sum: Sum<N>, bytes: u64, write: bool) -> Option<Self> {
        let first = sum.first.wrapping_add(op.x);
        Self::checked(wave, Sum { first, ..sum }, bytes, write)
    }

    #[inline(always)]
    fn checked(wave: &mut Wave, Sum { low, first, spread }: Sum<N>, bytes: u64, write: bool) -> Option<Self> {
        let all = u64::from(spread) + bytes;
        wave.env.view.check(first, all, write).ok()?;
        Some(Self { first, low })
    }

    /// Of how many low bits of the lane number the addends are these.
    #[inline(always)]
    fn steps(&self, addends: &Affine) -> u32 {
        (self.low.differ(addends) | 1 << BITS).trailing_zeros()
    }

    /// How much further on the next wave of a bundle has its lanes.
    #[inline(always)]
    fn step(&self, others: &[Member]) -> u64 {
        if others.is_empty() {
            0
        } else {
            self.low.to_affine().step().into()
        }
    }

    /// Addresses of blocks of `1 << LOG` lanes.
    #[inline(always)]
    fn blocks<const LOG: usize>(&self) -> [u64; 16] {
        let low = self.low.to_affine();
        blocks::addresses::<LOG>(self.first, |bit| low.addend(LOG + bit))
    }

    /// Addresses of quarters.
    #[inline(always)]
    fn quarters(&self) -> [u64; 4] {
        let low = self.low.to_affine();
        let [near, far] = [low.addend(4), low.addend(5)].map(u64::from);
        [0, near, far, near + far].map(|distance| self.first + distance)
    }
}

/// How far ahead memory is expected to be wanted: where the next group begins, if there are several waves.
#[inline(always)]
fn ahead(others: &[Member]) -> u64 {
    if others.is_empty() {
        AHEAD
    } else {
        4 * LANES as u64 * (others.len() as u64 + 1)
    }
}

/// The same register of all waves of a bundle, that of the first of which is `row`.
macro_rules! of_all {
    ($row:expr, $others:expr, $register:expr) => {
        std::iter::once($row).chain($others.iter_mut().map(|other| &mut *other.wave.v[$register]))
    };
}

/// How an access goes on.
type Outcome = Option<Result<(), Unmapped>>;

/// What a handler returns.
#[inline(always)]
fn flow(wave: &mut Wave, outcome: Outcome, write: bool) -> Flow {
    match outcome {
        Some(Ok(())) => Flow::Next,
        Some(Err(unmapped)) => vanished(wave, unmapped, write),
        None => Flow::ByLanes,
    }
}

/// Calls a function of quarters, or of the largest blocks that the level has and the runs allow.
macro_rules! in_blocks {
    ($host:ident, $runs:expr, $f:ident($row:expr, $place:expr)) => {{
        match $runs {
            4.. => Some($host::QUARTERS.$f($row, $place.quarters())),
            3 if $host::BLOCK >= 3 => Some(blocks::$f::<3>($row, &$place.blocks::<3>())),
            2 | 3 => Some(blocks::$f::<2>($row, &$place.blocks::<2>())),
            _ => None,
        }
    }};
}

/// `global_load_dword`, or flat, of a wave or of a bundle.
#[inline(always)]
pub(in crate::exec) fn load_dword_of_all<H: Host, const FLAT: bool>(
    wave: &mut Wave,
    others: &mut [Member],
    op: &Op,
) -> Flow {
    let place = Place::new::<FLAT>(wave, op, 4, false);
    let outcome = place.and_then(|place| load_dword_at::<H>(wave, others, op, place));
    flow(wave, outcome, false)
}

/// The same of a wave.
#[inline(always)]
pub(in crate::exec) fn load_dword<H: Host, const FLAT: bool>(wave: &mut Wave, op: &Op) -> Flow {
    load_dword_of_all::<H, FLAT>(wave, &mut [], op)
}

/// `global_load_dword` from addresses that have just been computed.
#[inline(always)]
pub(in crate::exec) fn load_dword_of_sum<H: Host>(wave: &mut Wave, op: &Op, sum: Sum<H::Numbers>) -> Flow {
    let place = Place::of_sum(wave, op, sum, 4, false);
    let outcome = place.and_then(|place| load_dword_at::<H>(wave, &mut [], op, place));
    flow(wave, outcome, false)
}

#[inline(always)]
fn load_dword_at<H: Host>(
    wave: &mut Wave,
    others: &mut [Member],
    op: &Op,
    mut place: Place<H::Numbers>,
) -> Outcome {
    let register = usize::from(op.d) & 511;
    let (steps, level) = (place.steps(&DWORDS), place.steps(&SAME));
    let (step, ahead) = (place.step(others), ahead(others));
    for row in of_all!(&mut *wave.v[register], others, register) {
        if steps as usize == BITS {
            expect_after(place.first, ahead);
        }
        let outcome = if steps >= 2 {
            in_blocks!(H, steps, load(row, place))
        } else {
            in_blocks!(H, level, repeat(row, place))
        };
        if let Err(unmapped) = outcome? {
            return Some(Err(unmapped));
        }
        place.first += step;
    }
    let known = bits(op.d, 1);
    wave.formulas.forget(known);
    if known != 0 && level as usize == BITS {
        // One value for all: a formula with a row that holds it.
        let value = wave.v[usize::from(op.d) & (KNOWN - 1)].0[0];
        wave.formulas.set(op.d, H::Numbers::uniform(value));
        wave.formulas.stale &= !known;
    }
    Some(Ok(()))
}

/// `global_store_dword`, or flat, of a wave or of a bundle.
#[inline(always)]
pub(in crate::exec) fn store_dword_of_all<H: Host, const FLAT: bool>(
    wave: &mut Wave,
    others: &mut [Member],
    op: &Op,
) -> Flow {
    let place = Place::new::<FLAT>(wave, op, 4, true);
    let outcome = place.and_then(|place| store_dword_at::<H>(wave, others, op, place));
    flow(wave, outcome, true)
}

/// The same of a wave.
#[inline(always)]
pub(in crate::exec) fn store_dword<H: Host, const FLAT: bool>(wave: &mut Wave, op: &Op) -> Flow {
    store_dword_of_all::<H, FLAT>(wave, &mut [], op)
}

/// `global_store_dword` to addresses that have just been computed.
#[inline(always)]
pub(in crate::exec) fn store_dword_of_sum<H: Host>(wave: &mut Wave, op: &Op, sum: Sum<H::Numbers>) -> Flow {
    let place = Place::of_sum(wave, op, sum, 4, true);
    let outcome = place.and_then(|place| store_dword_at::<H>(wave, &mut [], op, place));
    flow(wave, outcome, true)
}

#[inline(always)]
fn store_dword_at<H: Host>(
    wave: &mut Wave,
    others: &mut [Member],
    op: &Op,
    mut place: Place<H::Numbers>,
) -> Outcome {
    let data = bits(op.b, 1);
    if wave.formulas.stale & data != 0 {
        if !others.is_empty() {
            // Each wave has other values.
            return None;
        }
        settle(wave, data);
    }
    let steps = place.steps(&DWORDS);
    let (step, ahead) = (place.step(others), ahead(others));
    let register = usize::from(op.b) & 511;
    for row in of_all!(&mut *wave.v[register], others, register) {
        if steps as usize == BITS {
            expect_after(place.first, ahead);
        }
        if let Err(unmapped) = in_blocks!(H, steps, store(row, place))? {
            return Some(Err(unmapped));
        }
        place.first += step;
    }
    Some(Ok(()))
}

/// A load of another layout: all lanes side by side.
#[inline(always)]
fn load<H: Host, const FLAT: bool>(wave: &mut Wave, op: &Op) -> Flow {
    let outcome = try_load::<H, FLAT>(wave, op);
    flow(wave, outcome, false)
}

#[inline(always)]
fn try_load<H: Host, const FLAT: bool>(wave: &mut Wave, op: &Op) -> Outcome {
    let layout = Layout(op.e);
    let size = layout.bytes();
    let place = Place::<H::Numbers>::new::<FLAT>(wave, op, size, false)?;
    if place.steps(&apart(size as u32)) as usize != BITS {
        return None;
    }
    let registers = bits(op.d, layout.dwords() as u8);
    if layout.is_dwords() {
        let count = LANES * layout.dwords();
        if let Err(unmapped) = guard::read(&mut wave.elements[..count], place.first) {
            return Some(Err(unmapped));
        }
        spread(layout.dwords(), &wave.elements, &mut wave.spare[..]);
    } else {
        let mut bytes = [0; 2 * LANES];
        if let Err(unmapped) = guard::read_bytes(&mut bytes[..LANES * size as usize], place.first) {
            return Some(Err(unmapped));
        }
        layout.widen(&bytes, &mut wave.spare[0]);
        // A half may keep the other.
        settle(wave, registers);
    }
    wave.formulas.forget(registers);
    commit_loaded(wave, op.d, layout, !0);
    Some(Ok(()))
}

/// A store of another layout: all lanes side by side.
#[inline(always)]
fn store<H: Host, const FLAT: bool>(wave: &mut Wave, op: &Op) -> Flow {
    let outcome = try_store::<H, FLAT>(wave, op);
    flow(wave, outcome, true)
}

#[inline(always)]
fn try_store<H: Host, const FLAT: bool>(wave: &mut Wave, op: &Op) -> Outcome {
    let layout = Layout(op.e);
    let size = layout.bytes();
    let place = Place::<H::Numbers>::new::<FLAT>(wave, op, size, true)?;
    if place.steps(&apart(size as u32)) as usize != BITS {
        return None;
    }
    settle(wave, bits(op.b, layout.dwords() as u8));
    let Wave { v, elements, .. } = wave;
    let data = |k: u16| &*v[usize::from(op.b + k) & 511];
    Some(if layout.is_dwords() {
        join(layout.dwords(), elements, [data(0), data(1), data(2), data(3)]);
        guard::write(place.first, &elements[..LANES * layout.dwords()])
    } else {
        let mut bytes = [0; 2 * LANES];
        layout.narrow(data(0), &mut bytes);
        guard::write_bytes(place.first, &bytes[..LANES * size as usize])
    })
}

versions!(load_dword_versions, load_dword, [const FLAT: bool], [FLAT]);
versions!(store_dword_versions, store_dword, [const FLAT: bool], [FLAT]);
versions!(load_versions, load, [const FLAT: bool], [FLAT]);
versions!(store_versions, store, [const FLAT: bool], [FLAT]);

/// The handler of an instruction.
pub(super) fn handler(inst: &Inst, op: &Op) -> Option<Versions> {
    let name = inst.row.name;
    let flat = match inst.row.family {
        Family::Global => false,
        Family::Flat => true,
        _ => return None,
    };
    // Not the atomics, and no address but in registers.
    if flat::handler(name).is_none() || op.a == NO_ADDRESS {
        return None;
    }
    let dword = Layout(op.e & !flag::VECTOR) == Layout::DWORD;
    Some(match (name.contains("_load_"), dword, flat) {
        (true, true, false) => load_dword_versions::all::<false>(),
        (true, true, true) => load_dword_versions::all::<true>(),
        (true, false, false) => load_versions::all::<false>(),
        (true, false, true) => load_versions::all::<true>(),
        (false, true, false) => store_dword_versions::all::<false>(),
        (false, true, true) => store_dword_versions::all::<true>(),
        (false, false, false) => store_versions::all::<false>(),
        (false, false, true) => store_versions::all::<true>(),
    })
}
