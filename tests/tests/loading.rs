//! The library loaded and closed at run time: by a program that does not link with it, and by a shared object that needs it
//! and closes it again from a fini function.

use std::path::PathBuf;

use hansa_tests::artifacts::{libraries, scratch_dir};
use hansa_tests::c_client::{repository, Client};
use hansa_tests::hsa_client::{judge, ready, Machine, Plugins};

fn compile(source: &str, product: &str, more: &[&str]) -> PathBuf {
    let product = scratch_dir("loading").join(product);
    let mut client = Client::new("gcc", "c", "c11");
    for argument in [
        "-D_GNU_SOURCE",
        "-g",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pthread",
    ]
    .iter()
    .chain(more)
    {
        client = client.argument(argument);
    }
    let source = repository().join("tests/clients/load").join(source);
    client
        .compile(&source, &product)
        .unwrap_or_else(|message| panic!("{message}"));
    product
}

#[test]
fn the_library_can_be_loaded_and_closed_at_any_time() {
    if !ready() {
        return;
    }
    let search = format!("-L{}", libraries().display());
    let needs_it = [
        "-shared",
        "-fPIC",
        "-Wl,--no-as-needed",
        &search,
        "-lhsa-runtime64",
    ];
    let consumer = compile("consumer.c", "libconsumer.so", &needs_it);
    let reload = compile("reload.c", "reload", &["-ldl"]);
    for plugins in [Plugins::BuiltIn, Plugins::Loaded] {
        let machine = Machine::gfx900(plugins);
        judge(machine, "reload", machine.command(&reload).arg(&consumer));
    }
}
