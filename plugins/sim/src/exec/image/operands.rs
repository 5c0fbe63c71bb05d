//! A lane's address operands.
//!
//! With 16-bit addresses two of them share a register, the first one low; derivatives do so for each direction, and
//! a bias has its own. Offset and reference keep their 32 bits.

use super::texture::Texture;
use super::{bits, register};
use crate::exec::op::Op;
use crate::exec::scalar_float::Half;
use crate::exec::wave::Wave;

/// Reads the operands of a lane, one after the other.
pub(super) struct Operands<'a> {
    wave: &'a Wave,
    code: u16,
    lane: usize,
    narrow: bool,
    /// Half registers that were read.
    at: usize,
}

impl<'a> Operands<'a> {
    /// The operands of a lane.
    pub(super) fn new(wave: &'a Wave, op: &Op, lane: usize) -> Self {
        Self {
            wave,
            code: op.a,
            lane,
            narrow: op.x & bits::A16 != 0,
            at: 0,
        }
    }

    /// Goes on at the next whole register.
    pub(super) fn align(&mut self) {
        self.at = self.at.next_multiple_of(2);
    }

    /// A whole register.
    pub(super) fn dword(&mut self) -> u32 {
        self.align();
        let value = self.wave.row(register(self.code, self.at / 2)).0[self.lane];
        self.at += 2;
        value
    }

    fn half(&mut self) -> u16 {
        let value = self.wave.row(register(self.code, self.at / 2)).0[self.lane];
        let half = (value >> (16 * (self.at % 2))) as u16;
        self.at += 1;
        half
    }

    /// An unsigned integer.
    pub(super) fn integer(&mut self) -> u32 {
        if self.narrow {
            self.half().into()
        } else {
            self.dword()
        }
    }

    /// A float.
    pub(super) fn float(&mut self) -> f32 {
        if self.narrow {
            Half(self.half()).wide()
        } else {
            f32::from_bits(self.dword())
        }
    }
}

/// Whether an address has a layer: an array's has one if the instruction says so, a cube's always.
pub(super) fn has_layer(op: &Op, texture: &Texture) -> bool {
    let shape = texture.shape;
    shape.is_layered() && (op.x & bits::ARRAY != 0 || shape == super::texture::Shape::Cube)
}

/// The address of a sample.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Address {
    /// What is added to the elements' numbers.
    pub(super) offset: [i32; 3],
    /// What is added to the level of detail.
    pub(super) bias: f32,
    /// What texels are compared with.
    pub(super) reference: f32,
    /// How coordinates change from column to column and from row to row.
    pub(super) derivatives: [[f32; 3]; 2],
    /// Along the axes.
    pub(super) position: [f32; 3],
    /// The layer or face.
    pub(super) layer: f32,
    /// The level of detail, or the least one.
    pub(super) lod: f32,
}

impl Address {
    /// Reads a lane's operands.
    pub(super) fn new(wave: &Wave, op: &Op, lane: usize, texture: &Texture) -> Self {
        let has = |bit| op.x & bit != 0;
        let mut operands = Operands::new(wave, op, lane);
        let mut address = Self::default();
        let dimensions = texture.shape.dimensions();
        if has(bits::OFFSET) {
            let packed = operands.dword();
            // Signed, six bits each in a byte.
            address.offset = [0, 8, 16].map(|low| (packed << (26 - low)) as i32 >> 26);
        }
        if has(bits::BIAS) {
            address.bias = operands.float();
            operands.align();
        }
        if has(bits::COMPARE) {
            address.reference = f32::from_bits(operands.dword());
        }
        if has(bits::DERIVATIVES) {
            for direction in &mut address.derivatives {
                for along in direction.iter_mut().take(dimensions) {
                    *along = operands.float();
                }
                operands.align();
            }
        }
        for along in address.position.iter_mut().take(dimensions) {
            *along = operands.float();
        }
        if has_layer(op, texture) {
            address.layer = operands.float();
        }
        if has(bits::LEVEL) || has(bits::CLAMP) {
            address.lod = operands.float();
        }
        address
    }
}
