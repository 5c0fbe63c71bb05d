//! What the graphics driver has beside compute: buffers of its own, notes on them, contexts, lists of buffers, and commands for
//! its copy engines (`amdgpu_gem.c`, `amdgpu_ctx.c`, `amdgpu_bo_list.c`, `amdgpu_cs.c`). Programs have such memory beside that of
//! compute, or hand it over.
//!
//! Commands are run when they are handed in, so every fence that was given out is past. Memory of graphics is not seen by
//! kernels of compute until it is taken there by its file.

use crate::buffers::Backing;
use crate::device::{copy_commands, Memory};
use crate::drm::Gems;
use crate::exported::{self, Shared};
use crate::kernel::Kernel;
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::memory;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

const PAGE: u64 = 4096;
/// Places of memory, as `GEM_CREATE` names them.
mod domain {
    pub(super) const GTT: u32 = 2;
    pub(super) const VRAM: u32 = 4;
}
/// A flag of `GEM_CREATE`: the host reads and writes it.
const CPU_ACCESS: u64 = 1;
/// Most bytes of notes on a buffer.
const MOST_NOTES: usize = 256;
/// Kinds of parts of commands.
mod chunk {
    pub(super) const COMMANDS: u32 = 1;
    pub(super) const DEPENDENCIES: u32 = 3;
}
/// The engines that run commands here.
const COPY_ENGINE: u32 = 2;
/// Most parts of one submission.
const MOST_CHUNKS: u32 = 64;
/// `O_CLOEXEC`.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;

/// What graphics of a process has.
#[derive(Debug, Default)]
pub struct Graphics {
    /// Contexts, with the fences that each was given.
    contexts: BTreeMap<u32, u64>,
    lists: BTreeSet<u32>,
    last: u32,
    notes: Vec<(Weak<Backing>, Notes)>,
}

/// What the owner of a buffer noted on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    flags: u64,
    tiling: u64,
    pub(crate) text: Vec<u8>,
}

