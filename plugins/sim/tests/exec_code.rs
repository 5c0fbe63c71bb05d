//! Where code lies, and what an observer sees of it.

mod exec_support;

use exec_support::{assemble, Launch, Program};
use hansa_sim::exec::{run_group, Arena, Dispatch, Host, Level, Step};
use hansa_sim::isa::Target;
use std::sync::Mutex;

#[derive(Default)]
struct Observer(Mutex<Vec<u64>>);

impl Host for Observer {
    fn message(&self, _: u16, _: u32) {}

    fn observes(&self) -> bool {
        true
    }

    fn step(&self, step: &Step<'_>) {
        self.0.lock().expect("nobody panics").push(step.pc);
    }
}

/// What an observer sees of the first work-group, which is as much as is counted.
fn observed(launch: &Launch<'_>) -> Vec<u64> {
    let observer = Observer::default();
    let mut arena = Arena::new();
    launch.with_dispatch(|dispatch| {
        let dispatch = Dispatch {
            host: &observer,
            ..*dispatch
        };
        run_group(&dispatch, [0; 3], &mut arena, 0).expect("it ends");
    });
    let seen = observer.0.into_inner().expect("nobody panics");
    assert_eq!(arena.instructions(), seen.len() as u64);
    seen
}

#[test]
fn each_instruction_is_seen_once() {
    // s_mov_b32 s0, s1; s_mov_b32 s0, vccz, which the engine does in two steps; s_endpgm. Longer than a chunk of code.
    const PLAIN: u32 = 0xbe80_0001;
    const EVALUATED: u32 = 0xbe80_00fb;
    let mut words: Vec<u32> = (0..1300)
        .map(|i| if i % 7 == 3 { EVALUATED } else { PLAIN })
        .collect();
    words.push(0xbf81_0000);
    let program = Program::raw(&words, Target::Gfx900, Level::chosen());
    let launch = Launch::new(&program, "raw", 64, 64);
    let seen = observed(&launch);
    assert_eq!(seen.len(), words.len());
    assert!(seen.windows(2).all(|pair| pair[1] == pair[0] + 4));
}

#[test]
fn a_write_that_waits_for_other_waves_is_seen_once() {
    let Some(words) = assemble("s_barrier\nds_write_b32 v0, v0\ns_endpgm", Target::Gfx900) else {
        return;
    };
    let program = Program::raw(&words, Target::Gfx900, Level::chosen());
    let launch = Launch::new(&program, "raw", 192, 192);
    assert_eq!(observed(&launch).len(), 3 * 3);
}

/// Code is decoded in aligned chunks, and may begin, and end, inside one.
#[test]
fn code_begins_where_it_is_mapped() {
    let words = [0xbe80_0001, 0xbf81_0000];
    let program = Program::raw(&words, Target::Gfx900, Level::chosen());
    let launch = Launch::new(&program, "raw", 64, 64);
    let (object, descriptor) = program.kernel("raw");
    let entry = object.wrapping_add_signed(descriptor.entry_offset);
    assert_ne!(entry % 2048, 0);
    let before = entry - program.image.address();
    program.space.unmap(program.image.address(), before);
    program.space.unmap(entry + 8, program.image.bytes() - before - 8);
    launch.run().expect("the two instructions are there");
}
