//! The C headers, the Rust types of `hansa_plugin_api::hsa` and the headers that Debian installs say the same.
//!
//! `clients/abi/items.txt` lists what there is to compare, without values. A program made of it prints the values of one
//! header set; ours as C, ours as C++, Debian's (AMD's ROCr 5.2.3) and the Rust types are compared item by item. Where
//! the interface has grown since 5.2.3, the item says what the value was. Function types are written out from the Rust
//! rows and compared by the C compiler with the prototypes of both header sets.

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hansa_plugin_api::hsa::{self, api, reflect};
use hansa_tests::c_client::{debian_headers, has_program, own_headers, present, repository, run, Client};
use hansa_tests::c_type::Spelling;

/// Directory of the sources of this test.
fn sources() -> PathBuf {
    repository().join("tests/clients/abi")
}

/// A file of this test's own to write to.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("abi-{name}"))
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Header,
    Const,
    Type,
    Field,
    Function,
}

/// A line of `items.txt`.
#[derive(Clone, Debug)]
struct Item {
    kind: Kind,
    name: String,
    /// Not in Debian's headers.
    new: bool,
    /// Value in Debian's headers, where it is another.
    was: Option<String>,
    /// A C enumeration without a typedef.
    tag: bool,
    /// Without a counterpart in Rust.
    c_only: bool,
}

/// Reads the list of items.
fn items() -> Vec<Item> {
    let path = sources().join("items.txt");
    let text = std::fs::read_to_string(&path).expect("items.txt is part of the repository");
    let mut items = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let mut words = line.split(' ');
        let kind = match words.next() {
            Some("header") => Kind::Header,
            Some("const") => Kind::Const,
            Some("type") => Kind::Type,
            Some("field") => Kind::Field,
            Some("function") => Kind::Function,
            _ => panic!("items.txt: {line:?} is none of header, const, type, field, function"),
        };
        let name = words
            .next()
            .unwrap_or_else(|| panic!("items.txt: {line:?} has no name"))
            .to_owned();
        let mut item = Item {
            kind,
            name,
            new: false,
            was: None,
            tag: false,
            c_only: false,
        };
        for flag in words {
            match flag {
                "new" => item.new = true,
                "tag" => item.tag = true,
                "c-only" => item.c_only = true,
                other => match other.strip_prefix("was=") {
                    Some(value) => item.was = Some(value.to_owned()),
                    None => panic!("items.txt: {line:?} has the unknown flag {other:?}"),
                },
            }
        }
        items.push(item);
    }
    items
}

/// Lines that include headers of the list.
fn includes(items: &[Item]) -> String {
    items
        .iter()
        .filter(|item| item.kind == Kind::Header)
        .fold(String::new(), |mut text, header| {
            let _ = writeln!(text, "#include \"{}\"", header.name);
            text
        })
}

/// A program that prints the value of each item: `KIND NAME VALUE`.
fn printer(items: &[Item]) -> String {
    let mut text = includes(items);
    text += "#include <stddef.h>\n#include <stdio.h>\n";
    text += "#ifdef __cplusplus\nusing namespace ELF;\n#endif\n";
    text += "#define CONSTANT(name) printf(\"const \" #name \" %lld\\n\", (long long)(name));\n";
    text += "#define TYPE(key, name) printf(\"type \" key \" %zu/%zu\\n\", sizeof(name), (size_t)__alignof__(name));\n";
    text += "#define FIELD(type, field) printf(\"field \" #type \".\" #field \" %zu/%zu\\n\", \
             offsetof(type, field), sizeof(((type *)0)->field));\n";
    text += "int main(void) {\n";
    for item in items {
        let name = &item.name;
        let line = match item.kind {
            Kind::Header | Kind::Function => continue,
            Kind::Const => format!("CONSTANT({name})"),
            Kind::Type if item.tag => format!("TYPE(\"{name}\", enum {name})"),
            Kind::Type => format!("TYPE(\"{name}\", {name})"),
            Kind::Field => {
                let (owner, field) = name
                    .split_once('.')
                    .unwrap_or_else(|| panic!("{name} has no member"));
                format!("FIELD({owner}, {field})")
            }
        };
        let _ = writeln!(text, "  {line}");
    }
    text + "  return 0;\n}\n"
}

