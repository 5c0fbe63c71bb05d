//! The layout of everything that crosses the boundary, as text. A difference from `layout.txt` is a change of the ABI:
//! see `docs/abi-policy.md` before running with `HANSA_BLESS=1`, which writes the file anew.

use abi_stable::type_layout::{TLData, TLField, TypeLayout};
use abi_stable::StableAbi;
use hansa_plugin_api::PluginModRef;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

/// What was described so far.
#[derive(Default)]
struct Snapshot {
    seen: HashSet<usize>,
    types: BTreeSet<String>,
}

/// Describes a type and everything it is made of. Types of one name, such as results, differ in their fields.
fn describe(layout: &'static TypeLayout, snapshot: &mut Snapshot) {
    if !snapshot.seen.insert(std::ptr::from_ref(layout).addr()) {
        return;
    }
    let name = layout.full_type().to_string();
    let mut text = format!(
        "{name}: {} bytes, alignment {}\n",
        layout.size(),
        layout.alignment()
    );
    let mut fields: Vec<TLField> = Vec::new();
    match layout.data() {
        TLData::Struct { fields: list } | TLData::Union { fields: list } => fields.extend(list.iter()),
        TLData::Enum(list) => fields.extend(list.fields.iter()),
        TLData::PrefixType(prefix) => {
            let _ = writeln!(
                text,
                "  {} fields that every version has",
                prefix.first_suffix_field
            );
            fields.extend(prefix.fields.iter());
        }
        TLData::Primitive(_) | TLData::Opaque => {}
    }
    fields.extend(layout.phantom_fields());
    for field in &fields {
        let _ = writeln!(text, "  {}: {}", field.name(), field.full_type());
        for function in field.function_range().iter() {
            let result = function.return_type_layout().map(|layout| layout());
            let parameters = || function.param_type_layouts.iter().map(|layout| layout());
            let names: Vec<String> = parameters().map(|p| p.full_type().to_string()).collect();
            let result_name = result.map_or_else(|| "()".to_owned(), |r| r.full_type().to_string());
            let _ = writeln!(text, "    ({}) -> {result_name}", names.join(", "));
            for part in parameters().chain(result) {
                describe(part, snapshot);
            }
        }
        describe(field.layout(), snapshot);
    }
    snapshot.types.insert(text);
}

#[test]
fn the_layout_is_the_committed_one() {
    let mut snapshot = Snapshot::default();
    describe(PluginModRef::LAYOUT, &mut snapshot);
    let text: String = snapshot.types.into_iter().collect::<Vec<_>>().join("\n");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/layout.txt");
    if std::env::var_os("HANSA_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let difference = text
        .lines()
        .zip(committed.lines())
        .find(|(now, then)| now != then);
    assert_eq!(difference, None, "the ABI changed: see docs/abi-policy.md");
    assert_eq!(
        text.lines().count(),
        committed.lines().count(),
        "the ABI changed: see docs/abi-policy.md"
    );
}
