//! Case T31: the system's pages may be larger than 4096 bytes. `tests/clients/pages/preload.c` makes this process's kernel one
//! with pages of 64 KiB; whatever the runtime maps, changes or unmaps inside a page ends the program.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hansa_tests::artifacts::scratch_dir;
use hansa_tests::c_client::{repository, Client};
use hansa_tests::hsa_client::{judge, program, ready, run, Machine, Plugins};
use hansa_tests::kernels::code_objects;

/// The library that makes pages large.
fn preload() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let library = scratch_dir("pages").join("libpages.so");
        let mut client = Client::new("gcc", "c", "c11");
        for option in [
            "-D_GNU_SOURCE",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-O1",
            "-shared",
            "-fPIC",
        ] {
            client = client.argument(option);
        }
        let source = repository().join("tests/clients/pages/preload.c");
        if let Err(message) = client.compile(&source, &library) {
            panic!("{message}");
        }
        library
    })
}

/// Runs a client on large pages.
fn large(machine: Machine<'_>, name: &str, arguments: &[&Path]) {
    let mut command = machine.command(&program(name));
    judge(
        machine,
        name,
        command.args(arguments).env("LD_PRELOAD", preload()),
    );
}

#[test]
fn everything_mapped_is_whole_pages() {
    if ready() {
        run(Machine::gfx900(Plugins::BuiltIn), "pages", &[]);
        for plugins in [Plugins::BuiltIn, Plugins::Loaded] {
            large(Machine::gfx900(plugins), "pages", &[]);
        }
    }
}

macro_rules! clients {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            if ready() {
                large(Machine::gfx900(Plugins::BuiltIn), stringify!($name), &[code_objects()]);
            }
        }
    )*};
}

clients! { vector_add packets bad_input bad_calls signals memory sharing vmem svm info lifecycle images levels endings copies }