/// Values of items as a header set says them.
type Values = BTreeMap<String, String>;

/// Compiles and runs the printer of some items.
fn values(name: &str, client: &Client, items: &[Item]) -> Values {
    let source = scratch(&format!("{name}.c"));
    let program = scratch(name);
    std::fs::write(&source, printer(items)).expect("the scratch directory can be written");
    client
        .compile(&source, &program)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let text = run(&program).unwrap_or_else(|error| panic!("{name}: {error}"));
    text.lines()
        .map(|line| {
            let (key, value) = line
                .rsplit_once(' ')
                .unwrap_or_else(|| panic!("{name} printed {line:?}"));
            (key.to_owned(), value.to_owned())
        })
        .collect()
}

fn own_c() -> Client {
    Client::new("gcc", "c", "c11").include(&own_headers())
}

fn own_cxx() -> Client {
    Client::new("g++", "c++", "c++11")
        .include(&own_headers())
        .argument("-Wno-invalid-offsetof")
}

/// Debian's headers need C++, and want to be told that they are not below a directory `inc`.
fn debian_cxx() -> Client {
    Client::new("g++", "c++", "c++11")
        .include(&debian_headers())
        .argument("-DAMD_INTERNAL_BUILD")
        .argument("-w")
}

fn has_compilers() -> bool {
    present(has_program("gcc"), "gcc", "gcc") && present(has_program("g++"), "g++", "g++")
}

fn has_debian_headers() -> bool {
    present(
        debian_headers().join("hsa.h").exists(),
        "/usr/include/hsa/hsa.h",
        "libhsa-runtime-dev",
    )
}

/// Fails with every difference there is, one a line.
fn no_differences(differences: &[String]) {
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn each_header_compiles_alone_under_strict_c_and_cxx() {
    if !has_compilers() {
        return;
    }
    let mut failures = Vec::new();
    let compilers = [
        ("gcc", "c", "c99"),
        ("gcc", "c", "c11"),
        ("g++", "c++", "c++11"),
        ("g++", "c++", "c++17"),
    ];
    let mut headers: Vec<_> = std::fs::read_dir(own_headers())
        .expect("the headers are part of the repository")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    headers.sort();
    assert_eq!(headers.len(), 16, "{headers:?}");
    for header in &headers {
        let source = scratch(&format!("alone-{header}.c"));
        std::fs::write(&source, format!("#include \"{header}\"\nextern int used;\n")).expect("scratch");
        for (compiler, language, standard) in compilers {
            let client = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"].into_iter().fold(
                Client::new(compiler, language, standard).include(&own_headers()),
                |client, flag| client.argument(flag),
            );
            failures.extend(client.check(&source).err());
        }
    }
    no_differences(&failures);
}

#[test]
fn measured_sizes_and_offsets_hold_for_our_headers() {
    if !has_compilers() {
        return;
    }
    let source = sources().join("layout.c");
    let failures: Vec<String> = [own_c(), own_cxx()]
        .iter()
        .filter_map(|client| client.check(&source).err())
        .collect();
    no_differences(&failures);
}

#[test]
fn a_tool_copies_tables_between_versions() {
    if !has_compilers() {
        return;
    }
    let program = scratch("tables");
    let client = own_cxx()
        .argument("-Wall")
        .argument("-Wextra")
        .argument("-Werror");
    let copied = client
        .compile(&sources().join("tables.cpp"), &program)
        .and_then(|()| run(&program));
    assert_eq!(copied.as_deref(), Ok(""));
}

#[test]
fn our_headers_say_the_same_in_c_and_cxx_and_what_debians_say() {
    if !has_compilers() {
        return;
    }
    let items = items();
    let ours = values("ours-c", &own_c(), &items);
    let ours_cxx = values("ours-cxx", &own_cxx(), &items);
    assert_eq!(ours, ours_cxx);
    if !has_debian_headers() {
        return;
    }
    let old: Vec<Item> = items.iter().filter(|item| !item.new).cloned().collect();
    let debian = values("debian", &debian_cxx(), &old);
    let mut differences = Vec::new();
    for item in &old {
        let key = match item.kind {
            Kind::Const => format!("const {}", item.name),
            Kind::Type => format!("type {}", item.name),
            Kind::Field => format!("field {}", item.name),
            Kind::Header | Kind::Function => continue,
        };
        let expected = item.was.as_ref().or_else(|| ours.get(&key));
        if debian.get(&key) != expected || item.was.as_ref() == ours.get(&key) {
            differences.push(format!(
                "{key}: ours {:?}, Debian's {:?}",
                ours.get(&key),
                debian.get(&key)
            ));
        }
    }
    assert!(
        debian.len() > 1400,
        "only {} items are in Debian's headers",
        debian.len()
    );
    no_differences(&differences);
}

