//! The names of kernels.
//!
//! A loaded code object is a shared object whose first segment begins with the file's header (AMDGPU's ABI, LLVM's
//! `AMDGPUUsage`, "Code Object"), so that the name of the descriptor can be read from memory: from the program headers to
//! the dynamic section, from there to the hash table, which tells how many symbols there are, and to the symbols.

use crate::exec::{guard, AddressSpace};
use object::elf::{
    Dyn64, DynamicTag, FileHeader64, ProgramHeader64, Sym64, DT_HASH, DT_STRTAB, DT_SYMTAB, ELFMAG,
    PT_DYNAMIC,
};
use object::{pod, LittleEndian as LE};

/// What the name of a descriptor's symbol ends with.
const SUFFIX: &str = ".kd";
/// More than any code object has, of entries and of letters.
const MOST: u64 = 1 << 20;
const PAGE: u64 = 4096;
/// Farthest that a descriptor is looked for behind the header.
const REACH: u64 = 64 << 20;

/// The name of the kernel whose descriptor is at an address, if its code object says it.
pub(crate) fn kernel_name(space: &AddressSpace, object: u64) -> Option<String> {
    // Neighbours in the table may have become one, so the image begins at some page of what is mapped there.
    let start = space.find(object)?.start;
    let pages = (0..REACH / PAGE).map_while(|page| (object & !(PAGE - 1)).checked_sub(page * PAGE));
    pages
        .take_while(|&base| base >= start)
        .find_map(|base| name_in_image(base, object))
}

/// The name of the symbol at an address, in the code object that was loaded at `base`, if there is one.
fn name_in_image(base: u64, object: u64) -> Option<String> {
    let magic: [u8; 4] = one(base)?;
    if magic != ELFMAG {
        return None;
    }
    let header: FileHeader64<LE> = one(base)?;
    let headers: Vec<ProgramHeader64<LE>> = many(
        base.checked_add(header.e_phoff.get(LE))?,
        header.e_phnum.get(LE).into(),
    )?;
    let dynamic = headers
        .iter()
        .find(|header| header.p_type.get(LE) == PT_DYNAMIC)?;
    let count = dynamic.p_memsz.get(LE) / size_of::<Dyn64<LE>>() as u64;
    let entries: Vec<Dyn64<LE>> = many(base.checked_add(dynamic.p_vaddr.get(LE))?, count)?;
    let address = |tag: DynamicTag| {
        let entry = entries.iter().find(|entry| entry.d_tag.get(LE) == tag)?;
        base.checked_add(entry.d_val.get(LE))
    };
    // Buckets, chains: there is a chain entry for each symbol.
    let hash: Vec<object::U32<LE>> = many(address(DT_HASH)?, 2)?;
    let symbols: Vec<Sym64<LE>> = many(address(DT_SYMTAB)?, hash[1].get(LE).into())?;
    let symbol = symbols
        .iter()
        .find(|symbol| base.wrapping_add(symbol.st_value.get(LE)) == object)?;
    let name = text(address(DT_STRTAB)?.checked_add(symbol.st_name.get(LE).into())?)?;
    Some(name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned())
}

fn one<T: pod::Pod + Copy>(address: u64) -> Option<T> {
    many(address, 1)?.first().copied()
}

fn many<T: pod::Pod + Copy>(address: u64, count: u64) -> Option<Vec<T>> {
    let count = usize::try_from(count.min(MOST)).ok()?;
    let mut bytes = vec![0; count * size_of::<T>()];
    guard::read_bytes(&mut bytes, address).ok()?;
    // The bytes of the vector need not be aligned as the values are; those of `object` have no alignment.
    pod::slice_from_bytes(&bytes, count)
        .ok()
        .map(|(values, _)| values.to_vec())
}

fn text(address: u64) -> Option<String> {
    let mut name = Vec::new();
    let mut part = [0; 1];
    while (name.len() as u64) < MOST {
        guard::read_bytes(&mut part, address + name.len() as u64).ok()?;
        if part == [0] {
            return String::from_utf8(name).ok();
        }
        name.extend(part);
    }
    None
}
