//! Image instructions in OpenCL kernels, against a model of filtering in double precision.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "Test data are small numbers, and exact where they are compared"
)]

mod exec_support;

use exec_support::image::{Image, BGRA, LINE, PLANE, PLANES, RED, RGBA, SOLID};
use exec_support::{compile, Arg, Build, Launch, Memory, Program};
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

/// Fills an image with floats, each the same whatever the size, and gives their reader.
fn floats(image: &mut Image) -> impl Fn([i64; 3]) -> [f64; 4] {
    let value = |at: [i64; 3], c: i64| (((at[0] * 7 + at[1] * 13 + at[2] * 29 + c * 5) % 64) - 20) as f32;
    for at in image.places().collect::<Vec<_>>() {
        let bytes: Vec<u8> = (0..4)
            .flat_map(|c| value(at.map(i64::from), c).to_le_bytes())
            .collect();
        image.put(at, &bytes);
    }
    move |at| [0, 1, 2, 3].map(|c| f64::from(value(at, c)))
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

/// What a kernel that samples finds at points.
fn sampled(
    build: Build,
    program: &Program,
    kernel: &str,
    image: &Image,
    sampler: &Memory,
    points: &[[f32; 4]],
) -> Vec<[f32; 4]> {
    let (at, out) = (Memory::of(points), Memory::new(size_of_val(points)));
    Launch::new(program, kernel, points.len() as u32, 64)
        .image(image)
        .buffer(sampler)
        .buffer(&at)
        .buffer(&out)
        .run()
        .unwrap_or_else(|fault| panic!("{build:?} {kernel}: {fault}"));
    out.values(points.len())
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
            let texel = floats(&mut image);
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
                let sampler = sampler(clamp, elements, linear);
                let found = sampled(build, &program, kernel, &image, &sampler, &given);
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
            let found = sampled(
                build,
                &program,
                "sample2",
                &image,
                &sampler(2, false, false),
                &points,
            );
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
        let found = sampled(
            build,
            &program,
            "sample2a",
            &image,
            &sampler(2, true, false),
            &points,
        );
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
