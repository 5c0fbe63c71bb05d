//! Case T31: the system's pages may be larger than 4096 bytes. `tests/clients/pages/preload.c` makes this process's kernel one
//! with pages of 16 or 64 KiB; whatever the runtime maps, changes or unmaps inside a page ends the program. So it does on the
//! virtual kernel, whose pages are those of its process.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hansa_tests::artifacts::scratch_dir;
use hansa_tests::c_client::{repository, Client};
use hansa_tests::hsa_client::{judge, program, ready, run, Machine, Plugins};
use hansa_tests::kernels::code_objects;
use hansa_tests::side::Side;

/// The sizes of pages that Linux has beside the usual one.
const LARGE: [u32; 2] = [16384, 65536];

/// The libraries that make pages large, in the order of [`LARGE`].
fn preloads() -> &'static [PathBuf; 2] {
    static BUILT: OnceLock<[PathBuf; 2]> = OnceLock::new();
    BUILT.get_or_init(|| {
        LARGE.map(|bytes| {
            let library = scratch_dir("pages").join(format!("libpages-{bytes}.so"));
            let mut client = Client::new("gcc", "c", "c11").argument(&format!("-DPAGE_BYTES={bytes}"));
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
    })
}

/// Runs a client on large pages.
fn large(machine: Machine<'_>, name: &str, arguments: &[&Path]) {
    for preload in preloads() {
        let mut command = machine.command(&program(name));
        judge(machine, name, command.args(arguments).env("LD_PRELOAD", preload));
    }
}

/// Runs a client on the virtual kernel with large pages.
fn large_on_kfd(processor: &'static str, name: &str, arguments: &[&Path]) {
    for preload in preloads() {
        let mut command = Side::Kfd.command(processor, &program(name));
        let kernel = command
            .get_envs()
            .find(|(variable, _)| *variable == "LD_PRELOAD")
            .and_then(|(_, value)| value)
            .expect("the virtual kernel is preloaded")
            .to_owned();
        let mut both = preload.clone().into_os_string();
        both.push(":");
        both.push(kernel);
        judge(
            Machine::gfx900(Plugins::BuiltIn),
            name,
            command.args(arguments).env("LD_PRELOAD", both),
        );
    }
}

/// Every way to make a queue: with its ring twice, in plain memory, and with indices in the kernel's memory.
#[test]
fn everything_mapped_is_whole_pages_on_the_virtual_kernel() {
    if ready() {
        for processor in ["gfx803", "gfx900", "gfx90a", "gfx1100"] {
            large_on_kfd(processor, "pages", &[]);
        }
    }
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

macro_rules! kfd_clients {
    ($($name:ident)*) => {
        mod on_the_virtual_kernel {
            use super::{code_objects, large_on_kfd, ready};
            $(
                #[test]
                fn $name() {
                    if ready() {
                        large_on_kfd("gfx900", stringify!($name), &[code_objects()]);
                    }
                }
            )*
        }
    };
}

kfd_clients! { vector_add packets bad_calls signals levels copies }
