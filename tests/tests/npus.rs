//! The C client for NPUs on virtual ones, alone and beside the software GPU.

use hansa_core::plugin::{read_note, Facts};
use hansa_tests::artifacts::{libraries, scratch_dir};
use hansa_tests::hsa_client::{judge, program, ready, Machine, Plugins};

/// The manifest of the driver on virtual NPUs.
fn manifest() -> std::path::PathBuf {
    let library = libraries().join("libhansa_vxdna_plugin.so");
    let facts: Facts = read_note(&library).expect("The library says what it is");
    let dir = scratch_dir("npus.d");
    let file = dir.join(facts.file_name());
    // Several tests write the same text at once; each puts a whole file in place.
    let own = dir.join(format!("{:?}", std::thread::current().id()));
    std::fs::write(&own, facts.to_toml(&library.to_string_lossy()))
        .expect("The target directory can be written");
    std::fs::rename(&own, &file).expect("The target directory can be written");
    file
}

fn run(npu: &str, backends: &str, arguments: [&str; 2]) {
    if !ready() {
        return;
    }
    let machine = Machine::gfx900(Plugins::BuiltIn);
    let mut command = machine.command(&program("npu"));
    command
        .args(arguments)
        .env("HANSA_PLUGIN_ADD", manifest())
        .env("HANSA_BACKENDS", backends)
        .env("VXDNA_NPUS", npu);
    judge(machine, "npu", &mut command);
}

#[test]
fn the_first_generation_with_amd_s_driver() {
    run("npu1", "vxdna", ["aie2", "3"]);
}

#[test]
fn the_second_generation_with_the_kernel_s_driver() {
    run("npu4", "vxdna", ["aie2p", "4"]);
}

#[test]
fn beside_the_software_gpu() {
    run("npu1", "vxdna,sim", ["aie2", "3"]);
}
