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
