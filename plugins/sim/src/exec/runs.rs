//! Runs of lanes: neighbours whose elements lie side by side in memory, or are one and the same.
//!
//! Most accesses of kernels are one run, and those of work-groups with several dimensions a few: each row of the
//! work-group its own. A run is checked once and moved at once. What has many runs goes lane by lane.

use super::guard::Unmapped;
use super::level::Host;
use super::masks::Steps;
use super::row::{Row, LANES};
use super::wave::Wave;

/// The runs of an access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs {
    /// The first lane of each.
    starts: u64,
    /// The lane after the last of all.
    end: usize,
    /// Whether the lanes of a run access one element, rather than one each.
    same: bool,
}

/// More runs than this are no faster than single lanes.
const MOST: u32 = 16;

/// Why an access could not be made by runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Miss {
    /// Lane by lane it may go.
    NotByRuns,
    /// The host has taken the memory away.
    Gone(Unmapped),
}

/// Whether the lanes of `mask` hold `origin + stride * lane`.
#[inline(always)]
pub(crate) fn is_linear(row: &Row, mask: &Row, origin: u32, stride: u32) -> bool {
    let mut differs = 0;
    for i in 0..64 {
        let expected = origin.wrapping_add(stride.wrapping_mul(i as u32));
        differs |= (row.0[i] ^ expected) & mask.0[i];
    }
    differs == 0
}

/// First and last lane of a mask that is not empty.
#[inline(always)]
fn span(lanes: u64) -> (usize, usize) {
    (
        lanes.trailing_zeros() as usize & 63,
        63 - (lanes.leading_zeros() as usize & 63),
    )
}

/// Whether the lanes of a mask are consecutive.
#[inline(always)]
fn has_no_holes(lanes: u64) -> bool {
    let shifted = lanes >> (lanes.trailing_zeros() & 63);
    shifted & shifted.wrapping_add(1) == 0
}

impl Runs {
    /// The runs of the lanes in `lanes`, of which there is one at least, by the addresses in register `code`.
    /// Elements are `stride` bytes long.
    #[inline(always)]
    pub(crate) fn find<H: Host>(wave: &mut Wave, code: u16, lanes: u64, stride: u32) -> Option<Self> {
        let (first, last) = span(lanes);
        let end = last + 1;
        if has_no_holes(lanes) {
            let Steps { up, level } = H::steps(wave.row(code), stride);
            // The first lane begins a run whatever is before it.
            let begin = 1 << first;
            let (up, level) = (lanes & !(up << 1) | begin, lanes & !(level << 1) | begin);
            if up == begin || level == begin {
                let same = up != begin;
                return Some(Self {
                    starts: begin,
                    end,
                    same,
                });
            }
            let same = level.count_ones() < up.count_ones();
            let starts = if same { level } else { up };
            return (starts.count_ones() <= MOST).then_some(Self { starts, end, same });
        }
        wave.refresh_mask(lanes);
        let (row, mask) = (wave.row(code), wave.mask());
        let origin = row.0[first].wrapping_sub(stride.wrapping_mul(first as u32));
        let same = is_linear(row, mask, row.0[first], 0);
        (same || is_linear(row, mask, origin, stride)).then_some(Self {
            starts: 1 << first,
            end,
            same,
        })
    }

    /// The runs of the lanes in `lanes` where each has an element of its own: what stores are made by.
    #[inline(always)]
    pub(crate) fn to_store<H: Host>(wave: &mut Wave, code: u16, lanes: u64, stride: u32) -> Option<Self> {
        if !has_no_holes(lanes) {
            return None;
        }
        Self::find::<H>(wave, code, lanes, stride).filter(|runs| !runs.same)
    }

    /// First lane and number of lanes of each run.
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = (usize, usize)> {
        let mut starts = self.starts;
        std::iter::from_fn(move || {
            let lane = starts.trailing_zeros() as usize;
            if lane == 64 {
                return None;
            }
            starts &= starts - 1;
            let next = if starts == 0 {
                self.end
            } else {
                starts.trailing_zeros() as usize
            };
            Some((lane, next - lane))
        })
    }

    /// Fills `to`, which has `parts` values for each of 64 lanes: `read` gets a lane and the place for what lies at
    /// its address and behind.
    #[inline(always)]
    pub(crate) fn load<T: Copy>(
        self,
        to: &mut [T],
        parts: usize,
        mut read: impl FnMut(usize, &mut [T]) -> Result<(), Miss>,
    ) -> Result<(), Miss> {
        if parts == 1 && self.starts == 1 && self.end == LANES {
            // What is most frequent, in lengths that the compiler knows.
            if let Some(place) = to.first_chunk_mut::<LANES>() {
                if self.same {
                    let (first, _) = place.split_at_mut(1);
                    read(0, first)?;
                    *place = [place[0]; LANES];
                    return Ok(());
                }
                return read(0, place);
            }
        }
        for (lane, count) in self.each() {
            let place = &mut to[lane * parts..(lane + count) * parts];
            if !self.same {
                read(lane, place)?;
                continue;
            }
            let (element, copies) = place.split_at_mut(parts);
            read(lane, element)?;
            if parts == 1 {
                let element = element[0];
                match copies.first_chunk_mut::<15>() {
                    Some(copies) if count == 16 => *copies = [element; 15],
                    _ => copies.fill(element),
                }
            } else {
                for copy in copies.chunks_exact_mut(parts) {
                    copy.copy_from_slice(element);
                }
            }
        }
        Ok(())
    }

