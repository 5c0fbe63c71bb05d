//! HIP programs on our library, with Debian's unmodified HIP: each with the plugins linked in and with the same
//! plugins loaded, some without optimisation, some on every chip.

use hansa_tests::hip_client::{module, ready, ready_for, run};
use hansa_tests::hsa_client::{Machine, Plugins};

fn usual(name: &str, plugins: Plugins) {
    if !ready_for(name) {
        return;
    }
    let mut machine = Machine::gfx900(plugins);
    let mut arguments = Vec::new();
    match name {
        "module" => arguments.push(module(machine.isa).to_string_lossy().into_owned()),
        "contexts" | "devices" | "peer" => machine.devices = 2,
        _ => {}
    }
    run(machine, "-O2", name, &arguments);
}

macro_rules! programs {
    ($($name:ident)*) => {$(
        mod $name {
            use super::{usual, Plugins};

            #[test]
            fn with_built_in_plugins() {
                usual(stringify!($name), Plugins::BuiltIn);
            }

            #[test]
            fn with_loaded_plugins() {
                usual(stringify!($name), Plugins::Loaded);
            }
        }
    )*};
}

programs! {
    algorithms assembly atomics captured contexts cooperative copy copy2d device devices errors events graph
    heap hiprand ipc killed lanes language launch managed math matrix memory memset module numbers occupancy
    ordering peer primitives printf processes programs progress rocrand rtc soak sparse stack streams
    symbols texture threads
}

/// Kernels without optimisation use private memory and calls for everything.
mod without_optimisation {
    use super::{ready, run, Machine, Plugins};

    macro_rules! programs {
        ($($name:ident)*) => {$(
            #[test]
            fn $name() {
                if ready() {
                    run(Machine::gfx900(Plugins::BuiltIn), "-O0", stringify!($name), &[""; 0]);
                }
            }
        )*};
    }

    // `launch` is not here: clang-15 cannot select what its cooperative part becomes without optimisation.
    programs! { algorithms atomics cooperative heap language lanes numbers printf programs progress stack symbols }
}

mod on_every_chip {
    use super::{ready, run, Machine, Plugins};

    macro_rules! chips {
        ($($chip:ident)*) => {$(
            #[test]
            fn $chip() {
                if !ready() {
                    return;
                }
                let machine = Machine { plugins: Plugins::BuiltIn, isa: stringify!($chip), devices: 1 };
                run(machine, "-O2", "device", &["1", stringify!($chip)]);
                for name in [
                    "algorithms", "assembly", "atomics", "language", "lanes", "launch", "math", "matrix", "memset", "numbers",
                    "primitives", "printf", "programs", "rocrand", "stack", "symbols",
                ] {
                    run(machine, "-O2", name, &[""; 0]);
                }
            }
        )*};
    }

    chips! { gfx906 gfx908 gfx90a }
}

#[test]
fn several_devices() {
    if !ready() {
        return;
    }
    let machine = Machine {
        plugins: Plugins::BuiltIn,
        isa: "gfx900",
        devices: 3,
    };
    run(machine, "-O2", "device", &["3", "gfx900"]);
    run(machine, "-O2", "cooperative", &[""; 0]);
    run(machine, "-O2", "peer", &[""; 0]);
}
