//! Instructions that write a part of their destination and keep the rest.

mod exec_support;

use exec_support::{compile, Build, Launch, Memory, Program};

const BYTE: &str = r#"
kernel void byte(global uint *out, global const float *in) {
    uint place = get_global_id(0), result = 0x44332211;
    __asm__ volatile("v_cvt_pkaccum_u8_f32 %0, %1, %2" : "+v"(result) : "v"(in[place]), "v"(place));
    out[place] = result;
}
"#;

#[test]
fn a_converted_byte_goes_into_the_old_destination() {
    for build in Build::usual() {
        let Some(object) = compile(BYTE, build) else {
            return;
        };
        let program = Program::load(&object, build.target);
        let (out, values) = (Memory::new(16), Memory::of(&[7.0_f32, 255.0, 300.0, -1.0]));
        let launch = Launch::new(&program, "byte", 4, 4);
        launch.buffer(&out).buffer(&values).run().expect("runs");
        let expected = [0x4433_2207, 0x4433_ff11, 0x44ff_2211, 0x0033_2211];
        assert_eq!(out.values::<u32>(4), expected, "{build:?}");
    }
}

const HALVES: &str = r#"
kernel void halves(global uint *out, global const ushort *in) {
    local uint group[2];
    uint place = get_global_id(0);
    uint low = 0x11112222, high = 0x33334444, buffered = 0x55556666, shared = 0x77778888;
    uint4 from = (uint4)((uint)(ulong)in, (uint)((ulong)in >> 32), 64, 0x20000);
    group[place] = in[place];
    __asm__ volatile("global_load_short_d16 %0, %4, off\n global_load_short_d16_hi %1, %4, off\n"
        "buffer_load_short_d16 %2, %5, %6, 0 offen\n ds_read_u16_d16_hi %3, %7\n s_waitcnt vmcnt(0) lgkmcnt(0)"
        : "+&v"(low), "+&v"(high), "+&v"(buffered), "+&v"(shared)
        : "v"(in + place), "v"(2 * place), "s"(from), "v"((uint)(ulong)(group + place)) : "memory");
    out[4 * place] = low;
    out[4 * place + 1] = high;
    out[4 * place + 2] = buffered;
    out[4 * place + 3] = shared;
}
"#;

/// Registers with an error correcting code are written as a whole.
#[test]
fn loading_half_of_a_register_keeps_the_other_half_where_registers_have_no_ecc() {
    for build in Build::usual().into_iter().filter(|build| build.optimise != "-O0") {
        let Some(object) = compile(HALVES, build) else {
            return;
        };
        let program = Program::load(&object, build.target);
        let (out, values) = (Memory::new(32), Memory::of(&[0xabcd_u16, 0xef01]));
        let launch = Launch::new(&program, "halves", 2, 2);
        launch.buffer(&out).buffer(&values).run().expect("runs");
        let kept = if build.target.has_sram_ecc() { 0 } else { !0 };
        let expected = |value: u32| {
            [
                value | 0x1111_0000 & kept,
                value << 16 | 0x4444 & kept,
                value | 0x5555_0000 & kept,
                value << 16 | 0x8888 & kept,
            ]
        };
        let expected = [expected(0xabcd), expected(0xef01)].concat();
        assert_eq!(out.values::<u32>(8), expected, "{build:?}");
    }
}
