//! Images of the array: the configuration that is loaded before control code runs.
//!
//! An image (PDI) is a container in which the configuration (CDO) is found by its identification: the word 4, then `CDO` or
//! `XLNX`. Its header has five words: 4, identification, version, words that follow, and the complement of the sum of the
//! four. Commands follow: a word with 15:0 what to do, 23:16 words that follow, 255 when the next word says how many.

use super::{Array, Host};

const IDENTIFICATIONS: [u32; 2] = [0x004f_4443, 0x584c_4e58];
const HEADER_WORDS: usize = 5;
/// Most bytes of an image that are looked at.
const MOST_BYTES: usize = 1 << 20;
const STEP_BYTES: usize = 4096;

/// Numbers of commands.
mod command {
    pub(super) const END: u32 = 0x100;
    pub(super) const MASK_WRITE: u32 = 0x102;
    pub(super) const WRITE: u32 = 0x103;
    pub(super) const DELAY: u32 = 0x104;
    pub(super) const DMA_WRITE: u32 = 0x105;
    pub(super) const MASK_WRITE_64: u32 = 0x107;
    pub(super) const WRITE_64: u32 = 0x108;
    pub(super) const NOP: u32 = 0x111;
}

impl Array {
    /// Loads the image at an address of the host's.
    pub(crate) fn load_image(&mut self, address: u64, host: &dyn Host) -> Result<(), String> {
        let mut bytes = Vec::new();
        let mut page = [0; STEP_BYTES];
        // How long it is, it says itself; its buffer ends somewhere behind.
        while bytes.len() < MOST_BYTES && host.read(address + bytes.len() as u64, &mut page).is_ok() {
            bytes.extend_from_slice(&page);
        }
        let words = crate::memory::words_of(&bytes);
        let start = words
            .windows(2)
            .position(|pair| pair[0] == 4 && IDENTIFICATIONS.contains(&pair[1]))
            .ok_or("load PDI failed: there is no configuration in the image")?;
        self.configure(&words[start..])
            .map_err(|reason| format!("load PDI failed: {reason}"))
    }

    fn configure(&mut self, words: &[u32]) -> Result<(), String> {
        let header = words.get(..HEADER_WORDS).ok_or("a header that ends early")?;
        let sum = header[..4]
            .iter()
            .fold(0_u32, |sum, word| sum.wrapping_add(*word));
        if header[4] != !sum {
            return Err("the sum of the header is another".into());
        }
        let mut rest = words[HEADER_WORDS..]
            .get(..header[3] as usize)
            .ok_or("fewer words than the header says")?;
        while let Some((&first, behind)) = rest.split_first() {
            let (count, behind) = match first >> 16 & 0xff {
                0xff => {
                    let (&count, behind) = behind.split_first().ok_or("a command that ends early")?;
                    (count as usize, behind)
                }
                count => (count as usize, behind),
            };
            let (words, behind) = behind
                .split_at_checked(count)
                .ok_or("a command that ends early")?;
            if !self.obey(first & 0xffff, words)? {
                return Ok(());
            }
            rest = behind;
        }
        Ok(())
    }

    /// Does a command. Answers whether to go on.
    fn obey(&mut self, what: u32, words: &[u32]) -> Result<bool, String> {
        match (what, words) {
            (command::END, _) => return Ok(false),
            (command::WRITE, &[at, value]) | (command::WRITE_64, &[0, at, value]) => self.write(at, value)?,
            (command::MASK_WRITE, &[at, mask, value]) | (command::MASK_WRITE_64, &[0, at, mask, value]) => {
                self.write_masked(at, mask, value)?;
            }
            (command::DMA_WRITE, &[0, at, ref values @ ..]) => {
                for (place, &value) in (at..).step_by(4).zip(values) {
                    self.write(place, value)?;
                }
            }
            (command::NOP | command::DELAY, _) => {}
            _ => {
                return Err(format!(
                    "command {what:#x} with {} words is not known",
                    words.len()
                ))
            }
        }
        Ok(true)
    }
}
