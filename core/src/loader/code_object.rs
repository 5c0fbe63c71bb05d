//! A code object: the ELF file an AMD GPU compiler produces.

use object::elf::{PF_W, PF_X, PT_LOAD};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use std::collections::HashMap;

use super::attributes::{is_hsail, kept_as};
use super::elf::{Elf, LE};
use super::error::{broken, LoadError};
use super::isa::ObjectTarget;
use super::link::{self, Relocation};
use super::metadata::Metadata;
use super::note::{self, HsailSettings, Note};
use super::symbol::{self, ObjectSymbol, ObjectSymbolKind};
use super::target::{self, Version};

/// What device memory a code object needs to be aligned to (`AMD_ISA_ALIGN_BYTES`).
const MIN_ALIGNMENT: u64 = 256;
/// Sections may ask for more, up to the page size that linkers use.
const MAX_ALIGNMENT: u64 = 4096;
/// How much larger than the file the part of the image that holds file bytes may be. Linkers leave a
/// page between segments; this bounds what a hostile file makes the host allocate.
const MAX_GAPS: u64 = 256 << 20;

const ELF_ABI_NEWEST: u8 = 4;

/// A parsed code object. Borrows the file's bytes.
#[derive(Debug, Clone)]
pub struct CodeObject<'data> {
    data: &'data [u8],
    version: Version,
    target: ObjectTarget,
    image: Image<'data>,
    symbols: Vec<ObjectSymbol<'data>>,
    relocations: Vec<Relocation<'data>>,
    notes: Vec<Note<'data>>,
}

impl<'data> CodeObject<'data> {
    /// Reads and checks everything that loading needs. The metadata is left alone: the runtime does
    /// not need it, see [`CodeObject::metadata`].
    ///
    /// # Errors
    ///
    /// [`LoadError`] says whether the object is too new, for something else, or broken.
    pub fn parse(data: &'data [u8]) -> Result<Self, LoadError> {
        let elf = Elf::parse(data)?;
        let abi = elf.header.e_ident().abi_version;
        if abi > ELF_ABI_NEWEST {
            return Err(LoadError::AbiVersion { abi });
        }
        let notes = note::read(elf)?;
        let version = target::version(elf, &notes)?;
        let target = target::target(elf, version, &notes)?;
        if elf.sections.is_empty() {
            return Err(broken(
                "there are no section headers, so symbols and relocations cannot be found",
                40,
            ));
        }
        let image = Image::read(elf)?;
        let symbols = symbol::read(elf, version, target.isa.processor(), &image)?;
        let relocations = link::read(elf, &image)?;
        let mut object = Self {
            data,
            version,
            target,
            image,
            symbols,
            relocations,
            notes,
        };
        object.align_arguments();
        Ok(object)
    }

    /// Arguments of HSAIL kernels can ask for more than the alignment that all have; only the metadata tells. Without it
    /// they have that one.
    fn align_arguments(&mut self) {
        if !self.kernels().any(|kernel| is_hsail(kernel.name)) {
            return;
        }
        let Ok(Some(metadata)) = self.metadata() else {
            return;
        };
        let aligned = metadata.kernels.iter().filter_map(|kernel| {
            let align = u32::try_from(kernel.kernarg_segment_align?).ok()?;
            Some((kept_as(&kernel.symbol), align))
        });
        let aligned: HashMap<&str, u32> = aligned.collect();
        for symbol in &mut self.symbols {
            if let (Some(&align), ObjectSymbolKind::Kernel(kernel)) =
                (aligned.get(symbol.name), &mut symbol.kind)
            {
                kernel.kernarg_alignment = kernel.kernarg_alignment.max(align);
            }
        }
    }

