//! Images through descriptors as the image extension makes them.

mod support;

use support::device::{Launch, Memory};
use support::run::program;

/// Words of GFX9 for an image of 32-bit elements with one channel: data format 4; `number` is 4 for unsigned integers and
/// 7 for floating-point numbers; `kind` is the geometry.
struct Image {
    memory: Memory,
    size: [u32; 3],
    number: u32,
    kind: u32,
}

const ROW: u32 = 64;
const WIDTH: u32 = 20;

/// Channel orders and types, by their numbers in HSA.
const ORDER_R: u32 = 1;
const TYPE_U32: u32 = 13;
const TYPE_F32: u32 = 15;

impl Image {
    fn new(size: [u32; 3], number: u32, kind: u32, element: impl Fn(u32) -> u32) -> Self {
        // Images start at a multiple of 256 bytes.
        let count = ROW * size[1] * size[2];
        let values: Vec<u32> = (0..count + 128).collect();
        let memory = Memory::of(&values);
        let skip = u32::try_from((memory.address().next_multiple_of(256) - memory.address()) / 4)
            .expect("a few words");
        for index in 0..count {
            memory.poke((skip + index) as usize, element(index));
        }
        Self {
            memory,
            size,
            number,
            kind,
        }
    }

    fn base(&self) -> u64 {
        self.memory.address().next_multiple_of(256)
    }

    /// An element, by column and row over all slices.
    fn element(&self, x: u32, row: u32) -> u32 {
        let skip = usize::try_from((self.base() - self.memory.address()) / 4).expect("a few words");
        let at = skip + (row * ROW + x) as usize;
        self.memory.values::<u32>(at + 1)[at]
    }

    fn descriptor(&self) -> Memory {
        let address = self.base() >> 8;
        let [width, height, slices] = self.size;
        // X 0 0 1 as unsigned selects: 4 is X, 0 is zero, 1 is one.
        let select = 4 | 1 << 9;
        let channel = if self.number == 7 { TYPE_F32 } else { TYPE_U32 };
        Memory::of(&[
            u32::try_from(address & 0xffff_ffff).expect("a word"),
            u32::try_from(address >> 32).expect("a word") & 0xff | 4 << 20 | self.number << 26,
            (width - 1) | (height - 1) << 14,
            select | self.kind << 28,
            (slices - 1) | (ROW - 1) << 13,
            0,
            0,
            0,
            channel,
            ORDER_R,
            width,
            0,
        ])
    }
}

/// Clamp to edge, coordinates in elements, nearest.
fn sampler(normalized: bool, linear: bool, clamp: u32) -> Memory {
    let elements = u32::from(!normalized) << 15;
    let filter = u32::from(linear) * 0x0050_0000;
    Memory::of(&[
        clamp | clamp << 3 | clamp << 6 | elements,
        0xfff << 12,
        filter,
        0,
        0,
        0,
        0,
        0,
    ])
}

fn launch(body: &str, items: u32, buffers: &[&Memory], images: &[&Image]) {
    let text = format!("extension \"IMAGE\";\n{body}");
    let program = program(&text);
    let mut launch = Launch::new(&program, "&k", items, 64);
    for image in images {
        program.share(&image.memory);
    }
    for buffer in buffers {
        launch = launch.buffer(buffer);
    }
    launch.run().expect("the kernel runs");
}

#[test]
fn elements_are_loaded_stored_and_queried() {
    let image = Image::new([WIDTH, 3, 1], 4, 9, |index| 1000 + index);
    let (output, descriptor) = (Memory::new(4 * 5 * 64), image.descriptor());
    let body = "prog kernel &k(kernarg_u64 %out, kernarg_rwimg %image) {
        ld_kernarg_u64 $d0, [%out]; ld_kernarg_rwimg $d1, [%image];
        workitemabsid_u32 $s0, 0; rem_u32 $s1, $s0, 20; div_u32 $s2, $s0, 20;
        cvt_u64_u32 $d2, $s0; mul_u64 $d2, $d2, 20; add_u64 $d0, $d0, $d2;
        ldimage_v4_2d_u32_rwimg_u32 ($s4, $s5, $s6, $s7), $d1, ($s1, $s2);
        queryimage_2d_width_u32_rwimg $s8, $d1; queryimage_2d_height_u32_rwimg $s9, $d1;
        queryimage_2d_channelorder_u32_rwimg $s10, $d1; queryimage_2d_channeltype_u32_rwimg $s11, $d1;
        st_v4_global_align(4)_u32 ($s4, $s5, $s7, $s8), [$d0];
        shl_u32 $s9, $s9, 16; shl_u32 $s10, $s10, 8; or_b32 $s9, $s9, $s10; or_b32 $s9, $s9, $s11;
        st_global_align(4)_u32 $s9, [$d0+16];
        mul_u32 $s4, $s4, 2;
        stimage_v4_2d_u32_rwimg_u32 ($s4, $s5, $s6, $s7), $d1, ($s1, $s2);
        imagefence;
        ret;
    };";
    launch(body, 60, &[&output, &descriptor], &[&image]);
    let values: Vec<u32> = output.values(60 * 5);
    for item in 0..60 {
        let (x, y) = (item % 20, item / 20);
        let element = 1000 + ROW * y + x;
        let row = &values[item as usize * 5..][..5];
        assert_eq!(
            row,
            [element, 0, 1, WIDTH, 3 << 16 | ORDER_R << 8 | TYPE_U32],
            "{x} {y}"
        );
        assert_eq!(image.element(x, y), 2 * element);
    }
}

