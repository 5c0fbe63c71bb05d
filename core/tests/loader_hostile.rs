//! Code objects that are damaged on purpose: each gives an error that says what and where, and none
//! a panic, a hang or an allocation the file does not justify.

mod loader_support;

use std::time::{Duration, Instant};

use hansa_core::loader::{CodeObject, ErrorKind, LoadError};
use loader_support::{Random, Recipe, EXTERNAL, VARS};

/// Everything the loader does with an object, whatever comes out.
fn exercise(bytes: &[u8]) -> bool {
    let Ok(object) = CodeObject::parse(bytes) else {
        return false;
    };
    let extent = usize::try_from(object.layout().file_extent).expect("bounded by the parser");
    let mut image = vec![0; extent.min(1 << 20)];
    object.fill(&mut image);
    let outcomes = [
        object
            .relocate(&mut image, 0x1_0000_0000, &mut |_| Some(1))
            .is_ok(),
        object.metadata().is_ok(),
        object.yaml_metadata().is_some(),
        object.kernels().count() > 0,
    ];
    outcomes.contains(&true)
}

fn patched(bytes: &[u8], offset: usize, value: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[offset..offset + value.len()].copy_from_slice(value);
    bytes
}

fn section_table(bytes: &[u8]) -> usize {
    let offset = u64::from_le_bytes(bytes[40..48].try_into().expect("8 bytes"));
    usize::try_from(offset).expect("a small file")
}

/// File offset of the first section header with a type.
fn section_header(bytes: &[u8], kind: u32) -> usize {
    (section_table(bytes)..bytes.len())
        .step_by(64)
        .find(|&at| bytes[at + 4..at + 8] == kind.to_le_bytes())
        .expect("a section of the type")
}

/// File offset of the program header with an index among those with type `PT_LOAD`.
fn load_header(bytes: &[u8], index: usize) -> usize {
    (64..bytes.len())
        .step_by(56)
        .filter(|&at| bytes[at..at + 4] == 1u32.to_le_bytes())
        .nth(index)
        .expect("a loadable segment")
}

#[test]
fn an_object_cut_short_anywhere_is_broken() {
    for version in [2, 4] {
        let Some(bytes) = (Recipe { version, ..VARS }).build() else {
            return;
        };
        for length in 0..bytes.len() {
            let error = CodeObject::parse(&bytes[..length]).expect_err("it is cut short");
            assert_eq!(error.kind(), ErrorKind::Broken, "at {length}: {error}");
        }
    }
}

#[test]
fn mutated_objects_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut survivors = 0;
    for recipe in [VARS, EXTERNAL, Recipe { version: 2, ..VARS }] {
        let Some(bytes) = recipe.build() else { return };
        for _ in 0..4000 {
            let mut mutant = bytes.clone();
            for _ in 0..=random.below(4) {
                mutate(&mut mutant, &mut random);
            }
            survivors += u32::from(exercise(&mutant));
        }
    }
    assert!(
        survivors > 1000,
        "most mutations must get past the header: {survivors}"
    );
}

