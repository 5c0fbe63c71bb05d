//! Tools libraries of `tests/clients/tools`, compiled the way their authors do.

use std::fmt::Write as _;
use std::path::PathBuf;

use hansa_plugin_api::hsa::api::{self, Api};

use crate::artifacts::scratch_dir;
use crate::c_client::{repository, Client};

/// A shared object made of a source in `tests/clients/tools`, under a name of its own.
///
/// # Panics
///
/// When it does not compile without a warning.
#[must_use]
pub fn tool(source: &str, name: &str, definitions: &[&str]) -> PathBuf {
    let cxx = source.ends_with(".cpp");
    let mut client = if cxx {
        Client::new("g++", "c++", "c++17")
    } else {
        Client::new("gcc", "c", "gnu11")
    };
    for option in [
        "-shared", "-fPIC", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread",
    ] {
        client = client.argument(option);
    }
    if cxx || source == "sdk.c" {
        // Debian's header has the tables of another major version, whose members are in another order.
        client = client.include(&repository().join("capi/include"));
    }
    for definition in definitions {
        client = client.argument(&format!("-D{definition}"));
    }
    let file = repository().join("tests/clients/tools").join(source);
    let library = scratch_dir("tools").join(name).with_extension("so");
    // Tests run at the same time and make the same file; each puts a whole one in place.
    let own = library.with_extension(format!("{:?}", std::thread::current().id()));
    if let Err(message) = client.compile(&file, &own) {
        panic!("{message}");
    }
    std::fs::rename(&own, &library).expect("The target directory can be written");
    library
}

/// A header with the names of the members of every table, for a tool that knows no types.
///
/// # Panics
///
/// When the target directory cannot be written.
#[must_use]
pub fn member_names() -> PathBuf {
    let mut text = String::from("struct member { const char *name; };\n");
    let tables: [(&str, &[Api]); 5] = [
        ("core", api::CORE),
        ("amd", api::AMD_EXT),
        ("finalizer", api::FINALIZER),
        ("image", api::IMAGE),
        ("pc_sampling", api::PC_SAMPLING),
    ];
    for (table, members) in tables {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "static const struct member {table}_members[] = {{");
        for member in members {
            let _ = writeln!(text, "    {{ \"{}\" }},", member.name);
        }
        text.push_str("};\n");
    }
    let header = scratch_dir("tools").join("members.h");
    let own = header.with_extension(format!("{:?}", std::thread::current().id()));
    std::fs::write(&own, text).expect("The target directory can be written");
    std::fs::rename(&own, &header).expect("The target directory can be written");
    header
}
