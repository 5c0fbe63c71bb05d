//! Code objects as a compiler makes them: what is read from them is what LLVM's own tools read.

mod loader_support;

use std::process::Command;

use hansa_core::loader::{
    CodeObject, Isa, LoadError, ObjectSymbolKind, RelocationKind, RelocationTarget, Version,
};
use loader_support::{run, scratch_file, Recipe, EXTERNAL, VARS};

fn names<'a>(object: &'a CodeObject<'_>) -> Vec<&'a str> {
    object.symbols().iter().map(|symbol| symbol.name).collect()
}

fn isa(object: &CodeObject<'_>) -> String {
    object.target().isa.to_string()
}

fn readelf(bytes: &[u8], options: &[&str]) -> Option<String> {
    let file = scratch_file("readelf.co");
    std::fs::write(&file, bytes).expect("the scratch file can be written");
    let mut command = Command::new("llvm-readelf-15");
    command.args(options).arg(&file);
    let text = run(command);
    std::fs::remove_file(&file).expect("the scratch file can be removed");
    text
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a hexadecimal number")
}

#[test]
fn versions_2_to_5_are_recognised_with_their_target() {
    let cases: [(u32, &str, &str); 10] = [
        (2, "gfx900:xnack-", "gfx900:xnack-"),
        (2, "gfx900:xnack+", "gfx900:xnack+"),
        (3, "gfx900:xnack-", "gfx900:xnack-"),
        (3, "gfx900:xnack+", "gfx900:xnack+"),
        (4, "gfx900", "gfx900"),
        (4, "gfx900:xnack-", "gfx900:xnack-"),
        (4, "gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-"),
        (5, "gfx906:sramecc-", "gfx906:sramecc-"),
        (5, "gfx1030", "gfx1030"),
        (5, "gfx1100", "gfx1100"),
    ];
    for (version, cpu, expected) in cases {
        let recipe = Recipe { cpu, version, ..VARS };
        let Some(bytes) = recipe.build() else { return };
        let object = CodeObject::parse(&bytes).expect(expected);
        let minor = u32::from(version == 2);
        assert_eq!(
            object.version(),
            Version {
                major: version,
                minor
            }
        );
        assert_eq!(isa(&object), format!("amdgcn-amd-amdhsa--{expected}"));
    }
}

#[test]
fn version_6_reads_the_generic_target_and_its_version() {
    let Some(mut bytes) = (Recipe { version: 5, ..VARS }).build() else {
        return;
    };
    bytes[8] = 4;
    bytes[48..52].copy_from_slice(&0x0300_0251u32.to_le_bytes());
    let object = CodeObject::parse(&bytes).expect("a version 6 object");
    assert_eq!(object.version().to_string(), "6.0");
    assert_eq!(isa(&object), "amdgcn-amd-amdhsa--gfx9-generic:xnack-");
    assert_eq!(object.target().generic_version, 3);
}

#[test]
fn kernels_and_variables_have_the_attributes_of_the_source() {
    for version in [3, 4, 5] {
        let Some(bytes) = (Recipe { version, ..VARS }).build() else {
            return;
        };
        let object = CodeObject::parse(&bytes).expect("a whole object");
        let mut all = names(&object);
        all.sort_unstable();
        assert_eq!(all, ["counter", "reduce.kd", "table", "touch.kd", "weights"]);
        let find = |name| *object.symbol(name).expect(name);
        let ObjectSymbolKind::Kernel(reduce) = find("reduce.kd").kind else {
            panic!("no kernel")
        };
        assert!(reduce.kernarg_size >= 28, "{reduce:?}");
        assert_eq!((reduce.kernarg_alignment, reduce.wavefront_size), (16, 64));
        assert_eq!(reduce.group_size, 1024);
        assert!(reduce.private_size >= 65 * 4, "{reduce:?}");
        assert_eq!(
            find("counter").kind,
            ObjectSymbolKind::Variable { is_const: false }
        );
        assert_eq!(
            find("weights").kind,
            ObjectSymbolKind::Variable { is_const: true }
        );
        assert_eq!((find("counter").size, find("counter").alignment % 4), (4, 0));
        assert_eq!((find("table").size, find("table").alignment % 8), (128, 0));
        assert_eq!(find("weights").size, 16);
    }
}

#[test]
fn wave32_is_read_from_the_descriptor() {
    for (options, lanes) in [(&["-mno-wavefrontsize64"][..], 32), (&["-mwavefrontsize64"], 64)] {
        let Some(bytes) = (Recipe {
            cpu: "gfx1030",
            options,
            ..VARS
        })
        .build() else {
            return;
        };
        let object = CodeObject::parse(&bytes).expect("a whole object");
        for kernel in object.kernels() {
            let ObjectSymbolKind::Kernel(kernel) = kernel.kind else {
                panic!("no kernel")
            };
            assert_eq!(kernel.wavefront_size, lanes);
        }
    }
}