/// Changes a few bytes, with a preference for headers, tables and extreme values.
fn mutate(bytes: &mut [u8], random: &mut Random) {
    let tables = section_table(bytes).min(bytes.len() - 1);
    let at = match random.below(3) {
        0 => random.below(64 + 9 * 56),
        1 => tables + random.below(bytes.len() - tables),
        _ => random.below(bytes.len()),
    };
    let width = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
    let value = match random.below(4) {
        0 => random.next(),
        1 => u64::MAX,
        2 => 0,
        _ => u64::MAX >> random.below(64),
    };
    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

#[test]
fn wrong_identifications_are_told_apart() {
    let Some(bytes) = VARS.build() else { return };
    let cases: [(usize, &[u8], ErrorKind, &str); 11] = [
        (
            0,
            b"\x7fElf",
            ErrorKind::Broken,
            "0x0: the file does not begin with the ELF magic",
        ),
        (4, &[1], ErrorKind::Broken, "0x4: the ELF class"),
        (5, &[2], ErrorKind::Broken, "0x5: the ELF data encoding"),
        (7, &[65], ErrorKind::OtherIsa, "ELF OS ABI 65"),
        (
            8,
            &[5],
            ErrorKind::Unsupported,
            "0 to 4 (code object versions 2 to 6)",
        ),
        (8, &[0], ErrorKind::Broken, "needs a version note"),
        (16, &[1, 0], ErrorKind::Broken, "link it to a shared object"),
        (18, &[62, 0], ErrorKind::OtherIsa, "224 (EM_AMDGPU) is accepted"),
        (48, &[0], ErrorKind::Unsupported, "Processor number 0x0"),
        (48, &[0xff], ErrorKind::Unsupported, "Processor number 0xff"),
        (56, &[0, 0], ErrorKind::Broken, "there is no PT_LOAD segment"),
    ];
    for (offset, value, kind, text) in cases {
        let error = CodeObject::parse(&patched(&bytes, offset, value)).expect_err(text);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn a_newer_version_note_is_not_called_broken() {
    let Some(bytes) = (Recipe { version: 2, ..VARS }).build() else {
        return;
    };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let note = usize::try_from(object.notes()[0].offset).expect("a small file");
    for major in [1, 3] {
        let error = CodeObject::parse(&patched(&bytes, note, &[major])).expect_err("not 2");
        let offset = object.notes()[0].offset;
        assert_eq!(
            error,
            LoadError::Version {
                major: major.into(),
                offset
            }
        );
    }
    let isa = usize::try_from(object.notes()[1].offset).expect("a small file");
    let error = CodeObject::parse(&patched(&bytes, isa + 4, &[10])).expect_err("gfx10");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("AMD:AMDGPU:10:0:"), "{error}");
}

#[test]
fn tables_outside_of_the_file_are_broken() {
    let Some(bytes) = VARS.build() else { return };
    let far = u64::MAX.to_le_bytes();
    let cases: [(usize, &[u8], &str); 9] = [
        (32, &far, "the program header table"),
        (40, &far, "the section header table"),
        (40, &[0; 8], "there are no section headers"),
        (58, &[63], "entries are not 64 bytes"),
        (54, &[55], "entries are not 56 bytes"),
        (section_header(&bytes, 2) + 24, &far, "a symbol table"),
        (section_header(&bytes, 2) + 40, &[0xff; 4], "a symbol table"),
        (section_header(&bytes, 4) + 24, &far, "a relocation section"),
        (
            section_header(&bytes, 4) + 40,
            &[0xff; 4],
            "a symbol table's section index",
        ),
    ];
    for (offset, value, text) in cases {
        let error = CodeObject::parse(&patched(&bytes, offset, value)).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Broken, "{error}");
        assert!(error.to_string().contains(text), "{text}: {error}");
    }
}

#[test]
fn segments_must_be_in_order_and_within_reach_of_the_file() {
    let Some(bytes) = VARS.build() else { return };
    let (first, second) = (load_header(&bytes, 0), load_header(&bytes, 1));
    let cases: [(usize, u64, &str); 6] = [
        (second + 16, 0, "overlap or are not in ascending order"),
        (second + 16, 1 << 40, "overlap or are not in ascending order"),
        (second + 8, 1 << 40, "beyond the end of the file"),
        (second + 40, 0, "larger in the file than in memory"),
        (second + 40, u64::MAX, "wraps around the address space"),
        (first + 40, u64::MAX, "overlap or are not in ascending order"),
    ];
    for (offset, value, text) in cases {
        let changed = patched(&bytes, offset, &value.to_le_bytes());
        let error = CodeObject::parse(&changed).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Broken, "{error}");
        assert!(error.to_string().contains(text), "{text}: {error}");
    }
}

#[test]
fn segments_far_apart_are_refused_but_a_large_zero_tail_is_not() {
    let Some(bytes) = VARS.build() else { return };
    let mut far = bytes.clone();
    let last = load_header(&bytes, 3);
    far[last + 16..last + 24].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let error = CodeObject::parse(&far).expect_err("a terabyte apart");
    assert!(error.to_string().contains("further apart"), "{error}");

    let tail = patched(&bytes, last + 40, &(1u64 << 40).to_le_bytes());
    let layout = CodeObject::parse(&tail).expect("a terabyte of zeroes").layout();
    assert!(layout.size > 1 << 40);
    assert!(layout.file_extent < 1 << 20);
}

