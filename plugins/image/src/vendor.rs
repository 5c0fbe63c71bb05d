//! Images from descriptors of other APIs (`hsa_amd_image_create`): their words, with our address and format.

use crate::descriptor::Surface;
use crate::entry::{ensure, Failure, Outcome};
use crate::images::wanted;
use crate::layout::{Layout, ALIGNMENT};
use crate::memory::{read, read_words};
use crate::module::{Image, Module};
use hansa_plugin_api::hsa::{hsa_ext_image_descriptor_t, hsa_status_t};
use hansa_plugin_api::ImageRequest;

/// The only version of a descriptor that is known.
const VERSION: u32 = 1;
/// Version and device, then eight words.
const WORDS: usize = 10;

/// Makes an image.
pub(crate) fn create(module: &Module, request: &ImageRequest) -> Outcome<u64> {
    let unsupported = || Failure::Status(hsa_status_t::EXT_ERROR_IMAGE_FORMAT_UNSUPPORTED);
    let mut bytes = [0; size_of::<hsa_ext_image_descriptor_t>()];
    // SAFETY: by the contract of the request the address is that of a descriptor, whose second version begins like
    // the first.
    unsafe { read(request.descriptor, &mut bytes) };
    let description = described(&bytes);
    let hardware = module.hardware(request.agent)?.ok_or_else(unsupported)?;
    ensure(
        request.data.is_multiple_of(ALIGNMENT),
        hsa_status_t::ERROR_INVALID_ALLOCATION,
    )?;
    // A description without the vendor's words could only be that of a plain image, which has its own function.
    ensure(request.layout != 0, hsa_status_t::ERROR_INVALID_ARGUMENT)?;
    // SAFETY: as above, of a vendor's description, which has at least these words if its version is known.
    let head: [u32; 2] = unsafe { read_words(request.layout) };
    ensure(
        head == [VERSION, hardware.pci_id],
        hsa_status_t::EXT_ERROR_IMAGE_FORMAT_UNSUPPORTED,
    )?;
    let wanted = wanted(module, request.agent, &description)?;
    // SAFETY: as above.
    let all: [u32; WORDS] = unsafe { read_words(request.layout) };
    let mut theirs = [0; 8];
    theirs.copy_from_slice(&all[2..]);
    let layout = Layout::tight(&wanted.extent, &wanted.format);
    let surface = Surface {
        extent: &wanted.extent,
        format: &wanted.format,
        layout: &layout,
        address: request.data,
    };
    let words = hardware.chip.adopted(&surface, theirs).ok_or_else(unsupported)?;
    let image = Image {
        agent: request.agent,
        extent: wanted.extent,
        format: wanted.format,
        layout: None,
        address: request.data,
    };
    module.add_image(image, &words)
}

/// The descriptor in bytes.
fn described(bytes: &[u8; size_of::<hsa_ext_image_descriptor_t>()]) -> hsa_ext_image_descriptor_t {
    // SAFETY: the type is made of integers, for which all bytes are good.
    unsafe {
        bytes
            .as_ptr()
            .cast::<hsa_ext_image_descriptor_t>()
            .read_unaligned()
    }
}