#[test]
fn version_2_kernels_are_the_symbols_of_type_10() {
    let Some(bytes) = (Recipe { version: 2, ..VARS }).build() else {
        return;
    };
    let object = CodeObject::parse(&bytes).expect("a version 2 object");
    let kernels: Vec<_> = object.kernels().map(|kernel| kernel.name).collect();
    assert_eq!(kernels, ["touch", "reduce"]);
    let ObjectSymbolKind::Kernel(touch) = object.symbol("touch").expect("touch").kind else {
        panic!("no kernel")
    };
    assert_eq!(touch.entry_offset, 256);
    assert_eq!((touch.kernarg_alignment, touch.wavefront_size), (16, 64));
    let ObjectSymbolKind::Kernel(reduce) = object.symbol("reduce").expect("reduce").kind else {
        panic!("no kernel")
    };
    assert_eq!(reduce.group_size, 1024);
    let yaml = object.yaml_metadata().expect("the metadata note");
    assert!(yaml.contains("SymbolName:      'touch@kd'"), "{yaml}");
    assert_eq!(object.metadata(), Ok(None));
}

#[test]
fn segments_symbols_and_notes_are_those_of_readelf() {
    for version in [2, 4] {
        let Some(bytes) = (Recipe { version, ..VARS }).build() else {
            return;
        };
        let object = CodeObject::parse(&bytes).expect("a whole object");

        let Some(text) = readelf(&bytes, &["--program-headers", "--wide"]) else {
            return;
        };
        let expected: Vec<Vec<u64>> = text
            .lines()
            .filter(|line| line.trim_start().starts_with("LOAD"))
            .map(|line| line.split_whitespace().skip(1).take(5).map(hex).collect())
            .collect();
        let found: Vec<Vec<u64>> = object
            .segments()
            .iter()
            .map(|segment| {
                let file_size = u64::try_from(segment.bytes.len()).expect("a small file");
                vec![
                    segment.file_offset,
                    segment.address,
                    segment.address,
                    file_size,
                    segment.size,
                ]
            })
            .collect();
        assert_eq!(found, expected);
        let (first, last) = (&expected[0], &expected[expected.len() - 1]);
        assert_eq!(object.layout().size, last[1] + last[4] - first[1]);
        assert_eq!(object.layout().align, 256);

        let text = readelf(&bytes, &["--symbols", "--wide"]).expect("readelf ran before");
        let (_, symtab) = text.split_once("'.symtab'").expect("a .symtab");
        let expected: Vec<(String, u64, u64)> = symtab
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .filter(|row| row.len() == 8 && matches!(row[3], "OBJECT" | "AMDGPU_HSA_KERNEL"))
            .map(|row| (row[7].to_owned(), hex(row[1]), row[2].parse().expect("a size")))
            .collect();
        let found: Vec<(String, u64, u64)> = object
            .symbols()
            .iter()
            .map(|symbol| (symbol.name.to_owned(), symbol.address, symbol.size))
            .collect();
        assert_eq!(found, expected);

        let text = readelf(&bytes, &["--notes", "--wide"]).expect("readelf ran before");
        let expected: Vec<(String, usize)> = text
            .lines()
            .filter(|line| line.contains("NT_"))
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .map(|row| (row[0].to_owned(), usize::try_from(hex(row[1])).expect("a size")))
            .collect();
        let found: Vec<(String, usize)> = object
            .notes()
            .iter()
            .map(|note| {
                (
                    String::from_utf8_lossy(note.owner).into_owned(),
                    note.contents.len(),
                )
            })
            .collect();
        assert_eq!(found, expected);
        for note in object.notes() {
            let start = usize::try_from(note.offset).expect("a small file");
            assert_eq!(&bytes[start..start + note.contents.len()], note.contents);
        }
    }
}

#[test]
fn a_stripped_object_still_has_its_symbols() {
    let recipe = Recipe {
        options: &["-Wl,--strip-all"],
        ..VARS
    };
    let Some(bytes) = recipe.build() else { return };
    let object = CodeObject::parse(&bytes).expect("a stripped object");
    let mut all = names(&object);
    all.sort_unstable();
    assert_eq!(all, ["counter", "reduce.kd", "table", "touch.kd", "weights"]);
}

