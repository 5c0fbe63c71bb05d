//! Buffer descriptors: which words a data mover takes or gives, in which order, and which locks it minds.

use super::tile::Kind;

/// Where a descriptor's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// In the host's, by byte.
    Host(u64),
    /// In a tile's, by word: that of the tile so many columns to the east (-1, 0 or 1).
    Tile(i32, u64),
}

/// A lock and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LockUse {
    /// Columns to the east.
    pub(crate) east: i32,
    /// Its number.
    pub(crate) lock: u32,
    /// The value.
    pub(crate) value: i32,
}

/// A descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// Words.
    pub(crate) length: u64,
    pub(crate) base: Base,
    /// Steps and wraps, the innermost first; a wrap of 0 is without end.
    dimensions: Vec<(u64, u64)>,
    /// Step and wrap of the iteration, and how often it went.
    pub(crate) iteration: (u64, u64, u64),
    pub(crate) acquire: Option<LockUse>,
    pub(crate) release: Option<LockUse>,
    pub(crate) next: Option<u32>,
}

fn field(word: u32, low: u32, high: u32) -> u32 {
    word >> low & (u32::MAX >> (31 - (high - low)))
}

fn long(word: u32, low: u32, high: u32) -> u64 {
    field(word, low, high).into()
}

fn signed7(word: u32, low: u32) -> i32 {
    i32::from_ne_bytes((field(word, low, low + 6) << 25).to_ne_bytes()) >> 25
}

impl Descriptor {
    /// Reads a descriptor's words.
    pub(crate) fn parse(kind: Kind, w: &[u32]) -> Result<Self, String> {
        match kind {
            Kind::Shim => Self::of_shim(w),
            Kind::Memory => Self::of_memory(w),
            Kind::Core => Self::of_core(w),
        }
    }

    fn of_shim(w: &[u32]) -> Result<Self, String> {
        if field(w[2], 30, 30) != 0 {
            return Err("packets are not modelled".into());
        }
        Self {
            length: w[0].into(),
            base: Base::Host(u64::from(w[1] & !3) | long(w[2], 0, 15) << 32),
            dimensions: vec![
                (long(w[3], 0, 19) + 1, long(w[3], 20, 29)),
                (long(w[4], 0, 19) + 1, long(w[4], 20, 29)),
                (long(w[5], 0, 19) + 1, 0),
            ],
            iteration: (long(w[6], 0, 19) + 1, long(w[6], 20, 25) + 1, long(w[6], 26, 31)),
            acquire: None,
            release: None,
            next: None,
        }
        .with_ending(w[7])
    }

    fn of_core(w: &[u32]) -> Result<Self, String> {
        if w[1] & (3 << 30) != 0 {
            return Err("packets and compression are not modelled".into());
        }
        Self {
            length: long(w[0], 0, 13),
            base: Base::Tile(0, long(w[0], 14, 27)),
            dimensions: vec![
                (long(w[2], 0, 12) + 1, long(w[3], 13, 20)),
                (long(w[2], 13, 25) + 1, long(w[3], 21, 28)),
                (long(w[3], 0, 12) + 1, 0),
            ],
            iteration: (long(w[4], 0, 12) + 1, long(w[4], 13, 18) + 1, long(w[4], 19, 24)),
            acquire: None,
            release: None,
            next: None,
        }
        .with_ending(w[5])
    }

    /// The last word of shim and core descriptors.
    fn with_ending(mut self, word: u32) -> Result<Self, String> {
        if field(word, 25, 25) == 0 {
            return Err("the descriptor is not valid".into());
        }
        let lock = |low, value_low| LockUse {
            east: 0,
            lock: field(word, low, low + 3),
            value: signed7(word, value_low),
        };
        self.acquire = (field(word, 12, 12) != 0).then(|| lock(0, 5));
        self.release = Some(lock(13, 18)).filter(|used| used.value != 0);
        self.next = (field(word, 26, 26) != 0).then(|| field(word, 27, 30));
        self.checked()
    }

