//! What the driver's trap handler does to the registers of a wave, on every generation: what a debugger is to find there, and
//! that a wave that goes on notices nothing.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::trap_handler::CODE;
use hansa_sim::exec::{Access, AddressSpace};
use hansa_sim::scalar::{self, After, Cause, Exit, Generation, Handler, Wave};
use std::sync::Mutex;
use support::kernels::{self, column};
use support::HostPages;

/// The generation of an image, and where it keeps the program counter's halves of a wave that stands: `None` where that stays
/// in ttmp0 and ttmp1.
const IMAGES: [(&str, Generation, Option<usize>); 6] = [
    ("gfx900", Generation::Gfx9, Some(7)),
    ("gfx940", Generation::Gfx940, None),
    ("gfx1010", Generation::Gfx101, Some(7)),
    ("gfx1030", Generation::Gfx103, None),
    ("gfx1100", Generation::Gfx11, Some(7)),
    ("gfx1200", Generation::Gfx12, Some(10)),
];

const DOORBELL: u32 = 0x2a7;
const ARGUMENT: u64 = 0x1234_5678_9abc;

#[derive(Default)]
struct Heard(Mutex<Vec<(u32, bool)>>);

impl scalar::Outside for Heard {
    fn doorbell(&self) -> u32 {
        // More bits than the number has.
        DOORBELL | 0x40_0000
    }

    fn interrupt(&self, data: u32, privileged: bool) {
        self.0.lock().unwrap().push((data, privileged));
    }
}

/// A wave, its program and its handler in memory.
struct Bench {
    name: &'static str,
    generation: Generation,
    saved: Option<usize>,
    space: AddressSpace,
    _pages: [HostPages; 2],
    handler: Handler,
    wave: Wave,
    heard: Heard,
}

impl Bench {
    fn new(index: usize, kernel: kernels::Kernel) -> Self {
        let (name, generation, saved) = IMAGES[index];
        let pages = [HostPages::new(4096), HostPages::new(4096)];
        let (_, image) = CODE.iter().find(|(of, _)| *of == name).unwrap();
        let space = AddressSpace::new();
        for page in &pages {
            space.map(page.address, page.bytes, Access::ALL);
        }
        put(&pages[0], image);
        let code: Vec<u8> = kernel[column(name)]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        put(&pages[1], &code);
        let handler = Handler {
            address: pages[0].address,
            argument: ARGUMENT,
            debugged: false,
        };
        let mut wave = Wave::new(generation, pages[1].address);
        for (i, register) in wave.s.iter_mut().enumerate() {
            *register = 0x0101_0101 * u32::try_from(i).unwrap();
        }
        Self {
            name,
            generation,
            saved,
            space,
            _pages: pages,
            handler,
            wave,
            heard: Heard::default(),
        }
    }

    fn of_all(kernel: kernels::Kernel) -> impl Iterator<Item = Self> {
        (0..IMAGES.len()).map(move |index| Self::new(index, kernel))
    }

    fn enter(&mut self, cause: Cause) -> After {
        scalar::enter(&mut self.wave, cause, &self.handler, &self.space, &self.heard)
    }

    fn heard(&self) -> Vec<(u32, bool)> {
        self.heard.0.lock().unwrap().clone()
    }

    /// The dword at an address.
    fn word(&self, address: u64) -> u32 {
        let page = self
            ._pages
            .iter()
            .find(|page| (page.address..page.address + 4096).contains(&address));
        let offset = address - page.unwrap().address;
        let both = page
            .unwrap()
            .word(offset & !7)
            .load(std::sync::atomic::Ordering::Relaxed);
        u32::try_from(both >> (8 * (offset & 4)) & 0xffff_ffff).unwrap()
    }

    fn is_gfx12(&self) -> bool {
        self.generation == Generation::Gfx12
    }
}

fn put(page: &HostPages, bytes: &[u8]) {
    for (i, bytes) in bytes.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let place = page.word(i as u64 * 8);
        place.store(u64::from_le_bytes(word), std::sync::atomic::Ordering::Relaxed);
    }
}