#[test]
fn metadata_lists_kernels_with_their_arguments() {
    let recipe = Recipe {
        version: 5,
        options: &["-cl-kernel-arg-info"],
        ..VARS
    };
    let Some(bytes) = recipe.build() else {
        return;
    };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let metadata = object
        .metadata()
        .expect("valid msgpack")
        .expect("a metadata note");
    assert_eq!(metadata.version, [1, 2]);
    assert_eq!(metadata.target.as_deref(), Some("amdgcn-amd-amdhsa--gfx900"));
    let reduce = &metadata.kernels[1];
    assert_eq!((&*reduce.name, &*reduce.symbol), ("reduce", "reduce.kd"));
    assert_eq!(reduce.required_workgroup_size, [64, 2, 1]);
    assert_eq!(reduce.language.as_deref(), Some("OpenCL C"));
    assert_eq!(reduce.wavefront_size, Some(64));
    let explicit: Vec<_> = reduce
        .args
        .iter()
        .filter(|arg| !arg.value_kind.starts_with("hidden_"))
        .map(|arg| {
            (
                arg.name.as_deref(),
                arg.offset,
                arg.size,
                &*arg.value_kind,
                arg.is_restrict,
            )
        })
        .collect();
    assert_eq!(
        explicit,
        [
            (Some("in"), 0, 8, "global_buffer", true),
            (Some("scratch"), 8, 4, "dynamic_shared_pointer", false),
            (Some("out"), 16, 8, "global_buffer", false),
            (Some("n"), 24, 4, "by_value", false),
        ]
    );
    let ObjectSymbolKind::Kernel(kernel) = object.symbol("reduce.kd").expect("reduce").kind else {
        panic!("no kernel")
    };
    assert_eq!(reduce.kernarg_segment_size, Some(kernel.kernarg_size.into()));
    assert_eq!(reduce.group_segment_fixed_size, Some(kernel.group_size.into()));
    assert_eq!(
        reduce.private_segment_fixed_size,
        Some(kernel.private_size.into())
    );
}

#[test]
fn an_image_holds_the_segments_and_relocated_addresses() {
    let Some(bytes) = VARS.build() else { return };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let layout = object.layout();
    let mut image = vec![0xa5; usize::try_from(layout.size).expect("a small image")];
    object.fill(&mut image);
    let base = 0x7f12_3456_0000;
    object
        .relocate(&mut image, base, &mut |_| None)
        .expect("nothing is undefined");
    let word = |address: u64| {
        let at = usize::try_from(address - layout.first_address).expect("a small image");
        u64::from_le_bytes(image[at..at + 8].try_into().expect("8 bytes"))
    };
    let counter = object.symbol("counter").expect("counter");
    assert_eq!(word(counter.address) & 0xffff_ffff, 7);
    assert_eq!(word(object.symbol("table").expect("table").address), 0);
    let mut places: Vec<(u64, u64)> = Vec::new();
    for relocation in object.relocations() {
        assert_eq!((relocation.kind, relocation.addend), (RelocationKind::Abs64, 0));
        let RelocationTarget::Address(address) = relocation.target else {
            panic!("undefined")
        };
        assert_eq!(word(relocation.address), address - layout.first_address + base);
        places.push((relocation.address, address));
    }
    assert_eq!(
        places.len(),
        3,
        "one entry of the global offset table for each variable"
    );
    assert!(places.iter().any(|place| place.1 == counter.address));
}

#[test]
fn an_undefined_variable_is_resolved_by_name_or_reported() {
    let Some(bytes) = EXTERNAL.build() else { return };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let [relocation] = object.relocations() else {
        panic!("one relocation is expected")
    };
    let variable = RelocationTarget::Variable {
        name: "supplied",
        is_weak: false,
    };
    assert_eq!(relocation.target, variable);
    let mut image = vec![0; usize::try_from(object.layout().size).expect("a small image")];
    object.fill(&mut image);
    let place = usize::try_from(relocation.address).expect("a small image");
    object
        .relocate(&mut image, 0x1000, &mut |name| {
            (name == "supplied").then_some(0xdead_beef)
        })
        .expect("the variable is known");
    assert_eq!(image[place..place + 8], 0xdead_beef_u64.to_le_bytes());
    let error = object
        .relocate(&mut image, 0x1000, &mut |_| None)
        .expect_err("it is unknown");
    assert_eq!(
        error,
        LoadError::UndefinedVariable {
            name: "supplied".to_owned()
        }
    );
}

#[test]
fn every_processor_of_the_compiler_is_in_the_registry_or_refused_by_name() {
    for cpu in [
        "gfx703", "gfx803", "gfx90c", "gfx940", "gfx1013", "gfx1036", "gfx1103",
    ] {
        let Some(bytes) = (Recipe { cpu, ..VARS }).build() else {
            return;
        };
        let object = CodeObject::parse(&bytes).expect(cpu);
        assert_eq!(isa(&object), format!("amdgcn-amd-amdhsa--{cpu}"));
        let is_registered = isa(&object).parse::<Isa>().is_ok();
        assert_eq!(is_registered, !matches!(cpu, "gfx703" | "gfx940"), "{cpu}");
    }
}