    /// The bytes it was parsed from.
    #[must_use]
    pub fn bytes(&self) -> &'data [u8] {
        self.data
    }

    /// The code object version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// What it was compiled for.
    #[must_use]
    pub fn target(&self) -> ObjectTarget {
        self.target
    }

    /// The loadable segments in ascending order of address.
    #[must_use]
    pub fn segments(&self) -> &[Segment<'data>] {
        &self.image.segments
    }

    /// The device memory it needs.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.image.layout
    }

    /// Kernels, variables and declarations in the order of the symbol table.
    #[must_use]
    pub fn symbols(&self) -> &[ObjectSymbol<'data>] {
        &self.symbols
    }

    /// The symbol with a name.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<&ObjectSymbol<'data>> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    /// The kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &ObjectSymbol<'data>> {
        self.symbols
            .iter()
            .filter(|symbol| matches!(symbol.kind, ObjectSymbolKind::Kernel(_)))
    }

    /// The dynamic relocations.
    #[must_use]
    pub fn relocations(&self) -> &[Relocation<'data>] {
        &self.relocations
    }

    /// The notes.
    #[must_use]
    pub fn notes(&self) -> &[Note<'data>] {
        &self.notes
    }

    /// The msgpack metadata of version 3 and later, `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`LoadError::Broken`] if the note is not msgpack or has values of the wrong type.
    pub fn metadata(&self) -> Result<Option<Metadata>, LoadError> {
        self.notes
            .iter()
            .find(|note| note.owner == note::OWNER_AMDGPU && note.kind == note::NOTE_METADATA)
            .map(Metadata::parse)
            .transpose()
    }

    /// The profile and rounding mode it was finalized for; `None` unless it was made from HSAIL.
    #[must_use]
    pub fn hsail_settings(&self) -> Option<HsailSettings> {
        note::hsail_settings(&self.notes)
    }

    /// The YAML metadata of version 2, as text.
    #[must_use]
    pub fn yaml_metadata(&self) -> Option<&'data str> {
        self.notes
            .iter()
            .find(|note| note.owner == note::OWNER_AMD && note.kind == note::NOTE_YAML_METADATA)
            .and_then(|note| std::str::from_utf8(note.contents).ok())
            .map(|text| text.trim_end_matches('\0'))
    }

    /// Copies the segments into `image`, whose first byte stands for [`Layout::first_address`], and
    /// zeroes the rest. Copies as much as fits.
    pub fn fill(&self, image: &mut [u8]) {
        image.fill(0);
        self.copy_segments(image);
    }

    /// [`CodeObject::fill`] for memory that is zero already.
    pub(super) fn copy_segments(&self, image: &mut [u8]) {
        for segment in &self.image.segments {
            let start = segment.address - self.image.layout.first_address;
            let Some(room) = usize::try_from(start).ok().and_then(|at| image.get_mut(at..)) else {
                continue;
            };
            let count = room.len().min(segment.bytes.len());
            room[..count].copy_from_slice(&segment.bytes[..count]);
        }
    }

    /// Applies the relocations to an image made by [`CodeObject::fill`] that will be at `base` in the
    /// device's address space. `resolve` gives the address of a variable defined elsewhere.
    ///
    /// # Errors
    ///
    /// [`LoadError::UndefinedVariable`] if `resolve` does not know a variable,
    /// [`LoadError::Broken`] if a relocation does not fit into the image or the field.
    pub fn relocate(
        &self,
        image: &mut [u8],
        base: u64,
        resolve: &mut dyn FnMut(&str) -> Option<u64>,
    ) -> Result<(), LoadError> {
        let first = self.image.layout.first_address;
        for relocation in &self.relocations {
            relocation.apply(image, first, base, resolve)?;
        }
        Ok(())
    }
}

/// A part of the file that becomes a part of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'data> {
    /// Its address as linked.
    pub address: u64,
    /// Its size in memory; what the file does not have is zero.
    pub size: u64,
    /// Its contents in the file.
    pub bytes: &'data [u8],
    /// Where the contents are in the file.
    pub file_offset: u64,
    /// Whether it holds code.
    pub is_executable: bool,
    /// Whether device code writes to it.
    pub is_writable: bool,
}