/// Registers that are the program's: not those of trap handlers, nor that there are none of.
fn of_program(wave: &Wave) -> Vec<u32> {
    wave.s[..108].iter().chain(&wave.s[124..]).copied().collect()
}

/// What a handler says of a cause, beside the doorbell.
fn says(cause: Cause, bit: u32) {
    for mut bench in Bench::of_all(kernels::ABORT) {
        let before = bench.wave.clone();
        assert_eq!(bench.enter(cause), After::Stands, "{}", bench.name);
        assert_eq!(bench.heard(), [(DOORBELL | bit, true)], "{}", bench.name);
        assert_eq!(of_program(&bench.wave), of_program(&before), "{}", bench.name);
        assert_eq!(bench.wave.scc, before.scc, "{}", bench.name);
        assert_eq!(bench.wave.mode, before.mode, "{}", bench.name);
        assert!(!bench.wave.privileged);
    }
}

#[test]
fn each_cause_is_a_bit_of_the_report() {
    // Linux: KFD_CTXID0_TRAP_CODE is from bit 10 on, with EC_QUEUE_WAVE_ABORT first.
    says(Cause::Trap(2), 1 << 10);
    says(Cause::Trap(1), 1 << 11);
    says(Cause::Trap(15), 1 << 11);
    says(Cause::Illegal, 1 << 13);
    says(Cause::Memory, 1 << 14);
    says(Cause::Aperture, 1 << 15);
}

#[test]
fn arithmetic_is_reported_where_the_wave_enabled_it() {
    for flag in 0..7 {
        for mut bench in Bench::of_all(kernels::ABORT) {
            if bench.is_gfx12() {
                bench.wave.trap_control = 1 << flag;
            } else {
                bench.wave.mode = 1 << (12 + flag);
            }
            assert_eq!(bench.enter(Cause::Arithmetic(1 << flag)), After::Stands);
            assert_eq!(bench.heard(), [(DOORBELL | 1 << 12, true)], "{}", bench.name);
            let mut other = Bench::new(
                IMAGES.iter().position(|image| image.0 == bench.name).unwrap(),
                kernels::ABORT,
            );
            // A trap of a wave with that flag from before, which it did not enable.
            other.wave.mode = !(1 << (12 + flag));
            other.wave.trap_control = !(1 << flag);
            other.wave.flags = if other.is_gfx12() { 0 } else { 1 << flag };
            other.wave.user_flags = 1 << flag;
            assert_eq!(other.enter(Cause::Trap(2)), After::Stands);
            assert_eq!(other.heard(), [(DOORBELL | 1 << 10, true)], "{}", other.name);
        }
    }
}

/// Fills the registers of trap handlers, and runs the kernel's part alone: what is in them when the handler begins, where it
/// leaves them.
fn begun(bench: &mut Bench, fill: u32) -> Wave {
    for ttmp in 0..16 {
        bench.wave.set_ttmp(ttmp, fill);
    }
    let mut other = bench.wave.clone();
    let after = scalar::enter(
        &mut other,
        Cause::Host,
        &bench.handler,
        &bench.space,
        &bench.heard,
    );
    assert_eq!(after, After::GoesOn, "{}", bench.name);
    other
}