#[test]
fn a_terabyte_of_relocations_or_symbols_costs_nothing() {
    let Some(bytes) = VARS.build() else { return };
    let start = Instant::now();
    for kind in [2, 4, 11] {
        let size = section_header(&bytes, kind) + 32;
        let huge = patched(&bytes, size, &(24u64 << 36).to_le_bytes());
        assert!(CodeObject::parse(&huge).is_err());
    }
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn relocations_the_loader_does_not_know_are_refused() {
    let Some(bytes) = VARS.build() else { return };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let record = usize::try_from(object.relocations()[0].file_offset).expect("a small file");
    let cases: [(usize, &[u8], &str); 3] = [
        (record + 8, &[4], "type is not one of 1, 2, 3, 6 and 13"),
        (record + 12, &[0xff; 4], "symbol index is out of range"),
        (record, &[0xff; 8], "place lies outside"),
    ];
    for (offset, value, text) in cases {
        let error = CodeObject::parse(&patched(&bytes, offset, value)).expect_err(text);
        let LoadError::Broken { reason, offset } = error else {
            panic!("{error}")
        };
        assert!(reason.contains(text), "{reason}");
        assert_eq!(usize::try_from(offset), Ok(record));
    }
}

#[test]
fn every_kind_of_relocation_stores_its_part_of_the_address() {
    let Some(bytes) = VARS.build() else { return };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let first = object.relocations()[0];
    let record = usize::try_from(first.file_offset).expect("a small file");
    let place = usize::try_from(first.address).expect("a small image");
    let base = 0x1234_5678_9000_0000;
    let apply = |kind: u8| {
        let mut changed = patched(&bytes, record + 8, &[kind]);
        changed[record + 16..record + 24].copy_from_slice(&(-16i64).to_le_bytes());
        let object = CodeObject::parse(&changed).expect("a known relocation");
        let mut image = vec![0; usize::try_from(object.layout().size).expect("small")];
        object.relocate(&mut image, base, &mut |_| None)?;
        let word: [u8; 8] = image[place..place + 8].try_into().expect("8 bytes");
        Ok::<u64, LoadError>(u64::from_le_bytes(word))
    };
    let symbol = object
        .symbols()
        .iter()
        .find(|symbol| first.target == hansa_core::loader::RelocationTarget::Address(symbol.address));
    let value = base + symbol.expect("a variable").address - 16;
    assert_eq!(apply(1), Ok(value & 0xffff_ffff));
    assert_eq!(apply(2), Ok(value >> 32));
    assert_eq!(apply(3), Ok(value));
    assert_eq!(apply(13), Ok(base - 16));
    let error = apply(6).expect_err("the address has more than 32 bits");
    assert!(error.to_string().contains("32-bit relocation"), "{error}");
}

#[test]
fn a_kernel_descriptor_must_lie_in_the_file_and_point_into_the_code() {
    let Some(bytes) = VARS.build() else { return };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let kernel = *object.symbol("touch.kd").expect("touch.kd");
    let rodata = object.segments()[0];
    let entry = usize::try_from(kernel.address - rodata.address + 16).expect("a small file");
    let astray = patched(&bytes, entry, &i64::MAX.to_le_bytes());
    let error = CodeObject::parse(&astray).expect_err("the entry is nowhere");
    assert!(
        error.to_string().contains("first instruction lies outside"),
        "{error}"
    );
}

#[test]
fn metadata_that_is_not_msgpack_does_not_keep_an_object_from_loading() {
    let Some(bytes) = VARS.build() else { return };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let note = usize::try_from(object.notes()[0].offset).expect("a small file");
    // Not a map, an endless map, and nesting without an end.
    for damage in [&[0xc0u8][..], &[0xdf, 0xff, 0xff, 0xff, 0xff], &[0x91; 100]] {
        let damaged = patched(&bytes, note, damage);
        let object = CodeObject::parse(&damaged).expect("metadata is not needed");
        let error = object.metadata().expect_err("damaged metadata");
        assert_eq!(error.kind(), ErrorKind::Broken);
    }
}
