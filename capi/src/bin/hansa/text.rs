//! Numbers for people.

/// Bytes in the largest binary unit that leaves no more than four digits.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count;
    let mut rest = 0;
    let mut unit = 0;
    while value >= 1024 && unit + 1 < UNITS.len() {
        rest = value % 1024;
        value /= 1024;
        unit += 1;
    }
    if rest == 0 || value >= 100 {
        format!("{value} {}", UNITS[unit])
    } else {
        format!("{value}.{} {}", rest * 10 / 1024, UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_shown_in_a_fitting_unit() {
        assert_eq!(super::bytes(0), "0 B");
        assert_eq!(super::bytes(65536), "64 KiB");
        assert_eq!(super::bytes(8 << 30), "8 GiB");
        assert_eq!(super::bytes((3 << 30) / 2), "1.5 GiB");
    }
}