#[test]
fn an_item_marked_new_is_not_in_debians_headers() {
    if !has_compilers() || !has_debian_headers() {
        return;
    }
    // A macro probe would miss enumerators, so the text is searched; comments are left out.
    let mut text = String::new();
    for entry in std::fs::read_dir(debian_headers()).expect("Debian's headers") {
        let source = std::fs::read_to_string(entry.expect("entry").path()).expect("a header is text");
        let mut rest = source.as_str();
        while let Some((code, comment)) = rest.split_once("/*") {
            text += code;
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        }
        text += rest;
    }
    let words: BTreeSet<&str> = text
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .collect();
    let wrong: Vec<String> = items()
        .into_iter()
        .filter(|item| item.new && matches!(item.kind, Kind::Const | Kind::Type | Kind::Function))
        .filter(|item| words.contains(item.name.as_str()))
        .map(|item| item.name)
        .collect();
    no_differences(&wrong);
}

/// Values of the constants that belong to no enumeration.
fn lone_constants() -> Vec<(&'static str, i64)> {
    macro_rules! constants {
        ($($name:ident),* $(,)?) => {
            vec![$((stringify!($name), i64::from(hsa::$name))),*]
        };
    }
    constants![
        HSA_AMD_INTERFACE_VERSION_MAJOR,
        HSA_AMD_INTERFACE_VERSION_MINOR,
        HSA_AMD_IMAGE_DESC_VERSION_WDDM_SURFACE_METADATA,
        HSA_AMD_MEMORY_COPY_OP_VERSION,
        HSA_AMD_SDMA_ENGINE_ID_ANY,
        HSA_AMD_QUEUE_CREATE_DESC_VERSION,
        HSA_AMD_PRIVATE_SEGMENT_SIZE_DEFAULT,
        HSA_AQLPROFILE_VERSION_MAJOR,
        HSA_AQLPROFILE_VERSION_MINOR,
        HSA_AMD_AIE_INTERFACE_VERSION_MAJOR,
        HSA_AMD_AIE_INTERFACE_VERSION_MINOR,
        AMD_AQL_FORMAT_INTERCEPT_MARKER,
    ]
}

/// Types and members that have no name in C: the unions that Rust names, bit fields, and structures written in place.
const RUST_ONLY: [&str; 9] = [
    "type hsa_ext_agent_info_t",
    "type hsa_amd_memory_copy_wait_t",
    "type hsa_amd_memory_copy_signal_t",
    "type hsa_ven_amd_aqlprofile_pmc_data_t",
    "type amdhsa_kernel_descriptor_t",
    "field hsa_amd_event_t.data",
    "field hsa_ven_amd_aqlprofile_info_data_t.data",
    "field perf_sample_hosttrap_v1_t.wave_and_chiplet",
    "field perf_sample_snapshot_v1_t.wave_and_chiplet",
];

/// Values of all items as the Rust types say them.
fn rust_values() -> Values {
    let mut values = Values::new();
    for layout in reflect::HANDLES.iter().chain(reflect::STRUCTURES) {
        values.insert(
            format!("type {}", layout.name),
            format!("{}/{}", layout.size, layout.align),
        );
        for field in layout.fields {
            let key = format!("field {}.{}", layout.name, field.name.trim_start_matches("r#"));
            values.insert(key, format!("{}/{}", field.offset, field.size));
        }
    }
    for enumeration in reflect::ENUMERATIONS {
        let size = enumeration.size;
        values.insert(format!("type {}", enumeration.name), format!("{size}/{size}"));
        for (name, value) in enumeration.values {
            values.insert(format!("const {name}"), value.to_string());
        }
    }
    for word in reflect::BIT_FIELDS {
        for (name, shift, width, mask) in word.fields {
            // An enumerator of C is signed.
            let mask = i32::from_ne_bytes(mask.to_ne_bytes());
            values.insert(format!("const {name}"), mask.to_string());
            values.insert(format!("const {name}_SHIFT"), shift.to_string());
            values.insert(format!("const {name}_WIDTH"), width.to_string());
        }
    }
    for (name, value) in lone_constants() {
        values.insert(format!("const {name}"), value.to_string());
    }
    values
}

