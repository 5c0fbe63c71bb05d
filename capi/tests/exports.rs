//! The symbols of the built library: names, kinds, version node and soname, against the committed list.
#![expect(clippy::unwrap_used, reason = "a test may unwrap: a panic is how it fails")]

use object::elf;
use object::read::elf::{ElfFile64, Sym};
use object::{Endianness, ObjectSymbol};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The library that cargo built together with this test.
fn library() -> Vec<u8> {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().join("libhsa_runtime64.so");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Name -> `F` or `D`, from the committed list.
fn expected() -> BTreeMap<String, String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/exports.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|row| {
        let (name, kind) = row.split_once(' ').unwrap();
        (name.to_owned(), kind.to_owned())
    })
    .collect()
}

/// Name -> kind and version, from the library.
fn exported(data: &[u8]) -> BTreeMap<String, (String, String)> {
    let file = ElfFile64::<Endianness>::parse(data).unwrap();
    let endian = file.endian();
    let versions = file.elf_section_table().versions(endian, data).unwrap().unwrap();
    let symbols = file.elf_dynamic_symbol_table();
    let defined = symbols
        .enumerate()
        .filter(|(_, symbol)| !symbol.is_undefined(endian) && symbol.st_bind() != elf::STB_LOCAL);
    defined
        .map(|(index, symbol)| {
            let name = symbols.symbol_name(endian, symbol).unwrap();
            let version = versions
                .version(versions.version_index(endian, index).into())
                .unwrap();
            let version = version.map_or(&b""[..], |v| v.name());
            let kind = if symbol.st_type() == elf::STT_FUNC {
                "F"
            } else {
                "D"
            };
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            (text(name), (kind.to_owned(), text(version)))
        })
        .collect()
}

#[test]
fn the_library_exports_exactly_the_committed_symbols_under_one_version() {
    let data = library();
    let wanted: BTreeMap<_, _> = expected()
        .into_iter()
        .map(|(name, kind)| (name, (kind, "ROCR_1".to_owned())))
        .collect();
    assert_eq!(exported(&data), wanted);
}

#[test]
fn the_soname_is_the_one_programs_record() {
    let data = library();
    let file = ElfFile64::<Endianness>::parse(&*data).unwrap();
    let endian = file.endian();
    let dynamic = file.elf_section_table().dynamic_table(endian, &*data).unwrap();
    let soname = dynamic.iter().find(|entry| entry.tag == elf::DT_SONAME).unwrap();
    assert_eq!(dynamic.string(soname), Ok(&b"libhsa-runtime64.so.1"[..]));
}

#[test]
fn an_alias_is_the_function_it_stands_for() {
    let data = library();
    let file = ElfFile64::<Endianness>::parse(&*data).unwrap();
    let address: BTreeMap<&str, u64> = {
        use object::Object;
        file.dynamic_symbols()
            .map(|s| (s.name().unwrap(), s.address()))
            .collect()
    };
    for (alias, target) in hansa_plugin_api::hsa::api::ALIASES {
        assert_eq!(address[alias], address[target], "{alias}");
    }
}
