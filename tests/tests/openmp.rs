//! OpenMP: a program that Debian's GCC compiled for AMD GPUs, unchanged on our library.

use hansa_tests::artifacts::{compiler_output, scratch_dir};
use hansa_tests::c_client::{has_program, present, repository};
use hansa_tests::hsa_client::{judge, Machine, Plugins};
use std::path::{Path, PathBuf};
use std::process::Command;

fn program(chip: &str) -> PathBuf {
    let program = scratch_dir("openmp").join(format!("offload-{chip}"));
    let mut compiler = Command::new("gcc-12");
    compiler
        .args([
            "-fopenmp",
            "-foffload=amdgcn-amdhsa",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .arg(format!("-foffload-options=-march={chip}"))
        .arg(repository().join("tests/clients/openmp/offload.c"))
        .arg("-o")
        .arg(&program);
    let output = compiler_output(&mut compiler).expect("gcc-12 was found");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    program
}

#[test]
fn target_regions_of_gcc_run_on_the_device() {
    let compiler = Path::new("/usr/lib/gcc/x86_64-linux-gnu/12/accel/amdgcn-amdhsa").exists();
    let plugin = Path::new("/usr/lib/x86_64-linux-gnu/libgomp-plugin-gcn.so.1").exists();
    if !present(
        has_program("gcc-12") && compiler,
        "GCC for AMD GPUs",
        "gcc-12-offload-amdgcn",
    ) || !present(plugin, "libgomp's plugin for AMD GPUs", "libgomp-plugin-amdgcn1")
    {
        return;
    }
    for chip in ["gfx900", "gfx906"] {
        let machine = Machine {
            plugins: Plugins::BuiltIn,
            isa: chip,
            devices: 1,
        };
        judge(
            machine,
            &format!("openmp {chip}"),
            &mut machine.command(&program(chip)),
        );
    }
}
