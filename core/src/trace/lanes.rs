//! Rows of a track: what happens at the same time stands in rows of its own, for a row's slices must not overlap.

/// The rows of one track, each with the time at which its last slice ended.
#[derive(Debug, Default)]
pub(super) struct Lanes(Vec<u64>);

impl Lanes {
    /// The first row that is free from `start` on; it is taken until `end`.
    pub(super) fn take(&mut self, start: u64, end: u64) -> usize {
        let free = self.0.iter().position(|&last| last <= start);
        let lane = free.unwrap_or_else(|| {
            self.0.push(0);
            self.0.len() - 1
        });
        self.0[lane] = end;
        lane
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_stands_in_different_rows() {
        let mut lanes = Lanes::default();
        assert_eq!(lanes.take(0, 10), 0);
        assert_eq!(lanes.take(5, 20), 1);
        assert_eq!(lanes.take(10, 12), 0);
        assert_eq!(lanes.take(11, 12), 2);
        assert_eq!(lanes.take(20, 21), 0);
    }
}