#[test]
fn rust_types_say_what_our_headers_say_and_nothing_is_left_out() {
    if !has_compilers() {
        return;
    }
    let items: Vec<Item> = items()
        .into_iter()
        .filter(|item| item.kind == Kind::Header || !item.c_only)
        .collect();
    let c = values("for-rust", &own_c(), &items);
    let rust = rust_values();
    let mut differences = Vec::new();
    for (key, value) in &c {
        if rust.get(key) != Some(value) {
            differences.push(format!("{key}: {value} in C, {:?} in Rust", rust.get(key)));
        }
    }
    for key in rust.keys() {
        let without_c_name = RUST_ONLY.iter().any(|only| {
            only == key
                || only
                    .strip_prefix("type ")
                    .is_some_and(|name| key.starts_with(&format!("field {name}.")))
        });
        if !c.contains_key(key) && !without_c_name {
            differences.push(format!("{key}: in Rust only"));
        }
    }
    assert!(c.len() > 1700, "only {} items are compared", c.len());
    no_differences(&differences);
}

/// All functions of the rows, with the name of the type of a pointer to each.
fn function_types() -> Vec<(&'static str, &'static str)> {
    #[allow(
        clippy::wildcard_imports,
        reason = "the rows name nearly every type of the interface"
    )]
    use hansa_plugin_api::hsa::*;

    let mut functions = Vec::new();
    macro_rules! table_rows {
        ($(($index:literal, $kind:ident, $name:ident, $field:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal))*) => {
            $(functions.push((stringify!($name), type_name::<unsafe extern "C" fn($($ty),*) -> $ret>()));)*
        };
    }
    macro_rules! alias_rows {
        ($(($name:ident, $target:ident, ($($arg:ident: $ty:ty),*), $ret:ty))*) => {
            $(functions.push((stringify!($name), type_name::<unsafe extern "C" fn($($ty),*) -> $ret>()));)*
        };
    }
    macro_rules! untabled_rows {
        ($(($name:ident, ($($arg:ident: $ty:ty),*), $ret:ty, $doc:literal))*) => {
            $(functions.push((stringify!($name), type_name::<unsafe extern "C" fn($($ty),*) -> $ret>()));)*
        };
    }
    hansa_plugin_api::for_each_core_api!(table_rows);
    hansa_plugin_api::for_each_amd_ext_api!(table_rows);
    hansa_plugin_api::for_each_image_api!(table_rows);
    hansa_plugin_api::for_each_finalizer_api!(table_rows);
    hansa_plugin_api::for_each_pc_sampling_api!(table_rows);
    hansa_plugin_api::for_each_loader_api!(table_rows);
    hansa_plugin_api::for_each_aqlprofile_api!(table_rows);
    hansa_plugin_api::for_each_alias!(alias_rows);
    hansa_plugin_api::for_each_untabled_api!(untabled_rows);
    functions
}

/// A source in which the compiler compares the prototypes of `functions` with the rows.
fn prototype_checks(includes: &str, functions: &[(&str, &str)]) -> String {
    let mut spelling = Spelling::default();
    let mut checks = String::new();
    for (name, type_name) in functions {
        let mut c_type = spelling
            .function(type_name)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        if *name == "hsa_amd_signal_value_pointer" {
            // Rust has no volatile types; the access is volatile there.
            c_type = c_type.replace("int64_t * *", "int64_t volatile * *");
        }
        let _ = writeln!(
            checks,
            "_Static_assert(__builtin_types_compatible_p(__typeof__({name}), {c_type}), \"{name}: not {c_type}\");"
        );
    }
    format!("{includes}{}\n{checks}", spelling.definitions().join("\n"))
}

