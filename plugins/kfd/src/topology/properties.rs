//! The kernel's text of names and values.
//!
//! Each line is a name, a space and a number in decimal (`drivers/gpu/drm/amd/amdkfd/kfd_topology.c`). Keys come
//! and go with kernel versions; an absent key has a default, an unknown one is not looked at, and a line that is
//! no such pair is left out and reported.

use std::collections::HashMap;

/// Most bytes of a file that are looked at; the kernel's files are below one page, cache lists below a few.
const MOST_BYTES: usize = 1 << 16;

/// The pairs of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    values: HashMap<String, u64>,
    /// Lines that are no pair of a name and a number, at most a few.
    pub strange: Vec<String>,
}

impl<'a> FromIterator<(&'a str, u64)> for Properties {
    /// Pairs that come from elsewhere than the kernel's text.
    fn from_iter<I: IntoIterator<Item = (&'a str, u64)>>(pairs: I) -> Self {
        Self {
            values: pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
            strange: Vec::new(),
        }
    }
}

impl Properties {
    /// Reads a file's bytes. Never fails: what makes no sense is in `strange`.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]);
        let mut properties = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut words = line.split_ascii_whitespace();
            let name = words.next().unwrap_or_default();
            let value = words.next().unwrap_or_default();
            // A list (`sibling_map`) begins with a number and goes on with a comma.
            let number = value.split(',').next().unwrap_or_default();
            match number.parse() {
                Ok(number) => {
                    properties.values.insert(name.to_owned(), number);
                }
                Err(_) if properties.strange.len() < 4 => {
                    properties.strange.push(line.chars().take(80).collect());
                }
                Err(_) => {}
            }
        }
        properties
    }

    /// Whether nothing could be read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of a key, if the kernel has it.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<u64> {
        self.values.get(key).copied()
    }

    /// The value of a key, or 0.
    #[must_use]
    pub fn get64(&self, key: &str) -> u64 {
        self.find(key).unwrap_or(0)
    }

    /// The value of a key that has 32 bits, or 0 when it is absent or does not fit.
    #[must_use]
    pub fn get(&self, key: &str) -> u32 {
        u32::try_from(self.get64(key)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_and_absent_keys_are_zero() {
        let p = Properties::parse(b"simd_count 256\nunique_id 14414708411533731718\n\nsibling_map 1,0,0\n");
        assert_eq!(p.get("simd_count"), 256);
        assert_eq!(p.get64("unique_id"), 14_414_708_411_533_731_718);
        assert_eq!(p.get("sibling_map"), 1);
        assert_eq!((p.get("num_xcc"), p.find("num_xcc")), (0, None));
        assert!(p.strange.is_empty());
    }

    #[test]
    fn what_is_no_number_is_reported_and_the_rest_counts() {
        let p = Properties::parse(b"size_in_bytes 2.52761e+10\nwidth -1\n\xff\xfe\nmem_clk_max 945\n");
        assert_eq!(p.get64("size_in_bytes"), 0);
        assert_eq!(p.get("mem_clk_max"), 945);
        assert_eq!(p.strange.len(), 3);
    }

    #[test]
    fn a_number_that_does_not_fit_is_not_cut() {
        let p = Properties::parse(b"simd_count 4294967552\n");
        assert_eq!(p.get("simd_count"), 0);
    }
}
