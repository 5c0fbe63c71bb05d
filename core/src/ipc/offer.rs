//! What crosses between two processes: the name, which is also the question, and the answer.
//!
//! Both are read as bytes of an untrusted peer: every field is checked, and a field that does not fit makes the whole
//! of it nothing.

use crate::words::halves;
use hansa_plugin_api as api;

/// Begins every name and every answer.
const MAGIC: u32 = 0x4861_6e73;
/// Changes when names or answers do.
const VERSION: u32 = 1;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Thing {
    /// A signal: a page of a memory file.
    Signal = 1,
    /// An allocation of a driver.
    Memory = 2,
}

/// A name, apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// What it stands for.
    pub thing: Thing,
    /// The process that answers.
    pub server: u64,
    /// What it is to be asked for.
    pub secret: u64,
}

const fn whole(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

impl Name {
    /// The words that a program passes on.
    #[must_use]
    pub const fn words(self) -> [u32; 8] {
        let ([a, b], [c, d]) = (halves(self.server), halves(self.secret));
        [MAGIC, VERSION, self.thing as u32, a, b, c, d, 0]
    }

    /// The name in words of anybody's; `None` for what is none of this version.
    #[must_use]
    pub const fn of_words(words: [u32; 8]) -> Option<Self> {
        let [MAGIC, VERSION, thing, a, b, c, d, 0] = words else {
            return None;
        };
        Some(Self {
            thing: match thing {
                1 => Thing::Signal,
                2 => Thing::Memory,
                _ => return None,
            },
            server: whole(a, b),
            secret: whole(c, d),
        })
    }
}

/// Bytes of a driver's id that an answer has room for.
const ID_BYTES: usize = 128;

/// An answer. Beside it goes a file descriptor for a signal, and for memory whose [`Offer::shared`] is a dma-buf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What it is.
    pub thing: Thing,
    /// Bytes the program asked for when it allocated.
    pub requested: u64,
    /// Bytes there are.
    pub bytes: u64,
    /// Memory: the id of the driver that it belongs to.
    pub driver: String,
    /// Memory: the driver's node.
    pub node: u32,
    /// Memory: the node's bank.
    pub bank: u32,
    /// Memory: flags of the allocation call.
    pub flags: u32,
    /// Memory: the driver's name for it.
    pub shared: api::SharedHandle,
}

impl Offer {
    /// Bytes of an answer.
    pub const BYTES: usize = 88 + ID_BYTES;

    /// The answer for a signal, whose page has this many bytes.
    #[must_use]
    pub const fn signal(bytes: u64) -> Self {
        Self {
            thing: Thing::Signal,
            requested: bytes,
            bytes,
            driver: String::new(),
            node: 0,
            bank: 0,
            flags: 0,
            shared: api::SharedHandle {
                kind: api::ExportKind::DMA_BUF,
                reserved: 0,
                offset: 0,
                words: [0; 8],
            },
        }
    }

    /// The answer as it is sent; `None` when the driver's id is too long.
    #[must_use]
    pub fn encode(&self) -> Option<[u8; Self::BYTES]> {
        let id = self.driver.as_bytes();
        let mut words = vec![MAGIC, VERSION, self.thing as u32];
        words.extend(halves(self.requested));
        words.extend(halves(self.bytes));
        words.extend([self.node, self.bank, self.flags, self.shared.kind.0]);
        words.extend(halves(self.shared.offset));
        words.extend(self.shared.words);
        words.push(u32::try_from(id.len()).ok()?);
        let mut bytes = [0; Self::BYTES];
        let (head, tail) = bytes.split_at_mut(Self::BYTES - ID_BYTES);
        for (place, word) in head.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        tail.get_mut(..id.len())?.copy_from_slice(id);
        Some(bytes)
    }

    /// The answer in bytes of anybody's; `None` for what is none of this version.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let (head, tail) = bytes.split_at(Self::BYTES - ID_BYTES);
        let mut words = [0; (Self::BYTES - ID_BYTES) / 4];
        for (word, place) in words.iter_mut().zip(head.chunks_exact(4)) {
            *word = u32::from_le_bytes(place.try_into().ok()?);
        }
        let [MAGIC, VERSION, thing, ra, rb, ba, bb, node, bank, flags, kind, oa, ob, shared @ .., length] =
            words
        else {
            return None;
        };
        let id = tail.get(..usize::try_from(length).ok()?)?;
        Some(Self {
            thing: match thing {
                1 => Thing::Signal,
                2 => Thing::Memory,
                _ => return None,
            },
            requested: whole(ra, rb),
            bytes: whole(ba, bb),
            driver: String::from_utf8(id.to_vec()).ok()?,
            node,
            bank,
            flags,
            shared: api::SharedHandle {
                kind: api::ExportKind(kind),
                reserved: 0,
                offset: whole(oa, ob),
                words: shared,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Name = Name {
        thing: Thing::Signal,
        server: 0x0123_4567_89ab_cdef,
        secret: 0xfedc_ba98_7654_3210,
    };

    #[test]
    fn a_name_survives_its_words() {
        assert_eq!(Name::of_words(NAME.words()), Some(NAME));
    }

    #[test]
    fn words_that_are_no_name_are_none() {
        assert_eq!(Name::of_words([0; 8]), None);
        assert_eq!(Name::of_words([u32::MAX; 8]), None);
        for changed in [0, 1, 2, 7] {
            let mut words = NAME.words();
            words[changed] ^= 0x40;
            assert_eq!(Name::of_words(words), None, "word {changed}");
        }
    }

    fn offer() -> Offer {
        Offer {
            thing: Thing::Memory,
            requested: 5000,
            bytes: 1 << 40,
            driver: "org.example.driver".into(),
            node: 3,
            bank: 1,
            flags: 4,
            shared: api::SharedHandle {
                kind: api::ExportKind::IPC,
                reserved: 0,
                offset: 4096,
                words: [1, 2, 3, 4, 5, 6, 7, u32::MAX],
            },
        }
    }

    #[test]
    fn an_answer_survives_its_bytes() {
        let bytes = offer().encode().unwrap();
        assert_eq!(Offer::decode(&bytes), Some(offer()));
    }

    #[test]
    fn an_answer_that_is_cut_or_changed_is_none() {
        let bytes = offer().encode().unwrap();
        assert_eq!(Offer::decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Offer::decode(&[]), None);
        let length = Offer::BYTES - ID_BYTES - 4;
        for (at, value) in [(0, 0), (4, 9), (8, 3), (length, 200), (length + 4, 0xff)] {
            let mut bytes = bytes;
            bytes[at] = value;
            assert_eq!(Offer::decode(&bytes), None, "byte {at}");
        }
    }

    #[test]
    fn an_id_that_does_not_fit_is_not_sent() {
        let long = Offer {
            driver: "x".repeat(ID_BYTES + 1),
            ..offer()
        };
        assert_eq!(long.encode(), None);
    }
}