#[test]
fn prototypes_of_both_header_sets_are_those_of_the_rust_rows() {
    if !has_compilers() {
        return;
    }
    let items = items();
    let functions = function_types();
    let rows: BTreeSet<&str> = functions.iter().map(|(name, _)| *name).collect();
    let listed: BTreeSet<&str> = items
        .iter()
        .filter(|item| item.kind == Kind::Function)
        .map(|item| item.name.as_str())
        .collect();
    assert_eq!(rows, listed);

    let source = scratch("prototypes-ours.c");
    std::fs::write(&source, prototype_checks(&includes(&items), &functions)).expect("scratch");
    let mut failures: Vec<String> = own_c().check(&source).err().into_iter().collect();

    if !has_debian_headers() {
        no_differences(&failures);
        return;
    }
    // Debian's table header is C++ only; the queue interception functions are declared nowhere else.
    let old: BTreeSet<&str> = items
        .iter()
        .filter(|item| item.kind == Kind::Function && !item.new && !item.name.contains("queue_intercept"))
        .map(|item| item.name.as_str())
        .filter(|name| *name != "hsa_amd_runtime_queue_create_register")
        .collect();
    let old_functions: Vec<_> = functions
        .into_iter()
        .filter(|(name, _)| old.contains(name))
        .collect();
    let old_headers: Vec<Item> = items
        .into_iter()
        .filter(|item| item.kind == Kind::Header && !item.new)
        .filter(|item| !["hsa_api_trace.h", "amd_hsa_elf.h"].contains(&item.name.as_str()))
        .collect();
    assert!(
        old_functions.len() > 230,
        "only {} functions are compared",
        old_functions.len()
    );
    let source = scratch("prototypes-debian.c");
    std::fs::write(&source, prototype_checks(&includes(&old_headers), &old_functions)).expect("scratch");
    let debian = Client::new("gcc", "c", "c11")
        .include(&debian_headers())
        .argument("-w");
    failures.extend(debian.check(&source).err());
    no_differences(&failures);
}

#[test]
fn a_wrong_value_a_wrong_type_and_a_missing_name_are_noticed() {
    if !has_compilers() {
        return;
    }
    let source = scratch("wrong.c");
    let includes = "#include \"hsa.h\"\n";
    let wrong = [
        // One argument less, another enumeration, another constness.
        ("hsa_memory_free", "unsafe extern \"C\" fn() -> x::hsa_status_t"),
        (
            "hsa_agent_get_info",
            "unsafe extern \"C\" fn(hsa_agent_t, hsa_cache_info_t, *mut c_void) -> hsa_status_t",
        ),
        (
            "hsa_memory_copy",
            "unsafe extern \"C\" fn(*mut c_void, *mut c_void, usize) -> hsa_status_t",
        ),
        ("hsa_no_such_function", "unsafe extern \"C\" fn() -> hsa_status_t"),
    ];
    for function in wrong {
        std::fs::write(&source, prototype_checks(includes, &[function])).expect("scratch");
        assert!(
            own_c()
                .check(&source)
                .is_err_and(|text| text.contains(function.0)),
            "{}",
            function.0
        );
    }
    let layout = std::fs::read_to_string(sources().join("layout.c")).expect("layout.c");
    let broken = layout.replace("FIELD(hsa_queue_t, id, 32, 8)", "FIELD(hsa_queue_t, id, 24, 8)");
    assert_ne!(layout, broken);
    std::fs::write(&source, broken).expect("scratch");
    assert!(own_c()
        .check(&source)
        .is_err_and(|text| text.contains("hsa_queue_t.id")));
}

#[test]
fn the_committed_symbols_are_those_of_the_rows() {
    let path = repository().join("tests/data/exports.txt");
    let text = std::fs::read_to_string(path).expect("exports.txt is part of the repository");
    let committed: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(committed.is_sorted());
    assert_eq!(committed.len(), 282);
    let rows: BTreeSet<String> = api::exported_functions()
        .map(|name| format!("{name} F"))
        .chain([format!("{} D", api::DEBUG_SYMBOL)])
        .collect();
    let committed: BTreeSet<String> = committed.into_iter().map(str::to_owned).collect();
    no_differences(&committed.symmetric_difference(&rows).cloned().collect::<Vec<_>>());
}
