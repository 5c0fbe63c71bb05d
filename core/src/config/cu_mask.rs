//! `HSA_CU_MASK`: which compute units the queues of a GPU may use.
//!
//! `gpus:cus`, several of them separated by semicolons. GPUs are a list of numbers and ranges such
//! as `0,2-4`, counted after `ROCR_VISIBLE_DEVICES`; compute units are such a list or one
//! hexadecimal mask such as `0xff0`. Blanks do not count. The first malformed part ends the text
//! there. A mask without a bit, and a GPU or unit named twice, are malformed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::sync::Arc;

use toml_edit::Item;

use super::value::{quoted, Dialect, Value};

/// The highest number a list may name: more than any device has, and no invitation to allocate.
const HIGHEST: u32 = 65_535;

/// Masks of compute units by GPU index, 32 units to a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CuMask {
    /// GPUs that stand side by side in the text share their mask.
    masks: BTreeMap<u32, Arc<[u32]>>,
    text: String,
}

impl CuMask {
    /// Reads the text; `None` when not even its first part is well formed.
    pub fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut masks = BTreeMap::new();
        for part in text.split(';') {
            let Some((gpus, mask)) = part
                .split_once(':')
                .and_then(|(gpus, cus)| Some((list(gpus)?, mask(cus)?)))
            else {
                break;
            };
            if gpus.iter().any(|gpu| masks.contains_key(gpu)) {
                break;
            }
            let mask: Arc<[u32]> = mask.into();
            masks.extend(gpus.into_iter().map(|gpu| (gpu, Arc::clone(&mask))));
        }
        (!masks.is_empty()).then_some(Self { masks, text })
    }

    /// The mask for the GPU with this index.
    pub fn of(&self, gpu: u32) -> Option<&[u32]> {
        self.masks.get(&gpu).map(|mask| &**mask)
    }
}

fn list(text: &str) -> Option<BTreeSet<u32>> {
    let mut numbers = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last || !(first..=last).all(|n| numbers.insert(n)) {
            return None;
        }
    }
    Some(numbers)
}

fn number(text: &str) -> Option<u32> {
    text.bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
        .filter(|n| *n <= HIGHEST)
}

fn mask(text: &str) -> Option<Vec<u32>> {
    let words = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => hexadecimal(digits)?,
        None => {
            let units = list(text)?;
            let mut words = vec![0; units.last().map_or(0, |unit| *unit as usize / 32 + 1)];
            for unit in units {
                words[unit as usize / 32] |= 1 << (unit % 32);
            }
            words
        }
    };
    words.iter().any(|word| *word != 0).then_some(words)
}

fn hexadecimal(digits: &str) -> Option<Vec<u32>> {
    if digits.is_empty()
        || digits.len() > HIGHEST as usize / 4
        || !digits.bytes().all(|b| b.is_ascii_hexdigit())
    {
        return None;
    }
    let words = digits.as_bytes().rchunks(8).map(|chunk| {
        let chunk = std::str::from_utf8(chunk).ok()?;
        u32::from_str_radix(chunk, 16).ok()
    });
    words.collect()
}

impl Value for Option<CuMask> {
    const FORM: &'static str = "gpus:units, such as 0,2-3:0-15;1:0xff";

    fn from_item(item: &Item) -> Option<Self> {
        CuMask::parse(item.as_str()?).map(Some)
    }

    fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
        CuMask::parse(text.to_str()?).map(Some)
    }

    fn show(&self) -> String {
        quoted(self.as_ref().map_or("all", |mask| &mask.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_and_masks() {
        let mask = CuMask::parse("0, 2-3 : 0-3,33 ; 1:0x1000000ff").unwrap();
        assert_eq!(mask.of(0), Some(&[0xf, 0x2][..]));
        assert_eq!(mask.of(3), mask.of(2));
        assert_eq!(mask.of(1), Some(&[0xff, 0x1][..]));
        assert_eq!(mask.of(4), None);
    }

    /// A short text is no reason for much work or much memory.
    #[test]
    fn everything_of_every_gpu_is_cheap() {
        let halves = "0-32767,32768-65535";
        let begun = std::time::Instant::now();
        let mask = CuMask::parse(&format!("{halves}:{halves}")).unwrap();
        assert_eq!(mask.of(65_535), Some(&[u32::MAX; 2048][..]));
        let [first, last] = [0, 65_535].map(|gpu| mask.of(gpu).unwrap().as_ptr());
        assert_eq!(first, last, "the mask is there once");
        assert!(begun.elapsed().as_secs() < 30);
        assert_eq!(CuMask::parse(&format!("{halves},7:1")), None);
    }

    #[test]
    fn the_first_malformed_part_ends_the_text() {
        let mask = CuMask::parse("0:1;1:0x0;2:1").unwrap();
        assert_eq!((mask.of(0), mask.of(1), mask.of(2)), (Some(&[2][..]), None, None));
        assert_eq!(CuMask::parse("0:1;0:2").unwrap().of(0), Some(&[2][..]));
    }

    #[test]
    fn nothing_well_formed_is_nothing() {
        for bad in [
            "",
            "0",
            ":",
            "0:",
            ":0",
            "0:5-2",
            "0:1,1",
            "0,0:1",
            "0:0x",
            "0:99999999999",
            "a:1",
            "0:0xg",
        ] {
            assert_eq!(CuMask::parse(bad), None, "{bad}");
        }
    }
}
