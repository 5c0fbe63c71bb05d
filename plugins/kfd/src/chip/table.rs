//! One row for each processor.

use super::Target;
use hansa_plugin_api::EngineFamily;

/// What a chip is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// The processor.
    pub target: Target,
    /// Registers and caches can be error-correcting.
    pub sram_ecc: bool,
    /// Memory faults can be replayed.
    pub xnack: bool,
    /// Bytes of vector registers of one compute unit.
    pub vector_register_bytes: u32,
    /// Bytes of the end-of-pipe buffer of an AQL queue; 0 when it has none.
    pub aql_eop_bytes: u32,
    /// The queue scheduler is in firmware, and reads queue indices through its own address space: they must lie in
    /// memory that the kernel allocated.
    pub firmware_scheduler: bool,
    /// Has texture units.
    pub images: bool,
    /// Packet language of its copy engines.
    pub engines: EngineFamily,
}

const fn row(major: u8, minor: u8, step: u8) -> Chip {
    Chip {
        target: Target::new(major, minor, step),
        sram_ecc: false,
        xnack: false,
        vector_register_bytes: 0x4_0000,
        aql_eop_bytes: 4096,
        firmware_scheduler: major >= 11,
        images: true,
        engines: match major {
            0..=8 => EngineFamily::SDMA_3,
            9 => EngineFamily::SDMA_4,
            10 => EngineFamily::SDMA_5,
            11 => EngineFamily::SDMA_6,
            _ => EngineFamily::SDMA_7,
        },
    }
}

const fn replay(chip: Chip) -> Chip {
    Chip { xnack: true, ..chip }
}

const fn ecc(chip: Chip) -> Chip {
    Chip {
        sram_ecc: true,
        xnack: true,
        ..chip
    }
}

/// The accelerators with twice the vector registers.
const fn wide(chip: Chip) -> Chip {
    Chip {
        vector_register_bytes: 0x8_0000,
        ..ecc(chip)
    }
}

/// gfx94x and gfx950: no texture units, no end-of-pipe buffer for AQL.
const fn accelerator(chip: Chip) -> Chip {
    Chip {
        aql_eop_bytes: 0,
        images: false,
        ..wide(chip)
    }
}

/// The gfx11 and gfx12 chips with half again as many vector registers.
const fn large(chip: Chip) -> Chip {
    Chip {
        vector_register_bytes: 0x6_0000,
        ..chip
    }
}

/// Every chip.
pub const CHIPS: [Chip; 38] = [
    replay(row(8, 0, 1)),
    // Tonga's end-of-pipe buffer is larger.
    Chip {
        aql_eop_bytes: 0x8000,
        ..row(8, 0, 2)
    },
    row(8, 0, 3),
    row(8, 0, 5),
    replay(row(8, 1, 0)),
    replay(row(9, 0, 0)),
    replay(row(9, 0, 2)),
    replay(row(9, 0, 4)),
    ecc(row(9, 0, 6)),
    wide(row(9, 0, 8)),
    replay(row(9, 0, 9)),
    wide(row(9, 0, 10)),
    replay(row(9, 0, 12)),
    accelerator(row(9, 4, 0)),
    accelerator(row(9, 4, 1)),
    accelerator(row(9, 4, 2)),
    Chip {
        aql_eop_bytes: 4096,
        ..accelerator(row(9, 5, 0))
    },
    replay(row(10, 1, 0)),
    replay(row(10, 1, 1)),
    replay(row(10, 1, 2)),
    replay(row(10, 1, 3)),
    row(10, 3, 0),
    row(10, 3, 1),
    row(10, 3, 2),
    row(10, 3, 3),
    row(10, 3, 4),
    row(10, 3, 5),
    row(10, 3, 6),
    large(row(11, 0, 0)),
    large(row(11, 0, 1)),
    row(11, 0, 2),
    row(11, 0, 3),
    row(11, 5, 0),
    row(11, 5, 1),
    row(11, 5, 2),
    row(11, 5, 3),
    large(row(12, 0, 0)),
    large(row(12, 0, 1)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_processor_has_one_row() {
        for (i, chip) in CHIPS.iter().enumerate() {
            assert!(
                !CHIPS[..i].iter().any(|other| other.target == chip.target),
                "{} stands twice",
                chip.target
            );
        }
    }

    /// Sizes and features that must not change by accident.
    #[test]
    fn rows_say_what_the_sources_say() {
        let of = |v| Target::of_version(v).unwrap().chip().unwrap();
        assert_eq!(of(90_402).aql_eop_bytes, 0);
        assert_eq!(of(90_010).aql_eop_bytes, 4096);
        assert_eq!(of(80_002).aql_eop_bytes, 0x8000);
        assert_eq!(of(90_008).vector_register_bytes, 0x8_0000);
        assert_eq!(of(110_002).vector_register_bytes, 0x4_0000);
        assert_eq!(of(120_001).vector_register_bytes, 0x6_0000);
        assert!(of(110_000).firmware_scheduler && !of(100_302).firmware_scheduler);
        assert!(!of(90_402).images && of(90_006).images && of(90_010).images);
    }
}
