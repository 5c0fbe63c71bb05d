//! Images in host memory, with the descriptors of gfx9.

use super::Memory;

pub const PLANE: u32 = 9;
pub const LINE: u32 = 8;
pub const SOLID: u32 = 10;
pub const PLANES: u32 = 13;
pub const RGBA: u32 = 0xfac;
pub const BGRA: u32 = 0xf2e;
pub const RED: u32 = 0x204;

/// An image and its descriptor.
#[derive(Debug)]
pub struct Image {
    pub memory: Memory,
    pub words: Memory,
    base: u64,
    size: [u32; 3],
    pitch: u32,
    bytes: u32,
}

impl Image {
    /// `format` is data format, number format and bytes of an element.
    pub fn new(kind: u32, [data, number, bytes]: [u32; 3], selects: u32, size: [u32; 3]) -> Self {
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

    pub fn put(&mut self, at: [u32; 3], value: &[u8]) {
        let index = self.index(at);
        for (i, byte) in value.iter().enumerate() {
            let word = &mut self.memory.words[(index + i) / 8];
            let shift = 8 * ((index + i) % 8);
            *word = *word & !(0xff << shift) | u64::from(*byte) << shift;
        }
    }

    pub fn get<const N: usize>(&self, at: [u32; 3]) -> [u8; N] {
        let index = self.index(at);
        std::array::from_fn(|i| (self.memory.words[(index + i) / 8] >> (8 * ((index + i) % 8))) as u8)
    }

    pub fn places(&self) -> impl Iterator<Item = [u32; 3]> {
        let [w, h, d] = self.size;
        (0..d).flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| [x, y, z])))
    }
}
