//! Whole kernels on the engine: compiled by clang, results compared with the host's.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "Test data are made by wrapping arithmetic"
)]

mod exec_support;

use exec_support::{compile, Arg, Build, Launch, Memory, Program};
use hansa_sim::exec::{resume_group, run_group, Access, Arena, Fault, GroupOutcome, Level, MemoryReason};
use hansa_sim::isa::Target;

const BASICS: &str = r"
kernel void add(global const float *a, global const float *b, global float *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

kernel void reduce(global const int *in, global int *out) {
    local int part[256];
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (l < s) part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}

// The compiler makes a negative address and an offset of `part[255 - l]`.
kernel void mirror(global const int *in, global int *out) {
    local int part[256];
    int l = get_local_id(0);
    part[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = part[255 - l];
}

kernel void histogram(global const uint *in, global uint *bins, global uint *total) {
    atomic_inc(&bins[in[get_global_id(0)] & 15]);
    atomic_add(total, in[get_global_id(0)]);
    atomic_max(total + 1, in[get_global_id(0)]);
}

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

kernel void stack(global int *out, int n) {
    int a[32];
    int i = get_global_id(0);
    for (int k = 0; k < 32; k++) a[k] = i * k + n;
    int sum = 0;
    for (int k = 0; k < 32; k++) sum += a[(k * 7 + i) & 31] * k;
    out[i] = sum;
}

kernel void three(global uint *out) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;
    out[at] = (uint)(x | y << 8 | z << 16) | (uint)(get_local_id(0) + get_local_id(1) * 2 + get_local_id(2) * 4) << 24;
}

kernel void wild(global int *out) { if (get_global_id(0) == 3) *(global int *)0x10 = 1; out[get_global_id(0)] = 1; }
";

fn programs(source: &str) -> Vec<(Build, Program)> {
    Build::usual()
        .into_iter()
        .filter_map(|build| Some((build, Program::load(&compile(source, build)?, build.target))))
        .collect()
}

#[test]
fn vectors_add() {
    let n = 1000u32;
    let (a, b): (Vec<f32>, Vec<f32>) = (0..n).map(|i| (i as f32 * 0.5, 1.0 / (i as f32 + 1.0))).unzip();
    for (build, program) in programs(BASICS) {
        let (a_memory, b_memory, c_memory) = (Memory::of(&a), Memory::of(&b), Memory::new(4 * n as usize));
        let launch = Launch::new(&program, "add", n, 192)
            .buffer(&a_memory)
            .buffer(&b_memory)
            .buffer(&c_memory);
        launch
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault} ({:#x})", program.unloaded(pc(&fault))));
        let sums: Vec<f32> = c_memory.values(n as usize);
        for i in 0..n as usize {
            assert_eq!(sums[i], a[i] + b[i], "{build:?}, element {i}");
        }
    }
}

fn pc(fault: &Fault) -> u64 {
    match fault {
        Fault::Memory { pc, .. }
        | Fault::IllegalInstruction { pc, .. }
        | Fault::Trap { pc, .. }
        | Fault::EndOfCode { pc } => *pc,
        Fault::GroupMemory { .. } | Fault::Stopped => 0,
    }
}

#[test]
fn work_groups_reduce_through_lds() {
    let n = 4096u32;
    let input: Vec<i32> = (0..n as i32).map(|i| (i * 7919) % 1000 - 500).collect();
    for (build, program) in programs(BASICS) {
        let (input_memory, output) = (Memory::of(&input), Memory::new(64));
        let launch = Launch::new(&program, "reduce", n, 256)
            .buffer(&input_memory)
            .buffer(&output);
        launch
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault} ({:#x})", program.unloaded(pc(&fault))));
        let expected: Vec<i32> = input.chunks(256).map(|chunk| chunk.iter().sum()).collect();
        assert_eq!(output.values::<i32>(16), expected, "{build:?}");
    }
}

#[test]
fn addresses_in_lds_wrap_around() {
    let input: Vec<i32> = (0..256).map(|i| i * i).collect();
    for (build, program) in programs(BASICS) {
        let (input_memory, output) = (Memory::of(&input), Memory::new(1024));
        let launch = Launch::new(&program, "mirror", 256, 256)
            .buffer(&input_memory)
            .buffer(&output);
        launch
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault} ({:#x})", program.unloaded(pc(&fault))));
        let expected: Vec<i32> = input.iter().rev().copied().collect();
        assert_eq!(output.values::<i32>(256), expected, "{build:?}");
    }
}

#[test]
fn atomics_count_every_lane() {
    let n = 2000u32;
    let input: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
    for (build, program) in programs(BASICS) {
        let (input_memory, bins, total) = (Memory::of(&input), Memory::new(64), Memory::new(8));
        let launch = Launch::new(&program, "histogram", n, 128)
            .buffer(&input_memory)
            .buffer(&bins)
            .buffer(&total);
        launch
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault} ({:#x})", program.unloaded(pc(&fault))));
        let mut expected = [0u32; 16];
        input
            .iter()
            .for_each(|value| expected[(value & 15) as usize] += 1);
        assert_eq!(bins.values::<u32>(16), expected, "{build:?}");
        let sum = input.iter().fold(0u32, |sum, value| sum.wrapping_add(*value));
        assert_eq!(
            total.values::<u32>(2),
            [sum, *input.iter().max().expect("inputs")],
            "{build:?}"
        );
    }
}

#[test]
fn private_arrays_and_calls_work() {
    let n = 300u32;
    for (build, program) in programs(BASICS) {
        let output = Memory::new(4 * n as usize);
        let launch = Launch::new(&program, "stack", n, 64)
            .buffer(&output)
            .arg(Arg::U32(5));
        launch
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault} ({:#x})", program.unloaded(pc(&fault))));
        let results: Vec<i32> = output.values(n as usize);
        for i in 0..n as i32 {
            let expected: i32 = (0..32).map(|k| (i * ((k * 7 + i) & 31) + 5) * k).sum();
            assert_eq!(results[i as usize], expected, "{build:?}, item {i}");
        }
    }
}

#[test]
fn three_dimensions_and_partial_groups() {
    for (build, program) in programs(BASICS) {
        let output = Memory::new(5 * 7 * 3 * 4);
        let launch = Launch::new(&program, "three", 1, 1)
            .buffer(&output)
            .shape([5, 7, 3], [2, 2, 2]);
        launch
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault} ({:#x})", program.unloaded(pc(&fault))));
        let results: Vec<u32> = output.values(5 * 7 * 3);
        for (at, result) in results.into_iter().enumerate() {
            let (x, y, z) = ((at % 5) as u32, (at / 5 % 7) as u32, (at / 35) as u32);
            let expected = x | y << 8 | z << 16 | ((x % 2) + (y % 2) * 2 + (z % 2) * 4) << 24;
            assert_eq!(result, expected, "{build:?} at {x} {y} {z}");
        }
    }
}

#[test]
fn wild_pointers_are_faults_with_their_address() {
    for (build, program) in programs(BASICS) {
        let output = Memory::new(256);
        let launch = Launch::new(&program, "wild", 64, 64).buffer(&output);
        match launch.run() {
            Err(Fault::Memory {
                address: 0x10,
                write: true,
                reason: MemoryReason::NotMapped,
                ..
            }) => {}
            other => panic!("{build:?}: {other:?}"),
        }
    }
}

const SPIN: &str = r"
kernel void wait(global volatile int *flag, global int *out) {
    while (atomic_load_explicit((global volatile atomic_int *)flag, memory_order_acquire, memory_scope_all_svm_devices) == 0) {}
    out[get_global_id(0)] = flag[1];
}
kernel void neighbours(global atomic_int *turn, global int *out) {
    int wave = get_local_id(0) / 64;
    // Later waves first: each waits for the one after it.
    if (get_local_id(0) % 64 == 0) {
        while (atomic_load(turn) != 3 - wave) {}
        out[wave] = atomic_fetch_add(turn, 1);
    }
}
";

#[test]
fn a_group_that_waits_for_the_host_yields_its_thread() {
    for (build, program) in programs(SPIN) {
        let (flag, output) = (Memory::new(64), Memory::new(256));
        let launch = Launch::new(&program, "wait", 64, 64)
            .buffer(&flag)
            .buffer(&output);
        launch.with_dispatch(|dispatch| {
            let mut arena = Arena::new();
            let first = run_group(dispatch, [0, 0, 0], &mut arena, 0).expect("no fault");
            let GroupOutcome::Yield { group, .. } = first else {
                panic!("{build:?}: did not wait")
            };
            // Another thread can take the group over once the host has spoken.
            flag.poke(1, 42);
            flag.poke(0, 1);
            let outcome = std::thread::scope(|scope| {
                scope
                    .spawn(|| resume_group(dispatch, group, &mut Arena::new()))
                    .join()
                    .expect("thread")
            });
            assert!(
                matches!(outcome, Ok(GroupOutcome::Done)),
                "{build:?}: {outcome:?}"
            );
        });
        assert_eq!(output.values::<i32>(64), [42; 64], "{build:?}");
    }
}

#[test]
fn waves_of_a_group_can_wait_for_each_other() {
    for (build, program) in programs(SPIN) {
        let (turn, output) = (Memory::new(64), Memory::new(256));
        let launch = Launch::new(&program, "neighbours", 256, 256)
            .buffer(&turn)
            .buffer(&output);
        launch.run().unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
        assert_eq!(output.values::<i32>(4), [3, 2, 1, 0], "{build:?}");
    }
}

const OVERWRITTEN: &str = r#"
// The first wave writes what all waves read then, round by round, and no barrier is between that and its next write.
#define ROUNDS(name, memory, put, got) \
    kernel void name(global int *out) { \
        memory; \
        int l = get_local_id(0), sum = 0; \
        for (int round = 1; round < 6; round++) { \
            if (l < 64) { put; } \
            barrier(CLK_LOCAL_MEM_FENCE); \
            for (int k = 0; k < 64; k++) sum += got; \
        } \
        out[l] = sum; \
    }

ROUNDS(written, local volatile int part[64], part[l] = round * l, part[k])
ROUNDS(written_in_pairs, local volatile int2 part[64], part[l] = (int2)(round * l, 0), part[k].x + part[k].y)
// Compilers leave the addresses of volatile memory as they are.
ROUNDS(written_by_flat_address, local int part[64]; volatile int *flat = part, flat[l] = round * l, flat[k])
ROUNDS(exchanged, local volatile int part[64], atomic_xchg(&part[l], round * l), part[k])

#define ONE(x) (uint)__builtin_amdgcn_readfirstlane((uint)(x))
void load_to_lds(local volatile int *to, global int *from) {
    __asm__ volatile(
        "s_mov_b32 m0, %0\n s_mov_b32 s40, %1\n s_mov_b32 s41, %2\n s_mov_b32 s42, -1\n s_mov_b32 s43, 0x27000\n"
        "s_waitcnt vmcnt(0)\n buffer_load_dword %3, s[40:43], 0 offen lds\n s_waitcnt vmcnt(0)"
        :: "s"(ONE(to)), "s"(ONE((ulong)from)), "s"(ONE((ulong)from >> 32)), "v"(4 * (uint)get_local_id(0))
        : "memory", "m0", "s40", "s41", "s42", "s43");
}
ROUNDS(loaded, local volatile int part[64], out[l] = round * l; load_to_lds(part, out), part[k])

// The waves part after the barrier and before they read.
kernel void parted(global int *out) {
    local volatile int part[64];
    int l = get_local_id(0), sum = 0;
    part[l & 63] = l & 63;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64) {
        for (int k = 0; k < 64; k++) sum += part[k];
        part[l] = 0;
    } else {
        for (int k = 63; k >= 0; k--) sum += part[k];
    }
    out[l] = 15 * sum;
}

kernel void in_turn(global int *out) {
    local volatile int turn, count;
    int l = get_local_id(0);
    if (l == 0) { turn = 3; count = 0; }
    barrier(CLK_LOCAL_MEM_FENCE);
    while (turn != l / 64) {}
    if (l % 64 == 0) {
        out[l / 64] = count;
        count = count + 1;
        turn = l / 64 - 1;
    }
}
"#;

/// No barrier parts what all waves read from what the first one writes over it, but on hardware they read long before.
#[test]
fn waves_read_before_the_first_of_them_writes_again() {
    for (build, program) in programs(OVERWRITTEN) {
        for kernel in [
            "written",
            "written_in_pairs",
            "written_by_flat_address",
            "exchanged",
            "loaded",
            "parted",
        ] {
            let output = Memory::new(1024);
            let launch = Launch::new(&program, kernel, 256, 256).buffer(&output);
            launch.run().unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
            assert_eq!(
                output.values::<i32>(256),
                [(1 + 2 + 3 + 4 + 5) * (63 * 64 / 2); 256],
                "{kernel}, {build:?}"
            );
        }
    }
}

#[test]
fn waves_can_wait_for_what_another_writes_to_lds() {
    for (build, program) in programs(OVERWRITTEN) {
        let output = Memory::new(64);
        let launch = Launch::new(&program, "in_turn", 256, 256).buffer(&output);
        launch.run().unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
        assert_eq!(output.values::<i32>(4), [3, 2, 1, 0], "{build:?}");
    }
}

#[test]
fn a_dispatch_can_be_stopped() {
    for (build, program) in programs(SPIN) {
        let (flag, output) = (Memory::new(64), Memory::new(256));
        let launch = Launch::new(&program, "wait", 64, 64)
            .buffer(&flag)
            .buffer(&output);
        std::thread::scope(|scope| {
            let running = scope.spawn(|| launch.run());
            launch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(running.join().expect("thread"), Err(Fault::Stopped), "{build:?}");
        });
    }
}

#[test]
fn memory_that_vanishes_under_a_kernel_is_a_fault() {
    for (build, program) in programs(BASICS) {
        // SAFETY: a fresh anonymous mapping.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        } as u64;
        program.space.map(page, 4096, Access::READ_WRITE);
        let input = Memory::new(4096);
        let launch = Launch::new(&program, "add", 64, 64)
            .buffer(&input)
            .buffer(&input)
            .arg(Arg::Pointer(page));
        match launch.run() {
            Err(Fault::Memory {
                address,
                write: true,
                reason: MemoryReason::HostUnmapped,
                ..
            }) => {
                assert!((page..page + 256).contains(&address), "{build:?}: {address:#x}");
            }
            other => panic!("{build:?}: {other:?}"),
        }
    }
}

const MATRIX: &str = r"
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef float float16_ __attribute__((ext_vector_type(16)));
// One wave: c = a * b with 32x32x2 and 16x16x4 steps.
kernel void mfma32(global const float *a, global const float *b, global float *c, int depth) {
    int l = get_local_id(0);
    float16_ sum = 0;
    for (int k = 0; k < depth; k += 2)
        sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a[(l % 32) * depth + k + l / 32], b[(k + l / 32) * 32 + l % 32], sum, 0, 0, 0);
    for (int r = 0; r < 16; r++) c[(8 * (r / 4) + 4 * (l / 32) + r % 4) * 32 + l % 32] = sum[r];
}
kernel void mfma16(global const float *a, global const float *b, global float *c, int depth) {
    int l = get_local_id(0);
    float4_ sum = 0;
    for (int k = 0; k < depth; k += 4)
        sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[(l % 16) * depth + k + l / 16], b[(k + l / 16) * 16 + l % 16], sum, 0, 0, 0);
    for (int r = 0; r < 4; r++) c[(4 * (l / 16) + r) * 16 + l % 16] = sum[r];
}
";

#[test]
fn matrix_instructions_multiply_matrices() {
    const DEPTH: usize = 24;
    for target in [Target::Gfx908, Target::Gfx90a] {
        let Some(object) = compile(MATRIX, Build::new(target, "-O2")) else {
            return;
        };
        let program = Program::load(&object, target);
        for (kernel, size) in [("mfma32", 32), ("mfma16", 16)] {
            // Small integers: every order of summation gives the same result.
            let a: Vec<f32> = (0..size * DEPTH).map(|i| ((i * 7 % 13) as f32) - 6.0).collect();
            let b: Vec<f32> = (0..size * DEPTH).map(|i| ((i * 5 % 11) as f32) - 5.0).collect();
            let (a_memory, b_memory, c_memory) =
                (Memory::of(&a), Memory::of(&b), Memory::new(4 * size * size));
            let launch = Launch::new(&program, kernel, 64, 64)
                .buffer(&a_memory)
                .buffer(&b_memory)
                .buffer(&c_memory);
            launch
                .arg(Arg::U32(DEPTH as u32))
                .run()
                .unwrap_or_else(|fault| panic!("{target}: {fault}"));
            let c: Vec<f32> = c_memory.values(size * size);
            for i in 0..size {
                for j in 0..size {
                    let expected: f32 = (0..DEPTH).map(|k| a[i * DEPTH + k] * b[k * size + j]).sum();
                    assert_eq!(c[i * size + j], expected, "{target} {kernel} at {i}, {j}");
                }
            }
        }
    }
}

#[test]
fn every_level_gives_the_same_results() {
    let build = Build::new(Target::Gfx900, "-O3");
    let Some(object) = compile(BASICS, build) else {
        return;
    };
    let n = 256u32;
    let a: Vec<f32> = (0..n).map(|i| i as f32 * 1.7).collect();
    for level in Level::available() {
        let program = Program::load_at(&object, build.target, level);
        let (a_memory, c_memory) = (Memory::of(&a), Memory::new(4 * n as usize));
        let launch = Launch::new(&program, "add", n, 64)
            .buffer(&a_memory)
            .buffer(&a_memory)
            .buffer(&c_memory);
        launch.run().expect("runs");
        let expected: Vec<f32> = a.iter().map(|a| a + a).collect();
        assert_eq!(c_memory.values::<f32>(n as usize), expected, "{level:?}");
    }
}
