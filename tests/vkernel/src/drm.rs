//! Requests on a render node: what libdrm asks when it opens a device, and what drivers ask beside.

use crate::kernel::Kernel;
use crate::kfd::NANOSECONDS_PER_TICK;
use crate::{user, Answer, Errno};
use std::sync::Arc;

/// Letter of the group.
const GROUP: u8 = b'd';
/// Queries of `AMDGPU_INFO`.
mod query {
    pub(super) const ACCEL_WORKING: u32 = 0x00;
    pub(super) const READ_MMR_REG: u32 = 0x15;
    pub(super) const DEV_INFO: u32 = 0x16;
}

fn number(code: u32) -> Option<u8> {
    let [number, group, ..] = code.to_le_bytes();
    (group == GROUP).then_some(number)
}

/// The name of a request.
pub(crate) fn name(code: u32) -> Option<&'static str> {
    match number(code)? {
        0x00 => Some("VERSION"),
        0x45 => Some("AMDGPU_INFO"),
        _ => None,
    }
}

/// Answers a request.
pub(crate) fn answer(kernel: &Arc<Kernel>, gpu: usize, code: u32, at: u64) -> Answer {
    match number(code) {
        Some(0x00) => version(at),
        Some(0x45) => info(kernel, gpu, at),
        _ => Err(Errno::NOTTY),
    }
}

fn word(at: u64) -> Result<u64, Errno> {
    let mut bytes = [0; 8];
    user::read(at, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// `drm_version`: three numbers, then name, date and description, each a length and an address. The lengths are
/// answered always, the texts when there is room.
fn version(at: u64) -> Answer {
    for (i, value) in [3_u32, 47, 0].into_iter().enumerate() {
        user::write(at + i as u64 * 4, &value.to_ne_bytes())?;
    }
    for (i, text) in ["amdgpu", "20150101", "AMD GPU"].into_iter().enumerate() {
        let length_at = at + 16 + i as u64 * 16;
        let room = usize::try_from(word(length_at)?).unwrap_or(0);
        let to = word(length_at + 8)?;
        if to != 0 {
            user::write(to, &text.as_bytes()[..room.min(text.len())])?;
        }
        user::write(length_at, &(text.len() as u64).to_ne_bytes())?;
    }
    Ok(())
}

/// Family of a chip in the graphics driver.
const fn family(version: u32) -> u32 {
    match version / 10_000 {
        8 => 130,
        9 => 141,
        10 => 143,
        11 => 145,
        _ => 152,
    }
}

fn info(kernel: &Kernel, gpu: usize, at: u64) -> Answer {
    let to = word(at)?;
    let head = user::words(at + 8, 2)?;
    let (room, query) = (head[0] as usize, head[1]);
    let described = kernel.machine.gpus[gpu];
    let mut answer = match query {
        query::ACCEL_WORKING => 1_u32.to_ne_bytes().to_vec(),
        query::READ_MMR_REG => {
            let registers = user::words(at + 20, 1)?[0];
            vec![0; registers.min(64) as usize * 4]
        }
        query::DEV_INFO => {
            let frequency = u32::try_from(1_000_000 / NANOSECONDS_PER_TICK).unwrap_or(0);
            let words = [
                described.device_id,
                0,
                0,
                0xc1,
                family(described.version),
                4,
                1,
                frequency,
            ];
            let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            bytes.resize(368, 0);
            bytes
        }
        other => {
            kernel.complain(format!("AMDGPU_INFO query {other:#x}"));
            return Err(Errno::INVAL);
        }
    };
    answer.truncate(room);
    user::write(to, &answer)
}
