//! Image instructions: OpenCL kernels against a model of filtering in double precision, and instructions that no
//! compiler makes, by hand.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "Test data are small numbers, and exact where they are compared"
)]

mod exec_support;

use exec_support::{assemble, compile, Arg, Build, Launch, Memory, Program};
use hansa_sim::exec::Level;
use hansa_sim::isa::Target;

const KERNELS: &str = r"
kernel void sample1(read_only image1d_t im, sampler_t s, global const float4 *at, global float4 *out) {
    size_t i = get_global_id(0); out[i] = read_imagef(im, s, at[i].x);
}
kernel void sample2(read_only image2d_t im, sampler_t s, global const float4 *at, global float4 *out) {
    size_t i = get_global_id(0); out[i] = read_imagef(im, s, at[i].xy);
}
kernel void sample3(read_only image3d_t im, sampler_t s, global const float4 *at, global float4 *out) {
    size_t i = get_global_id(0); out[i] = read_imagef(im, s, at[i]);
}
kernel void sample2a(read_only image2d_array_t im, sampler_t s, global const float4 *at, global float4 *out) {
    size_t i = get_global_id(0); out[i] = read_imagef(im, s, at[i]);
}
kernel void integers(read_only image2d_t im, global uint4 *out, int width) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int x = get_global_id(0), y = get_global_id(1);
    out[y * width + x] = read_imageui(im, s, (int2)(x, y));
}
kernel void fill(write_only image2d_t im, global const float4 *in, int width) {
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(im, (int2)(x, y), in[y * width + x]);
}
kernel void fill3(write_only image3d_t im) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    write_imageui(im, (int4)(x, y, z, 0), (uint4)(x + 10 * y + 100 * z, 1, 2, 3));
}
kernel void twice(read_write image1d_buffer_t im) {
    int x = get_global_id(0);
    float4 old = read_imagef(im, x);
    write_imagef(im, x, old * 2.0f);
}
kernel void about(read_only image2d_array_t im, global int *out) {
    out[0] = get_image_width(im); out[1] = get_image_height(im); out[2] = get_image_array_size(im);
}
";

const PLANE: u32 = 9;
const LINE: u32 = 8;
const SOLID: u32 = 10;
const PLANES: u32 = 13;
const RGBA: u32 = 0xfac;
const BGRA: u32 = 0xf2e;
const RED: u32 = 0x204;

/// An image and its descriptor.
struct Image {
    memory: Memory,
    words: Memory,
    base: u64,
    size: [u32; 3],
    pitch: u32,
    bytes: u32,
}

impl Image {
    /// `format` is data format, number format and bytes of an element.
    fn new(kind: u32, [data, number, bytes]: [u32; 3], selects: u32, size: [u32; 3]) -> Self {
        let pitch = (size[0] * bytes).next_multiple_of(256) / bytes;
        let memory = Memory::new((pitch * bytes * size[1] * size[2]) as usize + 256);
        let base = memory.address().next_multiple_of(256);
        let words = [
            (base >> 8) as u32,
            (base >> 40) as u32 | data << 20 | number << 26,
            (size[0] - 1) | (size[1] - 1) << 14,
            selects | kind << 28,
            (size[2] - 1) | (pitch - 1) << 13,
            0,
            0,
            0,
            0,
            0,
            size[0],
            0,
        ];
        Self {
            memory,
            words: Memory::of(&words),
            base,
            size,
            pitch,
            bytes,
        }
    }

    fn index(&self, [x, y, z]: [u32; 3]) -> usize {
        let element = (z * self.size[1] + y) * self.pitch + x;
        (self.base - self.memory.address()) as usize + (element * self.bytes) as usize
    }

    fn put(&mut self, at: [u32; 3], value: &[u8]) {
        let index = self.index(at);
        for (i, byte) in value.iter().enumerate() {
            let word = &mut self.memory.words[(index + i) / 8];
            let shift = 8 * ((index + i) % 8);
            *word = *word & !(0xff << shift) | u64::from(*byte) << shift;
        }
    }

    fn get<const N: usize>(&self, at: [u32; 3]) -> [u8; N] {
        let index = self.index(at);
        std::array::from_fn(|i| (self.memory.words[(index + i) / 8] >> (8 * ((index + i) % 8))) as u8)
    }

