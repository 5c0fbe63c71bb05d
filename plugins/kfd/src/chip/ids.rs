//! PCI device numbers of chips, for kernels that do not report `gfx_target_version`.
//!
//! Source: the kernel's list of supported devices (`amdgpu_drv.c`) and chip names; first and last number of each
//! run of numbers.

use super::Target;

const RUNS: [(u32, u32, Target); 43] = [
    (0x9870, 0x9877, Target::new(8, 0, 1)),
    (0x6920, 0x693f, Target::new(8, 0, 2)),
    (0x7300, 0x730f, Target::new(8, 0, 3)),
    (0x67c0, 0x67ff, Target::new(8, 0, 3)),
    (0x6980, 0x699f, Target::new(8, 0, 3)),
    (0x694c, 0x694f, Target::new(8, 0, 3)),
    (0x98e4, 0x98e4, Target::new(8, 1, 0)),
    (0x6860, 0x687f, Target::new(9, 0, 0)),
    (0x15dd, 0x15dd, Target::new(9, 0, 2)),
    (0x15d8, 0x15d8, Target::new(9, 0, 2)),
    (0x69a0, 0x69af, Target::new(9, 0, 4)),
    (0x66a0, 0x66af, Target::new(9, 0, 6)),
    (0x738c, 0x738c, Target::new(9, 0, 8)),
    (0x7388, 0x7388, Target::new(9, 0, 8)),
    (0x738e, 0x7390, Target::new(9, 0, 8)),
    (0x7408, 0x7410, Target::new(9, 0, 10)),
    (0x1636, 0x1638, Target::new(9, 0, 12)),
    (0x164c, 0x164c, Target::new(9, 0, 12)),
    (0x15e7, 0x15e7, Target::new(9, 0, 12)),
    (0x74a0, 0x74bd, Target::new(9, 4, 2)),
    (0x7310, 0x731f, Target::new(10, 1, 0)),
    (0x7360, 0x7362, Target::new(10, 1, 1)),
    (0x7340, 0x734f, Target::new(10, 1, 2)),
    (0x13f9, 0x13fe, Target::new(10, 1, 3)),
    (0x73a0, 0x73bf, Target::new(10, 3, 0)),
    (0x73c0, 0x73df, Target::new(10, 3, 1)),
    (0x73e0, 0x73ff, Target::new(10, 3, 2)),
    (0x163f, 0x163f, Target::new(10, 3, 3)),
    (0x7420, 0x743f, Target::new(10, 3, 4)),
    (0x164d, 0x164d, Target::new(10, 3, 5)),
    (0x1681, 0x1681, Target::new(10, 3, 5)),
    (0x13c0, 0x13c0, Target::new(10, 3, 6)),
    (0x164e, 0x164e, Target::new(10, 3, 6)),
    (0x7440, 0x744f, Target::new(11, 0, 0)),
    (0x7450, 0x745f, Target::new(11, 0, 0)),
    (0x7460, 0x747f, Target::new(11, 0, 1)),
    (0x7480, 0x749f, Target::new(11, 0, 2)),
    (0x15bf, 0x15c8, Target::new(11, 0, 3)),
    (0x150e, 0x150e, Target::new(11, 5, 0)),
    (0x1586, 0x1586, Target::new(11, 5, 1)),
    (0x1114, 0x1114, Target::new(11, 5, 2)),
    (0x7590, 0x759f, Target::new(12, 0, 0)),
    (0x7550, 0x755f, Target::new(12, 0, 1)),
];

/// The processor of a PCI device.
#[must_use]
pub fn by_device_id(device_id: u32) -> Option<Target> {
    RUNS.iter()
        .find(|(first, last, _)| (*first..=*last).contains(&device_id))
        .map(|(.., target)| *target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_do_not_overlap_and_name_known_chips() {
        for (i, (first, last, target)) in RUNS.iter().enumerate() {
            assert!(first <= last && target.chip().is_some(), "{first:#x}");
            for (other_first, other_last, _) in &RUNS[..i] {
                assert!(
                    last < other_first || other_last < first,
                    "{first:#x} and {other_first:#x}"
                );
            }
        }
    }

    /// Device numbers of the published topologies, with the processor that their newer kernels report.
    #[test]
    fn published_devices_are_found() {
        let rows = [
            (26720, 90_000),
            (26287, 90_006),
            (29580, 90_008),
            (29679, 100_302),
            (29772, 110_000),
            (29833, 110_002),
            (29858, 90_402),
        ];
        for (id, version) in rows {
            assert_eq!(by_device_id(id), Target::of_version(version), "{id:#x}");
        }
        assert_eq!(by_device_id(0), None);
    }
}
