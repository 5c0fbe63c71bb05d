//! 64-bit values as two words, the lower one first, as packets, descriptors and handles for other processes have them.

/// The words of a value.
pub(crate) const fn halves(value: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_word_is_first() {
        assert_eq!(halves(0x1_8000_0002), [0x8000_0002, 1]);
    }
}
