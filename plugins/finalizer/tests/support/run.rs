//! Runs kernels on buffers.

use super::device::{Launch, Memory, Program};
use super::{finalize_all, HEAD, TARGETS};
use hansa_sim::isa::Target;
use std::fmt::Debug;

/// A finalized and loaded program.
pub fn program(body: &str) -> Program {
    programs(&[&format!("{HEAD}{body}")])
}

/// The same of several modules.
pub fn programs(texts: &[&str]) -> Program {
    Program::load(&finalize_all(texts, "gfx900"), Target::Gfx900)
}

/// Runs a kernel with the addresses of buffers as arguments, and gives what is in the first one afterwards.
pub fn run<T: Copy + Default>(
    program: &Program,
    kernel: &str,
    items: u32,
    group: u16,
    buffers: &[&Memory],
    count: usize,
) -> Vec<T> {
    let mut launch = Launch::new(program, kernel, items, group);
    for buffer in buffers {
        launch = launch.buffer(buffer);
    }
    launch.run().unwrap_or_else(|fault| panic!("{kernel}: {fault:?}"));
    buffers[0].values(count)
}

/// Runs the kernel `&k` of a module on one buffer that is zero at first, on all chips, which agree.
pub fn results<T: Copy + Default + PartialEq + Debug>(
    body: &str,
    items: u32,
    group: u16,
    count: usize,
) -> Vec<T> {
    let [first, second] = TARGETS.map(|(processor, target)| {
        let object = finalize_all(&[&format!("{HEAD}{body}")], processor);
        let output = Memory::new(count * size_of::<T>());
        run(
            &Program::load(&object, target),
            "&k",
            items,
            group,
            &[&output],
            count,
        )
    });
    assert_eq!(first, second, "{TARGETS:?} differ");
    first
}