#[test]
fn a_debugger_finds_where_and_why_a_wave_stands() {
    let causes = [
        (Cause::Trap(2), 2, 4),
        (Cause::Trap(15), 15, 4),
        (Cause::Trap(200), 15, 4),
        (Cause::Illegal, 0, 0),
    ];
    for (cause, number, further) in causes {
        for fill in [0, u32::MAX] {
            for mut bench in Bench::of_all(kernels::ABORT) {
                if bench.is_gfx12() && cause == Cause::Trap(200) {
                    // Its numbers have four bits.
                    continue;
                }
                // The sum of it and 4 carries.
                bench.wave.pc = 0x12_ffff_fffc;
                let pc = bench.wave.pc + further;
                let first = begun(&mut bench, fill);
                assert_eq!(bench.enter(cause), After::Stands);
                let (name, wave) = (bench.name, &bench.wave);
                // It stands; it did not before; the trap's number.
                assert_eq!(wave.ttmp(6) >> 29 & 3, 2, "{name}");
                assert_eq!(wave.ttmp(6) >> 25 & 15, number, "{name}");
                assert_eq!(wave.ttmp(6) & 0x1ff_ffff, first.ttmp(6) & 0x1ff_ffff, "{name}");
                let saved = match bench.saved {
                    Some(low) => u64::from(wave.ttmp(low)) | u64::from(wave.ttmp(11) >> 7 & 0xffff) << 32,
                    None => wave.pc,
                };
                assert_eq!(saved, pc, "{name}");
                // What else is there beside the upper half: the wave's number below, flags above.
                let flag = u32::from(bench.generation == Generation::Gfx940) << 31;
                assert_eq!(wave.ttmp(11) & 0x7f, first.ttmp(11) & 0x7f, "{name}");
                assert_eq!(
                    wave.ttmp(11) >> 23 << 23,
                    first.ttmp(11) >> 23 << 23 | flag,
                    "{name}"
                );
                if bench.saved.is_some() {
                    // Instructions that are always there: `s_trap 2`, and a branch back to it.
                    let column = column(name);
                    let branch = [0xbf82_fffe, 0xbf82_fffe, 0xbfa0_fffe, 0xbfa0_fffe][column];
                    let there = [bench.word(wave.pc), bench.word(wave.pc + 4)];
                    assert_eq!(there, [kernels::ABORT[column][0], branch], "{name}");
                }
                assert_eq!(
                    u64::from(wave.ttmp(14)) | u64::from(wave.ttmp(15)) << 32,
                    ARGUMENT
                );
                // SKIP_EXPORT.
                assert!(bench.is_gfx12() || wave.status & 1 << 18 != 0, "{name}");
            }
        }
    }
}

/// On some chips nobody fills these registers unless a debugger asked for it, and a bit says that they are good.
#[test]
fn registers_that_nobody_filled_are_made_good() {
    for (generation, register) in [(Generation::Gfx940, 11), (Generation::Gfx12, 8)] {
        for fill in [0x7777_7777, 0xeeee_eeee] {
            let index = IMAGES.iter().position(|image| image.1 == generation).unwrap();
            let mut bench = Bench::new(index, kernels::ABORT);
            begun(&mut bench, fill);
            bench.enter(Cause::Illegal);
            let (name, wave) = (bench.name, &bench.wave);
            let expected = if fill >> 31 == 0 { 0 } else { fill };
            assert_eq!((wave.ttmp(4), wave.ttmp(5)), (expected, expected), "{name}");
            assert_eq!(wave.ttmp(register) >> 31, 1, "{name}");
        }
    }
    let mut bench = Bench::new(1, kernels::ABORT);
    begun(&mut bench, 0xeeee_eeee);
    bench.wave.set_ttmp(11, 0);
    bench.enter(Cause::Illegal);
    assert_eq!(bench.wave.ttmp(6) >> 31, 0);
}

#[test]
fn a_wave_that_stood_already_says_so() {
    for mut bench in Bench::of_all(kernels::ABORT) {
        begun(&mut bench, 0);
        bench.wave.status = if bench.is_gfx12() { 1 << 14 } else { 1 << 13 };
        assert_eq!(bench.enter(Cause::Trap(2)), After::Stands, "{}", bench.name);
        assert_eq!(bench.wave.ttmp(6) >> 29 & 3, 3, "{}", bench.name);
    }
}

/// The host's interruption while something else is wrong too: that is told when the wave comes back.
#[test]
fn an_interruption_hides_no_exception() {
    for mut bench in Bench::of_all(kernels::ABORT) {
        bench.wave.flags = if bench.is_gfx12() { 1 << 6 } else { 1 << 11 };
        assert_eq!(bench.enter(Cause::Host), After::Stands, "{}", bench.name);
        assert_eq!(bench.heard(), [(DOORBELL | 1 << 13, true)], "{}", bench.name);
    }
}