#[test]
fn layers_rows_and_slices_are_found() {
    for (geometry, kind, coordinates, size) in [
        ("1d", 8, "$s1", [WIDTH, 1, 1]),
        ("3d", 10, "($s1, $s2, $s3)", [WIDTH, 2, 3]),
        ("2da", 13, "($s1, $s2, $s3)", [WIDTH, 2, 3]),
    ] {
        let image = Image::new(size, 4, kind, |index| 7 * index);
        let (output, descriptor) = (Memory::new(4 * 128), image.descriptor());
        let body = format!(
            "prog kernel &k(kernarg_u64 %out, kernarg_roimg %image) {{
            ld_kernarg_u64 $d0, [%out]; ld_kernarg_roimg $d1, [%image];
            workitemabsid_u32 $s0, 0; rem_u32 $s1, $s0, 20; div_u32 $s2, $s0, 20; div_u32 $s3, $s2, 2; and_b32 $s2, $s2, 1;
            cvt_u64_u32 $d2, $s0; shl_u64 $d2, $d2, 2; add_u64 $d0, $d0, $d2;
            ldimage_v4_{geometry}_u32_roimg_u32 ($s4, $s5, $s6, $s7), $d1, {coordinates};
            st_global_align(4)_u32 $s4, [$d0]; ret; }};"
        );
        let items = WIDTH * size[1] * size[2];
        launch(&body, items, &[&output, &descriptor], &[&image]);
        let values: Vec<u32> = output.values(items as usize);
        for (item, value) in (0..items).zip(values) {
            let (x, row) = (item % 20, item / 20);
            assert_eq!(value, 7 * (ROW * row + x), "{geometry} {x} {row}");
        }
    }
}

#[test]
fn samplers_filter_and_clamp() {
    // Each element is its column.
    #[allow(clippy::cast_precision_loss, reason = "columns are small")]
    let image = Image::new([WIDTH, 2, 1], 7, 9, |index| ((index % ROW) as f32).to_bits());
    let descriptor = image.descriptor();
    let (output, linear, nearest) = (Memory::new(64), sampler(true, true, 2), sampler(false, false, 6));
    let body = "prog kernel &k(kernarg_u64 %out, kernarg_roimg %image, kernarg_samp %linear, kernarg_samp %nearest) {
        ld_kernarg_u64 $d0, [%out]; ld_kernarg_roimg $d1, [%image];
        ld_kernarg_samp $d2, [%linear]; ld_kernarg_samp $d3, [%nearest];
        // Halfway between columns 9 and 10, then far beyond the edge.
        rdimage_v4_2d_f32_roimg_f32 ($s4, $s5, $s6, $s7), $d1, $d2, (0.5f, 0.25f); st_global_f32 $s4, [$d0];
        rdimage_v4_2d_f32_roimg_f32 ($s4, $s5, $s6, $s7), $d1, $d2, (7.0f, 0.25f); st_global_f32 $s4, [$d0+4];
        rdimage_v4_2d_f32_roimg_s32 ($s4, $s5, $s6, $s7), $d1, $d3, (13, 1); st_global_f32 $s4, [$d0+8];
        rdimage_v4_2d_f32_roimg_s32 ($s4, $s5, $s6, $s7), $d1, $d3, (-3, 1); st_global_f32 $s4, [$d0+12];
        querysampler_addressing_u32 $s4, $d2; querysampler_addressing_u32 $s5, $d3;
        querysampler_coord_u32 $s6, $d2; querysampler_coord_u32 $s7, $d3;
        querysampler_filter_u32 $s8, $d2; querysampler_filter_u32 $s9, $d3;
        st_v4_global_align(4)_u32 ($s4, $s5, $s6, $s7), [$d0+16]; st_v2_global_align(4)_u32 ($s8, $s9), [$d0+32];
        ret;
    };";
    launch(body, 1, &[&output, &descriptor, &linear, &nearest], &[&image]);
    assert_eq!(output.values::<f32>(4), [9.5, 19.0, 13.0, 0.0]);
    // Edge and border; normalized and not; linear and nearest.
    assert_eq!(output.values::<u32>(10)[4..], [1, 2, 1, 0, 1, 0]);
}

#[test]
fn buffers_are_images_of_one_row() {
    let elements: Vec<u32> = (0..64).map(|index| 3 * index).collect();
    let elements = Memory::of(&elements);
    let address = elements.address();
    let select = 4 | 1 << 9;
    let descriptor = Memory::of(&[
        u32::try_from(address & 0xffff_ffff).expect("a word"),
        u32::try_from(address >> 32).expect("a word") | 4 << 16,
        64,
        select | 4 << 12 | 4 << 15,
        0,
        0,
        0,
        0,
        TYPE_U32,
        ORDER_R,
        64,
        0,
    ]);
    let output = Memory::new(4 * 64);
    let body = "prog kernel &k(kernarg_u64 %out, kernarg_rwimg %image, kernarg_u64 %elements) {
        ld_kernarg_u64 $d0, [%out]; ld_kernarg_rwimg $d1, [%image];
        workitemabsid_u32 $s0, 0; cvt_u64_u32 $d2, $s0; shl_u64 $d2, $d2, 2; add_u64 $d0, $d0, $d2;
        ldimage_v4_1db_u32_rwimg_u32 ($s4, $s5, $s6, $s7), $d1, $s0; st_global_align(4)_u32 $s4, [$d0];
        add_u32 $s4, $s4, 1; stimage_v4_1db_u32_rwimg_u32 ($s4, $s5, $s6, $s7), $d1, $s0;
        ret;
    };";
    launch(body, 64, &[&output, &descriptor, &elements], &[]);
    assert_eq!(
        output.values::<u32>(64),
        (0..64).map(|index| 3 * index).collect::<Vec<u32>>()
    );
    assert_eq!(
        elements.values::<u32>(64),
        (0..64).map(|index| 3 * index + 1).collect::<Vec<u32>>()
    );
}