    fn places(&self) -> impl Iterator<Item = [u32; 3]> {
        let [w, h, d] = self.size;
        (0..d).flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| [x, y, z])))
    }

    /// Fills it with floats, each the same whatever the size, and gives their reader.
    fn floats(&mut self) -> impl Fn([i64; 3]) -> [f64; 4] {
        let value = |at: [i64; 3], c: i64| (((at[0] * 7 + at[1] * 13 + at[2] * 29 + c * 5) % 64) - 20) as f32;
        for at in self.places().collect::<Vec<_>>() {
            let bytes: Vec<u8> = (0..4)
                .flat_map(|c| value(at.map(i64::from), c).to_le_bytes())
                .collect();
            self.put(at, &bytes);
        }
        move |at| [0, 1, 2, 3].map(|c| f64::from(value(at, c)))
    }
}

/// Passing images to kernels.
trait Passing {
    fn image(self, image: &Image) -> Self;
    fn view(self, image: &Image, words: &Memory) -> Self;
}

impl Passing for Launch<'_> {
    fn image(self, image: &Image) -> Self {
        self.view(image, &image.words)
    }

    fn view(self, image: &Image, words: &Memory) -> Self {
        self.program.share(&image.memory);
        self.buffer(words)
    }
}

/// A sampler: clamp for all axes, coordinates in elements, linear.
fn sampler(clamp: u32, elements: bool, linear: bool) -> Memory {
    let linear = u32::from(linear);
    Memory::of(&[
        (clamp * 0x49) | (u32::from(elements) << 15),
        0xfff << 12,
        linear << 20 | linear << 22,
        0u32,
        0,
        0,
        0,
        0,
    ])
}

/// LLVM has image instructions for gfx90a only where it optimises.
fn programs() -> Vec<(Build, Program)> {
    [
        (Target::Gfx900, "-O0"),
        (Target::Gfx900, "-O3"),
        (Target::Gfx90a, "-O3"),
    ]
    .map(|(target, optimise)| Build::new(target, optimise))
    .into_iter()
    .filter_map(|build| Some((build, Program::load(&compile(KERNELS, build)?, build.target))))
    .collect()
}

/// The element that an index means, or none for the border.
fn model_index(clamp: u32, index: i64, size: i64) -> Option<i64> {
    match clamp {
        0 => Some(index.rem_euclid(size)),
        1 => {
            let k = index.rem_euclid(2 * size);
            Some(if k < size { k } else { 2 * size - 1 - k })
        }
        2 => Some(index.clamp(0, size - 1)),
        _ => (0..size).contains(&index).then_some(index),
    }
}

/// Filtering as OpenCL defines it.
fn model(
    texel: &dyn Fn([i64; 3]) -> [f64; 4],
    size: [u32; 3],
    dimensions: usize,
    at: [f64; 3],
    clamp: u32,
    linear: bool,
) -> [f64; 4] {
    let mut sum = [0.0; 4];
    for corner in 0..if linear { 1 << dimensions } else { 1 } {
        let mut weight = 1.0;
        let mut place = [Some(0); 3];
        for axis in 0..dimensions {
            let (index, share) = if linear {
                let t = at[axis] - 0.5;
                let upper = corner >> axis & 1;
                let fraction = t - t.floor();
                let share = if upper == 1 { fraction } else { 1.0 - fraction };
                (t.floor() as i64 + upper, share)
            } else {
                (at[axis].floor() as i64, 1.0)
            };
            weight *= share;
            place[axis] = model_index(clamp, index, size[axis].into());
        }
        let value = match place {
            [Some(x), Some(y), Some(z)] => texel([x, y, z]),
            _ => [0.0; 4],
        };
        for (sum, value) in sum.iter_mut().zip(value) {
            *sum += weight * value;
        }
    }
    sum
}

