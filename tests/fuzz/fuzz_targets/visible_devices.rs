//! Variables that choose and rename devices: `ROCR_VISIBLE_DEVICES`, `HSA_OVERRIDE_GFX_VERSION`, `HSA_CU_MASK`.
#![no_main]

use hansa_core::config::{CuMask, GfxVersion, VisibleDevices};
use libfuzzer_sys::fuzz_target;

const IDS: [u64; 5] = [0x4a00_0000_0000_0001, 0x4a00_0000_0000_0002, 0, u64::MAX, 0x4a];

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for count in 0..=IDS.len() {
        let visible = VisibleDevices::parse(&text).choose(&IDS[..count]);
        let mut chosen = visible.gpus.clone();
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen.len(), visible.gpus.len(), "no GPU twice");
        assert!(chosen.iter().all(|gpu| *gpu < count), "every GPU is there");
        let tokens = text.split(',').count();
        assert!(visible.stopped_at.is_some() || text.trim().is_empty() || chosen.len() == tokens);
    }
    if let Some(version) = GfxVersion::parse(&text) {
        assert_eq!(GfxVersion::parse(&version.to_string()), Some(version));
    }
    if let Some(mask) = CuMask::parse(&text) {
        for gpu in 0..8 {
            assert!(mask
                .of(gpu)
                .is_none_or(|words| words.iter().any(|word| *word != 0)));
        }
    }
});