/// A sample for a profiler that is not there, on gfx12: the flag is taken back.
#[test]
fn a_sample_that_nobody_wants_is_passed() {
    let mut bench = Bench::new(5, kernels::ABORT);
    bench.wave.flags = 1 << 10;
    let pc = bench.wave.pc;
    assert_eq!(bench.enter(Cause::Arithmetic(0)), After::GoesOn);
    assert_eq!((bench.wave.flags, bench.wave.pc, bench.heard()), (0, pc, vec![]));
}

#[test]
fn only_the_flags_of_arithmetic_are_arithmetic() {
    for mut bench in Bench::of_all(kernels::ABORT) {
        bench.wave.mode = u32::MAX;
        bench.wave.trap_control = u32::MAX;
        bench.wave.user_flags = !0x7f;
        assert_eq!(bench.enter(Cause::Aperture), After::Stands, "{}", bench.name);
        assert_eq!(bench.heard(), [(DOORBELL | 1 << 15, true)], "{}", bench.name);
    }
}

#[test]
fn a_breakpoint_stands_only_where_somebody_debugs() {
    for mut bench in Bench::of_all(kernels::BREAKPOINT) {
        bench.wave.pc = 0x12_ffff_fffc;
        let pc = bench.wave.pc;
        assert_eq!(bench.enter(Cause::Trap(3)), After::GoesOn, "{}", bench.name);
        assert_eq!(bench.wave.pc, pc + 4, "{}", bench.name);
        assert_eq!(bench.heard(), []);
        bench.handler.debugged = true;
        assert_eq!(bench.enter(Cause::Trap(3)), After::Stands, "{}", bench.name);
        assert_eq!(bench.heard(), [(DOORBELL | 1 << 11, true)], "{}", bench.name);
    }
}

#[test]
fn a_wave_that_goes_on_is_as_it_was() {
    for cause in [Cause::Trap(3), Cause::Host] {
        for scc in [false, true] {
            for mut bench in Bench::of_all(kernels::BREAKPOINT) {
                bench.wave.pc = 0x12_ffff_fffc;
                bench.wave.scc = scc;
                bench.wave.mode = 0x3f0;
                bench.wave.sched_mode = 2;
                bench.wave.status = if bench.is_gfx12() { 2 } else { 1 << 27 | 3 << 3 };
                // Counters of faults under way, on the chips that have them.
                bench.wave.ib_sts = match bench.generation {
                    Generation::Gfx9 | Generation::Gfx940 => 0x15_8000,
                    Generation::Gfx101 => 0x22a_8000,
                    _ => 0,
                };
                let before = bench.wave.clone();
                assert_eq!(bench.enter(cause), After::GoesOn, "{} {cause:?}", bench.name);
                assert_eq!(bench.heard(), [], "{} {cause:?}", bench.name);
                let mut expected = Wave {
                    pc: before.pc + if cause == Cause::Host { 0 } else { 4 },
                    ..before
                };
                expected.s[108..124].copy_from_slice(&bench.wave.s[108..124]);
                assert_eq!(bench.wave, expected, "{} {cause:?}", bench.name);
            }
        }
    }
}

#[test]
fn programs_do_not_write_registers_of_trap_handlers_nor_leave_them() {
    for mut bench in Bench::of_all(kernels::BREAKPOINT) {
        let before = bench.wave.s;
        let exits: Vec<_> = (0..2)
            .map(|_| {
                let exit = scalar::run(&mut bench.wave, &bench.space, &bench.heard, 1000);
                bench.wave.pc += 4;
                exit
            })
            .collect();
        assert_eq!(exits, [Exit::Trap(3); 2], "{}", bench.name);
        assert_eq!(bench.wave.s[108..124], before[108..124], "{}", bench.name);
    }
}