/// The device memory a code object needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Bytes from the begin of the first to the end of the last segment.
    pub size: u64,
    /// Alignment, a power of two, at least 256.
    pub align: u64,
    /// The address as linked of the first byte.
    pub first_address: u64,
    /// Bytes from the begin that hold something from the file; all behind them are zero.
    pub file_extent: u64,
}

/// The loadable segments as one image.
#[derive(Debug, Clone)]
pub(super) struct Image<'data> {
    segments: Vec<Segment<'data>>,
    layout: Layout,
}

impl<'data> Image<'data> {
    fn read(elf: Elf<'data>) -> Result<Self, LoadError> {
        let mut segments: Vec<Segment<'data>> = Vec::new();
        let mut end = 0;
        for (offset, header) in elf.segments_of(PT_LOAD) {
            let segment = read_segment(elf, offset, header)?;
            if segment.address < end {
                return Err(broken(
                    "PT_LOAD segments overlap or are not in ascending order of address",
                    offset,
                ));
            }
            end = segment
                .address
                .checked_add(segment.size)
                .ok_or_else(|| broken("a PT_LOAD segment wraps around the address space", offset))?;
            segments.push(segment);
        }
        let first_address = segments
            .first()
            .ok_or_else(|| broken("there is no PT_LOAD segment", 32))?
            .address;
        let size = end - first_address;
        if size == 0 {
            return Err(broken("the PT_LOAD segments are empty", 32));
        }
        let file_extent = segments
            .iter()
            .rfind(|segment| !segment.bytes.is_empty())
            .map_or(0, |last| last.address - first_address + len(last.bytes));
        if file_extent > len(elf.data).saturating_add(MAX_GAPS) {
            return Err(broken(
                "the PT_LOAD segments are further apart than the file's size and 256 MiB",
                32,
            ));
        }
        let layout = Layout {
            size,
            align: alignment(elf),
            first_address,
            file_extent,
        };
        Ok(Self { segments, layout })
    }

    /// Whether a range of addresses as linked lies between the first and the last segment's ends.
    pub(super) fn contains(&self, address: u64, size: u64) -> bool {
        address
            .checked_sub(self.layout.first_address)
            .and_then(|start| start.checked_add(size))
            .is_some_and(|end| end <= self.layout.size)
    }

    /// The file's bytes for a range of addresses as linked.
    pub(super) fn file_bytes(&self, address: u64, size: u64) -> Option<&'data [u8]> {
        let next = self
            .segments
            .partition_point(|segment| segment.address <= address);
        let segment = self.segments.get(next.checked_sub(1)?)?;
        let start = usize::try_from(address - segment.address).ok()?;
        let size = usize::try_from(size).ok()?;
        segment.bytes.get(start..)?.get(..size)
    }
}

fn read_segment<'data>(
    elf: Elf<'data>,
    offset: u64,
    header: &super::elf::Segment,
) -> Result<Segment<'data>, LoadError> {
    let file_offset = header.p_offset(LE);
    let bytes = elf
        .bytes(file_offset, header.p_filesz(LE))
        .ok_or_else(|| broken("a PT_LOAD segment extends beyond the end of the file", offset))?;
    let size = header.p_memsz(LE);
    if size < len(bytes) {
        return Err(broken(
            "a PT_LOAD segment is larger in the file than in memory",
            offset,
        ));
    }
    let flags = header.p_flags(LE);
    Ok(Segment {
        address: header.p_vaddr(LE),
        size,
        bytes,
        file_offset,
        is_executable: flags & PF_X == PF_X,
        is_writable: flags & PF_W == PF_W,
    })
}

/// The largest alignment that a loaded section asks for, within limits.
fn alignment(elf: Elf<'_>) -> u64 {
    elf.sections
        .iter()
        .filter(|section| section.sh_flags(LE).0 & symbol::SECTION_ALLOC != 0)
        .map(|section| section.sh_addralign(LE))
        .filter(|align| align.is_power_of_two())
        .max()
        .unwrap_or(MIN_ALIGNMENT)
        .clamp(MIN_ALIGNMENT, MAX_ALIGNMENT)
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
