//! C programs written against the standard's headers, on our library: every client of `tests/clients/hsa` with the
//! plugins linked in, and again with the same plugins loaded from shared objects.

use std::path::Path;

use hansa_tests::hsa_client::{program, ready, run, Machine, Plugins};
use hansa_tests::kernels::{code_objects, hsail_modules};

fn run_client(name: &str, plugins: Plugins) {
    if ready() {
        run(Machine::gfx900(plugins), name, &[code_objects()]);
    }
}

/// Compares the named cases with the host, or all of them.
fn run_kernels(machine: Machine<'_>, cases: &[&str]) {
    if ready() {
        let mut arguments = vec![code_objects()];
        arguments.extend(cases.iter().map(Path::new));
        run(machine, "kernels", &arguments);
    }
}

macro_rules! clients {
    ($($name:ident)*) => {$(
        mod $name {
            use super::{run_client, Plugins};

            #[test]
            fn with_built_in_plugins() {
                run_client(stringify!($name), Plugins::BuiltIn);
            }

            #[test]
            fn with_loaded_plugins() {
                run_client(stringify!($name), Plugins::Loaded);
            }
        }
    )*};
}

clients! { vector_add packets bad_input bad_packets bad_calls signals memory sharing vmem svm info lifecycle images levels endings copies carry scratch rings }

mod finalizer {
    use super::{hsail_modules, ready, run, Machine, Plugins};

    fn finalize(machine: Machine<'_>) {
        if let (true, Some(modules)) = (ready(), hsail_modules()) {
            run(machine, "finalizer", &[modules]);
        }
    }

    #[test]
    fn with_built_in_plugins() {
        finalize(Machine::gfx900(Plugins::BuiltIn));
    }

    #[test]
    fn with_loaded_plugins() {
        finalize(Machine::gfx900(Plugins::Loaded));
    }

    #[test]
    fn for_a_newer_chip() {
        finalize(Machine {
            plugins: Plugins::BuiltIn,
            isa: "gfx90a",
            devices: 1,
        });
    }
}

mod kernels {
    use super::{run_kernels, Machine, Plugins};

    macro_rules! on_every_chip {
        ($($isa:ident)*) => {$(
            #[test]
            fn $isa() {
                let machine = Machine { plugins: Plugins::BuiltIn, isa: stringify!($isa), devices: 1 };
                run_kernels(machine, &[]);
            }
        )*};
    }

    on_every_chip! { gfx900 gfx906 gfx908 gfx90a }

    #[test]
    fn with_loaded_plugins() {
        run_kernels(Machine::gfx900(Plugins::Loaded), &[]);
    }

    #[test]
    fn on_three_gpus() {
        let machine = Machine {
            plugins: Plugins::BuiltIn,
            isa: "gfx90a",
            devices: 3,
        };
        run_kernels(machine, &["vector_add", "reduce", "spill", "atomics"]);
    }
}

/// Who may use what, with several GPUs.
#[test]
fn peers() {
    if ready() {
        let machine = Machine {
            plugins: Plugins::BuiltIn,
            isa: "gfx900",
            devices: 2,
        };
        run(machine, "peers", &[code_objects()]);
    }
}

/// The plugins of the other tests are not the linked ones by mistake.
#[test]
fn loaded_plugins_come_from_their_libraries() {
    if !ready() {
        return;
    }
    let loads = |plugins| {
        let output = Machine::gfx900(plugins)
            .command(&program("info"))
            .env("LD_DEBUG", "files")
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        [
            "libhansa_sim_plugin.so",
            "libhansa_amd_plugin.so",
            "libhansa_image_plugin.so",
            "libhansa_finalizer_plugin.so",
        ]
        .map(|library| log.contains(library))
    };
    assert_eq!(loads(Plugins::Loaded), [true; 4]);
    assert_eq!(loads(Plugins::BuiltIn), [false; 4]);
}