#[test]
fn samples_are_those_of_the_model() {
    // Coordinates in elements, away from where a rounding decides.
    let points: Vec<[f32; 4]> = (0..256)
        .map(|i| {
            let along =
                |step: i32, top: i32| ((i * step) % (top * 16)) as f32 / 8.0 - top as f32 / 2.0 + 0.03;
            [along(37, 24), along(23, 12), along(11, 6), 0.0]
        })
        .collect();
    for (build, program) in programs() {
        for (kernel, kind, size, dimensions) in [
            ("sample1", LINE, [24, 1, 1], 1),
            ("sample2", PLANE, [24, 12, 1], 2),
            ("sample3", SOLID, [24, 12, 6], 3),
        ] {
            let mut image = Image::new(kind, [14, 7, 16], RGBA, size);
            let texel = image.floats();
            for (clamp, elements, linear) in [
                (2, true, false),
                (6, true, true),
                (2, true, true),
                (0, false, false),
                (0, false, true),
                (1, false, true),
                (1, false, false),
                (6, false, false),
            ] {
                let given: Vec<[f32; 4]> = points
                    .iter()
                    .map(|point| {
                        std::array::from_fn(|axis| match size.get(axis) {
                            Some(size) if !elements => point[axis] / *size as f32,
                            _ => point[axis],
                        })
                    })
                    .collect();
                let (at, out) = (Memory::of(&given), Memory::new(16 * points.len()));
                let sampler = sampler(clamp, elements, linear);
                let launch = Launch::new(&program, kernel, points.len() as u32, 64)
                    .image(&image)
                    .buffer(&sampler)
                    .buffer(&at)
                    .buffer(&out);
                launch.run().unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
                let found: Vec<[f32; 4]> = out.values(points.len());
                for (point, found) in points.iter().zip(found) {
                    let place = [0, 1, 2].map(|axis| f64::from(point[axis]));
                    let expected = model(&texel, size, dimensions, place, clamp, linear);
                    // Weights have eight bits.
                    let bound = if linear {
                        dimensions as f64 * 64.0 / 256.0
                    } else {
                        0.0
                    };
                    for (found, expected) in found.iter().zip(expected) {
                        assert!(
                            (f64::from(*found) - expected).abs() <= bound,
                            "{build:?} {kernel} clamp {clamp} linear {linear} elements {elements} at {point:?}: \
                             {found}, not {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn every_texel_is_found_by_its_normalised_middle() {
    for (build, program) in programs() {
        for width in [1, 7, 25, 31, 64, 97] {
            let mut image = Image::new(PLANE, [10, 0, 4], RGBA, [width, 3, 1]);
            for at in image.places().collect::<Vec<_>>() {
                image.put(at, &[at[0] as u8, at[1] as u8, 7, 255]);
            }
            let points: Vec<[f32; 4]> = image
                .places()
                .map(|[x, y, _]| [(x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / 3.0, 0.0, 0.0])
                .collect();
            let (at, out) = (Memory::of(&points), Memory::new(16 * points.len()));
            let sampler = sampler(2, false, false);
            let launch = Launch::new(&program, "sample2", points.len() as u32, 64)
                .image(&image)
                .buffer(&sampler)
                .buffer(&at)
                .buffer(&out);
            launch.run().unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
            let found: Vec<[f32; 4]> = out.values(points.len());
            for ([x, y, _], found) in image.places().zip(found) {
                let expected = [x, y, 7, 255].map(|byte| byte as f32 / 255.0);
                assert_eq!(found, expected, "{build:?}, {x} {y} of {width}");
            }
        }
    }
}

#[test]
fn layers_are_rounded_and_held() {
    for (build, program) in programs() {
        let mut image = Image::new(PLANES, [4, 7, 4], RED, [4, 4, 3]);
        for at in image.places().collect::<Vec<_>>() {
            image.put(at, &((at[0] + 10 * at[1] + 100 * at[2]) as f32).to_le_bytes());
        }
        let layers = [-1.0, 0.4, 0.5, 0.6, 1.5, 2.2, 7.0];
        let points = layers.map(|layer| [1.5f32, 2.5, layer, 0.0]);
        let (at, out) = (Memory::of(&points), Memory::new(16 * points.len()));
        let sampler = sampler(2, true, false);
        let launch = Launch::new(&program, "sample2a", points.len() as u32, 7)
            .image(&image)
            .buffer(&sampler)
            .buffer(&at)
            .buffer(&out);
        launch.run().unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
        let found: Vec<[f32; 4]> = out.values(points.len());
        let expected = [0, 0, 0, 1, 2, 2, 2].map(|z| [(21 + 100 * z) as f32, 0.0, 0.0, 1.0]);
        assert_eq!(found, expected, "{build:?}");
        let sizes = Memory::new(12);
        Launch::new(&program, "about", 1, 1)
            .image(&image)
            .buffer(&sizes)
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
        assert_eq!(sizes.values::<i32>(3), [4, 4, 3]);
    }
}

#[test]
fn stores_convert_and_loads_convert_back() {
    let colours: Vec<[f32; 4]> = (0..12)
        .map(|i| [i as f32 / 11.0, 1.5 - i as f32 / 4.0, -0.25, 1.0])
        .collect();
    let unorm = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8;
    let snorm = |value: f32| (value.clamp(-1.0, 1.0) * 127.0).round_ties_even() as i8 as u8;
    for (build, program) in programs() {
        let input = Memory::of(&colours);
        let fill = |image: &Image| {
            let launch = Launch::new(&program, "fill", 4, 4)
                .shape([4, 3, 1], [4, 3, 1])
                .image(image)
                .buffer(&input)
                .arg(Arg::U32(4));
            launch.run().unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
        };
        let bytes = Image::new(PLANE, [10, 0, 4], RGBA, [4, 3, 1]);
        let swapped = Image::new(PLANE, [10, 0, 4], BGRA, [4, 3, 1]);
        let signed = Image::new(PLANE, [10, 1, 4], RGBA, [4, 3, 1]);
        let packed = Image::new(PLANE, [16, 0, 2], 0x22e, [4, 3, 1]);
        for image in [&bytes, &swapped, &signed, &packed] {
            fill(image);
        }
        for (at, colour) in bytes.places().zip(&colours) {
            let [r, g, b, a] = colour.map(unorm);
            assert_eq!(bytes.get(at), [r, g, b, a], "{build:?} {at:?}");
            assert_eq!(swapped.get(at), [b, g, r, a], "{build:?} {at:?}");
            assert_eq!(signed.get(at), colour.map(snorm), "{build:?} {at:?}");
            let part = |value: f32, top: f32| (value.clamp(0.0, 1.0) * top).round_ties_even() as u16;
            let expected = part(colour[0], 31.0) << 11 | part(colour[1], 63.0) << 5 | part(colour[2], 31.0);
            assert_eq!(packed.get(at), expected.to_le_bytes(), "{build:?} {at:?}");
        }
        let out = Memory::new(16 * 12);
        let mut words: Vec<u32> = bytes.words.values(12);
        words[1] = words[1] & !(15 << 26) | 4 << 26;
        let view = Memory::of(&words);
        Launch::new(&program, "integers", 4, 4)
            .shape([4, 3, 1], [4, 3, 1])
            .view(&bytes, &view)
            .buffer(&out)
            .arg(Arg::U32(4))
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
        let found: Vec<[u32; 4]> = out.values(12);
        for (colour, found) in colours.iter().zip(found) {
            assert_eq!(found, colour.map(unorm).map(u32::from), "{build:?}");
        }
    }
}

#[test]
fn a_solid_and_a_buffer_are_written() {
    for (build, program) in programs() {
        let solid = Image::new(SOLID, [12, 4, 8], RGBA, [5, 3, 2]);
        Launch::new(&program, "fill3", 5, 5)
            .shape([5, 3, 2], [5, 3, 1])
            .image(&solid)
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
        for at @ [x, y, z] in solid.places() {
            let first = (x + 10 * y + 100 * z) as u16;
            let expected = [first, 1, 2, 3].map(u16::to_le_bytes).concat();
            assert_eq!(solid.get::<8>(at)[..], expected, "{build:?} {at:?}");
        }
        let numbers: Vec<f32> = (0..64).map(|i| i as f32).collect();
        let memory = Memory::of(&numbers);
        let address = memory.address();
        let words = Memory::of(&[
            address as u32,
            (address >> 32) as u32 | 4 << 16,
            // The last four are outside.
            60,
            RED | 7 << 12 | 4 << 15,
        ]);
        program.share(&memory);
        Launch::new(&program, "twice", 64, 64)
            .buffer(&words)
            .run()
            .unwrap_or_else(|fault| panic!("{build:?}: {fault}"));
        for (i, found) in memory.values::<f32>(64).into_iter().enumerate() {
            let expected = if i < 60 { 2 * i } else { i };
            assert_eq!(found, expected as f32, "{build:?}");
        }
    }
}

/// Runs one instruction for 64 lanes: its address is in v1 to v8, its data in v20 to v27, which begin as v5 to v8 and zero.
/// `None` where there is no assembler.
fn by_hand(
    instruction: &str,
    memory: &Memory,
    image: [u32; 8],
    sampler: [u32; 4],
    inputs: impl Fn(u32) -> [u32; 8],
) -> Option<Vec<[u32; 8]>> {
    let text = format!(
        "s_load_dwordx2 s[30:31], s[8:9], 0x0
         s_load_dwordx2 s[32:33], s[8:9], 0x8
         s_load_dwordx2 s[34:35], s[8:9], 0x10
         s_load_dwordx2 s[36:37], s[8:9], 0x18
         s_waitcnt lgkmcnt(0)
         s_load_dwordx8 s[16:23], s[30:31], 0x0
         s_load_dwordx4 s[24:27], s[32:33], 0x0
         v_lshlrev_b32 v10, 5, v0
         global_load_dwordx4 v[1:4], v10, s[34:35]
         global_load_dwordx4 v[5:8], v10, s[34:35] offset:16
         s_waitcnt vmcnt(0) lgkmcnt(0)
         v_mov_b32 v20, v5
         v_mov_b32 v21, v6
         v_mov_b32 v22, v7
         v_mov_b32 v23, v8
         v_mov_b32 v24, 0
         v_mov_b32 v25, 0
         v_mov_b32 v26, 0
         v_mov_b32 v27, 0
         {instruction}
         s_waitcnt vmcnt(0)
         global_store_dwordx4 v10, v[20:23], s[36:37]
         global_store_dwordx4 v10, v[24:27], s[36:37] offset:16
         s_endpgm"
    );
    let words = assemble(&text, Target::Gfx900)?;
    let program = Program::raw(&words, Target::Gfx900, Level::chosen());
    let given: Vec<[u32; 8]> = (0..64).map(inputs).collect();
    let out = Memory::new(64 * 32);
    program.share(memory);
    let (image, sampler, given) = (Memory::of(&image), Memory::of(&sampler), Memory::of(&given));
    let launch = Launch::new(&program, "raw", 64, 64)
        .buffer(&image)
        .buffer(&sampler)
        .buffer(&given)
        .buffer(&out);
    launch
        .run()
        .unwrap_or_else(|fault| panic!("{instruction}: {fault}"));
    Some(out.values(64))
}

fn descriptor(image: &Image) -> [u32; 8] {
    image.words.values(8).try_into().expect("eight words")
}

/// Points and elements as they are.
const NEAREST: [u32; 4] = [2 * 0x49, 0xfff << 12, 0, 0];

/// A plane of one float in each element: column plus 100 times the row.
fn ramp(kind: u32, size: [u32; 3]) -> Image {
    let mut image = Image::new(kind, [4, 7, 4], RED, size);
    for at in image.places().collect::<Vec<_>>() {
        image.put(at, &((at[0] + 100 * at[1] + 10_000 * at[2]) as f32).to_le_bytes());
    }
    image
}

fn floats(lane: [u32; 8]) -> [f32; 4] {
    std::array::from_fn(|i| f32::from_bits(lane[i]))
}

#[test]
fn loads_outside_see_the_selects_only() {
    let image = ramp(PLANE, [8, 8, 1]);
    let load = "image_load v[20:24], v[1:2], s[16:23] dmask:0xf unorm tfe";
    let Some(found) = by_hand(load, &image.memory, descriptor(&image), NEAREST, |lane| {
        [lane % 16, lane / 16, 0, 0, 9, 9, 9, 9]
    }) else {
        return;
    };
    for (lane, found) in (0..64).zip(found) {
        let (x, y) = (lane % 16, lane / 16);
        let value = if x < 8 { (x + 100 * y) as f32 } else { 0.0 };
        assert_eq!(floats(found), [value, 0.0, 0.0, 1.0], "{lane}");
        assert_eq!(found[4], 0, "the status");
    }
    let none = "image_load v[20:23], v[1:2], s[16:23] dmask:0xf unorm";
    let found =
        by_hand(none, &image.memory, [0; 8], NEAREST, |_| [0, 0, 0, 0, 9, 9, 9, 9]).expect("as above");
    assert_eq!(found[5], [0; 8], "an unbound image");
}

#[test]
fn a_mask_packs_registers_and_halves() {
    let mut image = Image::new(PLANE, [10, 4, 4], RGBA, [8, 8, 1]);
    for at in image.places().collect::<Vec<_>>() {
        image.put(at, &[at[0] as u8, at[1] as u8, 200, 3]);
    }
    let at = |lane: u32| [lane % 8, lane / 8, 0, 0, 9, 9, 9, 9];
    let run = |text: &str| by_hand(text, &image.memory, descriptor(&image), NEAREST, at);
    let Some(found) = run("image_load v[20:21], v[1:2], s[16:23] dmask:0xa unorm") else {
        return;
    };
    assert_eq!(found[19][..3], [2, 3, 9]);
    let found = run("image_load v[20:21], v[1:2], s[16:23] dmask:0xd unorm d16").expect("as above");
    assert_eq!(found[19][..3], [3 | 200 << 16, 3, 9]);
    let found = run("image_load_pck v20, v[1:2], s[16:23] dmask:0x1 unorm").expect("as above");
    assert_eq!(found[19][..2], [0x03c8_0203, 9]);
    let narrow = |lane: u32| [(lane % 8) | ((lane / 8) << 16), 0, 0, 0, 9, 9, 9, 9];
    let text = "image_load v[20:23], v1, s[16:23] dmask:0xf unorm a16";
    let found = by_hand(text, &image.memory, descriptor(&image), NEAREST, narrow).expect("as above");
    assert_eq!(found[19][..4], [3, 2, 200, 3]);
}

#[test]
fn atomics_return_what_was_there() {
    let image = Image::new(PLANE, [4, 4, 4], RED, [4, 4, 1]);
    // All lanes of a column meet in one element, and every fifth lane is outside.
    let at = |lane: u32| [if lane % 5 == 4 { 4 } else { lane % 4 }, 0, 0, 0, lane, 9, 9, 9];
    let add = "image_atomic_add v20, v[1:2], s[16:23] dmask:0x1 unorm glc";
    let Some(found) = by_hand(add, &image.memory, descriptor(&image), NEAREST, at) else {
        return;
    };
    let mut sums = [0; 4];
    for (lane, found) in (0..64).zip(found) {
        if lane % 5 == 4 {
            assert_eq!(found[0], 0, "{lane}");
        } else {
            assert_eq!(found[0], sums[lane as usize % 4], "{lane}");
            sums[lane as usize % 4] += lane;
        }
    }
    for (x, sum) in (0..4).zip(sums) {
        assert_eq!(image.get([x, 0, 0]), sum.to_le_bytes());
    }
    let swap = "image_atomic_cmpswap v[20:21], v[1:2], s[16:23] dmask:0x3 unorm glc";
    let inputs = |lane: u32| [lane % 4, 0, 0, 0, 1000 + lane, sums[lane as usize % 4], 0, 0];
    let found = by_hand(swap, &image.memory, descriptor(&image), NEAREST, inputs).expect("as above");
    for lane in 0..8 {
        let expected = if lane < 4 { sums[lane] } else { 996 + lane as u32 };
        assert_eq!(found[lane][0], expected, "{lane}");
    }
    let wide = Image::new(PLANE, [11, 4, 8], 0x22c, [4, 4, 1]);
    let or = "image_atomic_or v[20:21], v[1:2], s[16:23] dmask:0x3 unorm";
    let inputs = |lane: u32| [1, 1, 0, 0, 1 << (lane % 32), if lane == 63 { 5 } else { 0 }, 0, 0];
    by_hand(or, &wide.memory, descriptor(&wide), NEAREST, inputs).expect("as above");
    assert_eq!(u64::from_le_bytes(wide.get([1, 1, 0])), 5 << 32 | 0xffff_ffff);
}

#[test]
fn a_gather_goes_around_the_footprint() {
    let image = ramp(PLANE, [8, 8, 1]);
    let at = |_| {
        let [x, y] = [3.0f32 / 8.0, 5.0 / 8.0].map(f32::to_bits);
        [x, y, 0, 0, 9, 9, 9, 9]
    };
    let text = "image_gather4_lz v[20:23], v[1:2], s[16:23], s[24:27] dmask:0x1";
    let Some(found) = by_hand(text, &image.memory, descriptor(&image), NEAREST, at) else {
        return;
    };
    assert_eq!(floats(found[0]), [502.0, 503.0, 403.0, 402.0]);
    let alpha = "image_gather4_lz v[20:23], v[1:2], s[16:23], s[24:27] dmask:0x8";
    let found = by_hand(alpha, &image.memory, descriptor(&image), NEAREST, at).expect("as above");
    assert_eq!(floats(found[0]), [1.0; 4]);
    // Texels 402, 403, 502, 503 against 450: less.
    let compare = "image_gather4_c_lz v[20:23], v[1:3], s[16:23], s[24:27] dmask:0x1";
    let at = |_| {
        let [reference, x, y] = [450.0f32, 3.0 / 8.0, 5.0 / 8.0].map(f32::to_bits);
        [reference, x, y, 0, 0, 0, 0, 0]
    };
    let less = [NEAREST[0] | 1 << 12, NEAREST[1], 0, 0];
    let found = by_hand(compare, &image.memory, descriptor(&image), less, at).expect("as above");
    assert_eq!(floats(found[0]), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn comparisons_are_blended_and_offsets_are_in_elements() {
    let image = ramp(PLANE, [8, 8, 1]);
    let words = |reference: f32, x: f32, y: f32| [reference, x, y].map(f32::to_bits);
    let linear_less = [NEAREST[0] | 1 << 12 | 1 << 15, 0xfff << 12, 5 << 20, 0];
    let text = "image_sample_c_lz v20, v[1:3], s[16:23], s[24:27] dmask:0x1";
    let Some(found) = by_hand(text, &image.memory, descriptor(&image), linear_less, |_| {
        // A quarter of the way from column 2 to column 3, between the middles of rows 4 and 5.
        let [a, b, c] = words(402.5, 2.75, 5.0);
        [a, b, c, 0, 0, 0, 0, 0]
    }) else {
        return;
    };
    // Of 402, 403, 502 and 503 only the first is not larger.
    assert_eq!(f32::from_bits(found[0][0]), 1.0 - 0.75 * 0.5);
    let text = "image_sample_lz_o v20, v[1:3], s[16:23], s[24:27] dmask:0x1";
    let found = by_hand(text, &image.memory, descriptor(&image), NEAREST, |_| {
        let [_, x, y] = words(0.0, 4.5 / 8.0, 4.5 / 8.0);
        // Two columns back, three rows on.
        [0x3e | 3 << 8, x, y, 0, 0, 0, 0, 0]
    })
    .expect("as above");
    assert_eq!(f32::from_bits(found[0][0]), 702.0);
}

#[test]
fn levels_are_chosen_by_detail_bias_and_derivatives() {
    // Four levels of 8 by 8 below each other, each of one number.
    let mut image = ramp(PLANE, [8, 15, 1]);
    for (level, first, rows) in [(0, 0, 8u32), (1, 8, 4), (2, 12, 2), (3, 14, 1)] {
        for (y, x) in (0..rows).flat_map(|y| (0..8).map(move |x| (y, x))) {
            image.put([x, first + y, 0], &((level * 10) as f32).to_le_bytes());
        }
    }
    let mut words = descriptor(&image);
    words[2] = 7 | 7 << 14;
    words[3] |= 3 << 16;
    let nearest = [NEAREST[0], NEAREST[1], 1 << 26, 0];
    let linear = [NEAREST[0], NEAREST[1], 2 << 26, 0];
    let lods = [0.0f32, 0.75, 1.25, 3.0, 9.0, -2.0];
    let inputs = |lane: u32| {
        let [x, y, lod] = [0.3f32, 0.3, lods[lane as usize % 6]].map(f32::to_bits);
        [x, y, lod, 0, 0, 0, 0, 0]
    };
    let values = |text: &str, sampler, inputs: &dyn Fn(u32) -> [u32; 8]| {
        let found = by_hand(text, &image.memory, words, sampler, inputs)?;
        Some(
            found
                .into_iter()
                .map(|lane| f32::from_bits(lane[0]))
                .collect::<Vec<_>>(),
        )
    };
    let text = "image_sample_l v20, v[1:3], s[16:23], s[24:27] dmask:0x1";
    let Some(found) = values(text, nearest, &inputs) else {
        return;
    };
    assert_eq!(found[..6], [0.0, 10.0, 10.0, 30.0, 30.0, 0.0]);
    assert_eq!(
        values(text, linear, &inputs).expect("as above")[..6],
        [0.0, 7.5, 12.5, 30.0, 30.0, 0.0]
    );
    // A bias of -1 in the sampler.
    let biased = [NEAREST[0], NEAREST[1], 2 << 26 | 0x3f00, 0];
    assert_eq!(
        values(text, biased, &inputs).expect("as above")[..4],
        [0.0, 0.0, 2.5, 20.0]
    );
    // Four elements from column to column: level 2.
    let derivatives = |_| {
        let [du, zero, x] = [0.5f32, 0.0, 0.3].map(f32::to_bits);
        [du, zero, zero, zero, x, x, 0, 0]
    };
    let text = "image_sample_d v20, v[1:8], s[16:23], s[24:27] dmask:0x1";
    assert_eq!(values(text, linear, &derivatives).expect("as above")[0], 20.0);
    // The same from the lanes of a quad.
    let quad = |lane: u32| {
        let [x, y] = [(lane % 2) as f32 * 0.5, 0.3].map(f32::to_bits);
        [x, y, 0, 0, 0, 0, 0, 0]
    };
    let text = "image_sample v20, v[1:2], s[16:23], s[24:27] dmask:0x1";
    assert_eq!(values(text, linear, &quad).expect("as above")[..4], [20.0; 4]);
    let text = "image_get_lod v[20:21], v[1:2], s[16:23], s[24:27] dmask:0x3";
    let found = by_hand(text, &image.memory, words, linear, quad).expect("as above");
    assert_eq!(floats(found[0])[..2], [2.0, 2.0]);
    let text = "image_get_resinfo v[20:23], v1, s[16:23] dmask:0xf";
    let found = by_hand(text, &image.memory, words, NEAREST, |lane| {
        [lane, 0, 0, 0, 0, 0, 0, 0]
    })
    .expect("as above");
    assert_eq!(
        (found[0][..4].to_vec(), found[2][..4].to_vec()),
        (vec![8, 8, 1, 4], vec![2, 2, 1, 4])
    );
    assert_eq!(found[4][..4], [0, 0, 0, 4]);
    let text = "image_load_mip v20, v[1:3], s[16:23] dmask:0x1 unorm";
    let found = by_hand(text, &image.memory, words, NEAREST, |lane| {
        [0, 0, lane, 0, 0, 0, 0, 0]
    })
    .expect("as above");
    assert_eq!(
        [0, 1, 2, 3, 4].map(|lane: usize| f32::from_bits(found[lane][0])),
        [0.0, 10.0, 20.0, 30.0, 0.0]
    );
}

#[test]
fn the_border_is_seen_through_the_selects() {
    // Alpha only, in the first component.
    let mut image = Image::new(PLANE, [1, 0, 1], 4 << 9, [4, 4, 1]);
    image.put([0, 0, 0], &[255]);
    let mut words = descriptor(&image);
    words[4] |= 3 << 29;
    let text = "image_sample_lz v[20:23], v[1:2], s[16:23], s[24:27] dmask:0xf";
    let at = |lane: u32| {
        let [x, y] = [lane as f32 - 1.0 + 0.1, 0.1].map(f32::to_bits);
        [x, y, 0, 0, 9, 9, 9, 9]
    };
    for (colour, alpha) in [(0, 0.0), (1, 1.0), (2, 1.0)] {
        let border = [6 * 0x49, 0xfff << 12, 0, colour << 30];
        let Some(found) = by_hand(text, &image.memory, words, border, at) else {
            return;
        };
        assert_eq!(floats(found[0]), [0.0, 0.0, 0.0, alpha], "colour {colour}");
        assert_eq!(floats(found[1]), [0.0, 0.0, 0.0, 1.0]);
    }
}