    fn of_memory(w: &[u32]) -> Result<Self, String> {
        if field(w[0], 31, 31) != 0 {
            return Err("packets are not modelled".into());
        }
        if field(w[1], 26, 31) != 0 || w[5] >> 17 != 0 {
            return Err("padding is not modelled".into());
        }
        if field(w[7], 31, 31) == 0 {
            return Err("the descriptor is not valid".into());
        }
        let lock = |low, value_low| {
            let number = field(w[7], low, low + 7);
            LockUse {
                east: i32::try_from(number / 64).unwrap_or(2) - 1,
                lock: number % 64,
                value: signed7(w[7], value_low),
            }
        };
        let word = long(w[1], 0, 18);
        let east = i32::try_from(word / 0x2_0000).unwrap_or(3) - 1;
        Self {
            length: long(w[0], 0, 16),
            base: Base::Tile(east, word % 0x2_0000),
            dimensions: vec![
                (long(w[2], 0, 16) + 1, long(w[2], 17, 26)),
                (long(w[3], 0, 16) + 1, long(w[3], 17, 26)),
                (long(w[4], 0, 16) + 1, long(w[4], 17, 26)),
                (long(w[5], 0, 16) + 1, 0),
            ],
            iteration: (long(w[6], 0, 16) + 1, long(w[6], 17, 22) + 1, long(w[6], 23, 28)),
            acquire: (field(w[7], 15, 15) != 0).then(|| lock(0, 8)),
            release: Some(lock(16, 24)).filter(|used| used.value != 0),
            next: (field(w[1], 19, 19) != 0).then(|| field(w[1], 20, 25)),
        }
        .checked()
    }

    fn checked(self) -> Result<Self, String> {
        if self.length == 0 {
            return Err("the descriptor moves nothing".into());
        }
        if self.acquire.is_some_and(|used| used.value == 0) {
            return Err("a lock is acquired with 0, whose meaning is not known".into());
        }
        Ok(self)
    }

    /// Where the words are, from the base on, in order.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        let start = self.iteration.0 * self.iteration.2;
        (0..self.length).map(move |mut index| {
            let mut offset = start;
            for &(step, wrap) in &self.dimensions {
                if wrap == 0 {
                    return offset + index * step;
                }
                offset += index % wrap * step;
                index /= wrap;
            }
            offset
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a published descriptor (mlir-aie, `npu_dma_memcpy_nd` of [2, 32, 32] with strides [2048, 64, 1]).
    #[test]
    fn a_published_descriptor_of_three_dimensions() {
        let w = [2048, 0, 0, 0x0200_0000, 0x8200_003f, 2047, 0, 0x0200_0000];
        let made = Descriptor::parse(Kind::Shim, &w).unwrap();
        let expected: Vec<u64> = (0..2)
            .flat_map(|a| (0..32).flat_map(move |b| (0..32).map(move |c| a * 2048 + b * 64 + c)))
            .collect();
        assert_eq!(made.offsets().collect::<Vec<_>>(), expected);
        assert_eq!((made.acquire, made.release, made.next), (None, None, None));
    }

    #[test]
    fn what_is_not_modelled_is_refused_by_name() {
        let valid = 1 << 25;
        let refused = |w: [u32; 8]| Descriptor::parse(Kind::Shim, &w).unwrap_err();
        assert!(refused([1, 0, 1 << 30, 0, 0, 0, 0, valid]).contains("packets"));
        assert!(refused([1, 0, 0, 0, 0, 0, 0, 0]).contains("not valid"));
        assert!(refused([0, 0, 0, 0, 0, 0, 0, valid]).contains("moves nothing"));
        assert!(refused([1, 0, 0, 0, 0, 0, 0, valid | 1 << 12]).contains("acquired with 0"));
    }
}