impl Graphics {
    fn name(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// The notes on memory.
    pub(crate) fn notes(&self, of: &Arc<Backing>) -> Notes {
        let found = self
            .notes
            .iter()
            .find(|(held, _)| held.as_ptr() == Arc::as_ptr(of));
        found.map(|(_, notes)| notes.clone()).unwrap_or_default()
    }
}

fn low(words: &[u32], at: usize) -> u64 {
    u64::from(words[at]) | u64::from(words[at + 1]) << 32
}

/// `GEM_CREATE`: size, alignment, places and flags go in, a name comes out.
pub(crate) fn create(kernel: &Arc<Kernel>, gpu: usize, at: u64) -> Answer {
    let words = user::words(at, 8)?;
    let bytes = low(&words, 0)
        .checked_next_multiple_of(PAGE)
        .ok_or(Errno::INVAL)?;
    let (domains, flags) = (words[4], low(&words, 6));
    let is_local = domains & domain::VRAM != 0;
    if bytes == 0 || !(is_local || domains & domain::GTT != 0) {
        kernel.complain(format!("AMDGPU_GEM_CREATE of {bytes:#x} bytes in {domains:#x}"));
        return Err(Errno::INVAL);
    }
    if is_local && bytes > kernel.machine.gpus[gpu].vram {
        return Err(Errno::NOMEM);
    }
    let backing = {
        let mut file = kernel.renders[gpu].lock();
        let offset = file.take(bytes)?;
        let view = file
            .view(offset, bytes)
            .inspect_err(|_| file.give_back(offset, bytes))?;
        Backing::File {
            gpu,
            offset,
            bytes,
            view,
        }
    };
    let mut kind = if is_local {
        memory::ALLOC_VRAM
    } else {
        memory::ALLOC_GTT
    };
    if !is_local || flags & CPU_ACCESS != 0 {
        kind |= memory::ALLOC_PUBLIC;
    }
    let shared = Shared {
        backing: Arc::new(backing),
        bytes,
        gpu,
        flags: kind | memory::ALLOC_WRITABLE,
        note: 0,
    };
    let name = kernel.process().gems.enter(gpu, shared)?;
    user::write(at, &u64::from(name).to_ne_bytes())
}

/// `GEM_METADATA`: name and operation, then flags, tiling, bytes and text.
pub(crate) fn metadata(kernel: &Arc<Kernel>, gpu: usize, at: u64) -> Answer {
    let head = user::words(at, 7)?;
    let mut process = kernel.process();
    let backing = Arc::clone(&process.gems.get(gpu, head[0])?.backing);
    match head[1] {
        1 => {
            let bytes = head[6] as usize;
            if bytes > MOST_NOTES {
                return Err(Errno::INVAL);
            }
            let mut text = vec![0; bytes];
            user::read(at + 28, &mut text)?;
            let notes = Notes {
                flags: low(&head, 2),
                tiling: low(&head, 4),
                text,
            };
            let all = &mut process.graphics.notes;
            all.retain(|(held, _)| held.strong_count() != 0 && held.as_ptr() != Arc::as_ptr(&backing));
            all.push((Arc::downgrade(&backing), notes));
            Ok(())
        }
        2 => {
            let notes = process.graphics.notes(&backing);
            drop(process);
            user::write(at + 8, &notes.flags.to_ne_bytes())?;
            user::write(at + 16, &notes.tiling.to_ne_bytes())?;
            let bytes = u32::try_from(notes.text.len()).unwrap_or(0);
            user::write(at + 24, &bytes.to_ne_bytes())?;
            user::write(at + 28, &notes.text)
        }
        other => {
            kernel.complain(format!("AMDGPU_GEM_METADATA with operation {other}"));
            Err(Errno::INVAL)
        }
    }
}

/// `PRIME_HANDLE_TO_FD`: a name and flags go in, a file comes out.
pub(crate) fn hand_over(kernel: &Arc<Kernel>, gpu: usize, at: u64) -> Answer {
    let words = user::words(at, 2)?;
    let shared = kernel.process().gems.get(gpu, words[0])?.clone();
    let fd = exported::export(kernel, shared, words[1] & CLOSE_ON_EXEC != 0)?;
    user::write(at + 8, &fd.to_ne_bytes())
}

/// `CTX`: operation, flags and a context.
pub(crate) fn context(kernel: &Arc<Kernel>, at: u64) -> Answer {
    let words = user::words(at, 4)?;
    let mut process = kernel.process();
    let graphics = &mut process.graphics;
    match words[0] {
        1 => {
            let name = graphics.name();
            graphics.contexts.insert(name, 0);
            drop(process);
            user::write(at, &u64::from(name).to_ne_bytes())
        }
        2 => graphics.contexts.remove(&words[2]).map(drop).ok_or(Errno::INVAL),
        // Whether the device was reset meanwhile: it was not.
        3 | 4 if graphics.contexts.contains_key(&words[2]) => {
            drop(process);
            user::write(at, &[0; 16])
        }
        3 | 4 => Err(Errno::INVAL),
        other => {
            drop(process);
            kernel.complain(format!("AMDGPU_CTX with operation {other}"));
            Err(Errno::INVAL)
        }
    }
}

/// `BO_LIST`: operation, list, count, bytes of an entry, and the entries, which begin with a name.
pub(crate) fn list(kernel: &Arc<Kernel>, gpu: usize, at: u64) -> Answer {
    let words = user::words(at, 6)?;
    let names = |process: &crate::process::Process| {
        let (count, stride) = (u64::from(words[2]), u64::from(words[3]));
        if count > 1 << 16 || stride < 4 {
            return Err(Errno::INVAL);
        }
        (0..count).try_for_each(|index| {
            let entry = low(&words, 4).checked_add(index * stride).ok_or(Errno::FAULT)?;
            let name = user::words(entry, 1)?[0];
            process.gems.get(gpu, name).map(drop)
        })
    };
    let mut process = kernel.process();
    match words[0] {
        0 => {
            names(&process)?;
            let name = process.graphics.name();
            process.graphics.lists.insert(name);
            drop(process);
            user::write(at, &u64::from(name).to_ne_bytes())
        }
        1 if process.graphics.lists.remove(&words[1]) => Ok(()),
        2 if process.graphics.lists.contains(&words[1]) => names(&process),
        1 | 2 => Err(Errno::NOENT),
        other => {
            drop(process);
            kernel.complain(format!("AMDGPU_BO_LIST with operation {other}"));
            Err(Errno::INVAL)
        }
    }
}

/// `CS`: a context, a list and parts go in, a fence comes out.
pub(crate) fn submit(kernel: &Arc<Kernel>, gpu: usize, at: u64) -> Answer {
    let words = user::words(at, 6)?;
    let (context, list, count, parts) = (words[0], words[1], words[2], low(&words, 4));
    {
        let process = kernel.process();
        let graphics = &process.graphics;
        if !graphics.contexts.contains_key(&context) || count > MOST_CHUNKS {
            return Err(Errno::INVAL);
        }
        if list != 0 && !graphics.lists.contains(&list) {
            return Err(Errno::NOENT);
        }
    }
    for index in 0..u64::from(count) {
        let part = low(&user::words(parts + index * 8, 2)?, 0);
        let head = user::words(part, 4)?;
        match head[0] {
            chunk::COMMANDS if head[1] >= 8 => {
                let commands = user::words(low(&head, 2), 8)?;
                if commands[5] != COPY_ENGINE {
                    kernel.complain(format!("AMDGPU_CS for engines of kind {}", commands[5]));
                    return Err(Errno::INVAL);
                }
                copy_commands(&Memory::new(kernel, gpu), low(&commands, 2), commands[4].into())?;
            }
            // What was handed in before is done.
            chunk::DEPENDENCIES => {}
            other => {
                kernel.complain(format!("AMDGPU_CS with a part of kind {other}"));
                return Err(Errno::INVAL);
            }
        }
    }
    let mut process = kernel.process();
    let fence = process.graphics.contexts.entry(context).or_default();
    *fence += 1;
    let fence = *fence;
    drop(process);
    user::write(at, &fence.to_ne_bytes())
}

/// `WAIT_CS`: a fence, a time, an engine and a context go in, whether it is still busy comes out.
pub(crate) fn wait(kernel: &Arc<Kernel>, at: u64) -> Answer {
    let words = user::words(at, 8)?;
    let last = kernel.process().graphics.contexts.get(&words[7]).copied();
    if low(&words, 0) > last.ok_or(Errno::INVAL)? {
        return Err(Errno::INVAL);
    }
    user::write(at, &0_u64.to_ne_bytes())
}

impl Gems {
    /// Names memory that graphics made.
    fn enter(&mut self, gpu: usize, shared: Shared) -> Result<u32, Errno> {
        let name = self.free_name(gpu)?;
        self.table.insert((gpu, name), shared);
        self.own.insert((gpu, name));
        Ok(name)
    }

    fn get(&self, gpu: usize, name: u32) -> Result<&Shared, Errno> {
        self.table.get(&(gpu, name)).ok_or(Errno::NOENT)
    }

    /// A name that nothing has.
    pub(crate) fn free_name(&self, gpu: usize) -> Result<u32, Errno> {
        (1..)
            .find(|name| !self.table.contains_key(&(gpu, *name)))
            .ok_or(Errno::NOMEM)
    }
}