    /// Hands `from`, which has `parts` values for each of 64 lanes, to `write`: a lane, and what belongs at its address
    /// and behind.
    #[inline(always)]
    pub(crate) fn store<T: Copy>(
        self,
        from: &[T],
        parts: usize,
        mut write: impl FnMut(usize, &[T]) -> Result<(), Miss>,
    ) -> Result<(), Miss> {
        for (lane, count) in self.each() {
            write(lane, &from[lane * parts..(lane + count) * parts])?;
        }
        Ok(())
    }
}

/// Takes lanes of `N` dwords apart.
#[inline(always)]
fn spread_lanes<const N: usize>(buffer: &[u32; 256], rows: &mut [Box<Row>]) {
    for (k, row) in rows.iter_mut().take(N).enumerate() {
        for i in 0..64 {
            row.0[i] = buffer[i * N + k];
        }
    }
}

/// Takes lanes of 2 to 4 dwords apart.
#[inline(always)]
pub(crate) fn spread(dwords: usize, buffer: &[u32; 256], rows: &mut [Box<Row>]) {
    match dwords {
        2 => spread_lanes::<2>(buffer, rows),
        3 => spread_lanes::<3>(buffer, rows),
        _ => spread_lanes::<4>(buffer, rows),
    }
}

/// Puts lanes of `N` dwords together.
#[inline(always)]
fn join_lanes<const N: usize>(buffer: &mut [u32; 256], rows: [&Row; 4]) {
    for (k, row) in rows.into_iter().take(N).enumerate() {
        for i in 0..64 {
            buffer[i * N + k] = row.0[i];
        }
    }
}

/// Puts lanes of 2 to 4 dwords together.
#[inline(always)]
pub(crate) fn join(dwords: usize, buffer: &mut [u32; 256], rows: [&Row; 4]) {
    match dwords {
        2 => join_lanes::<2>(buffer, rows),
        3 => join_lanes::<3>(buffer, rows),
        _ => join_lanes::<4>(buffer, rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::level::Portable;

    fn runs(addresses: impl Fn(u32) -> u32, lanes: u64) -> Option<(Vec<(usize, usize)>, bool)> {
        let mut wave = Wave::new();
        wave.v[5].0 = std::array::from_fn(|lane| addresses(lane as u32));
        let runs = Runs::find::<Portable>(&mut wave, 5, lanes, 4)?;
        Some((runs.each().collect(), runs.same))
    }

    #[test]
    fn rows_of_work_groups_are_runs() {
        assert_eq!(runs(|i| 100 + 4 * i, !0), Some((vec![(0, 64)], false)));
        assert_eq!(runs(|_| 7, !0), Some((vec![(0, 64)], true)));
        let rows = vec![(0, 16), (16, 16), (32, 16), (48, 16)];
        assert_eq!(
            runs(|i| 1000 * (i / 16) + 4 * (i % 16), !0),
            Some((rows.clone(), false))
        );
        assert_eq!(runs(|i| 1000 * (i / 16), !0), Some((rows, true)));
        let odd = vec![(3, 7), (10, 10), (20, 10), (30, 2)];
        assert_eq!(
            runs(|i| 400 - 40 * (i / 10) + 4 * (i % 10), 0xffff_fff8),
            Some((odd, false))
        );
        assert_eq!(runs(|i| 9 * i, !0), None);
        assert_eq!(runs(|i| 9 * i, 1 << 63), Some((vec![(63, 1)], false)));
    }

    #[test]
    fn lanes_with_holes_are_one_run_or_none() {
        assert_eq!(runs(|i| 4 * i, 0b1011_0100), Some((vec![(2, 6)], false)));
        let hole = |i| if i == 3 { 99 } else { 4 };
        assert_eq!(runs(hole, 0b1011_0100), Some((vec![(2, 6)], true)));
        assert_eq!(runs(hole, 0b1011_1100), None);
        let mut wave = Wave::new();
        assert!(Runs::to_store::<Portable>(&mut wave, 0, 0b101, 4).is_none());
        assert!(Runs::to_store::<Portable>(&mut wave, 0, 1, 4).is_some());
    }

    #[test]
    fn elements_of_several_dwords_come_apart_and_together() {
        let mut buffer: [u32; 256] = std::array::from_fn(|i| i as u32);
        let mut rows: [Box<Row>; 4] = std::array::from_fn(|_| Box::new(Row::ZERO));
        spread(3, &buffer, &mut rows);
        assert_eq!([rows[0].0[9], rows[1].0[9], rows[2].0[9]], [27, 28, 29]);
        buffer = [0; 256];
        join(3, &mut buffer, std::array::from_fn(|k| &*rows[k]));
        assert_eq!(buffer[27..30], [27, 28, 29]);
    }
}
