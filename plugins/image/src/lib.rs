//! The image extension: `hsa_ext_image_*` and `hsa_ext_sampler_*` (HSA Runtime PRM 1.2, section 3.2), and what AMD adds
//! to it.
//!
//! An image is memory of the program and a descriptor that texture hardware reads. Handles are addresses of such
//! descriptors (`slots`), for that is what kernels and AMD's HIP expect. All images are linear: the standard leaves
//! the opaque layout to the implementation. Copies are made by the host, row by row.
//!
//! What is common to all chips is at the top ([`format`], `geometry`, `layout`, `texel`); the words of a
//! descriptor are in `chip`, one module for each generation.
//!
//! Where AMD's runtime (measured: 5.2.3) and the header differ, the header wins, unless programs rely on the other:
//! sizes may be 1 where the header has 0, heights may be 0, and any agent may be named for an image that exists.

mod chip;
mod descriptor;
mod entry;
mod extension;
mod format;
mod geometry;
mod images;
mod layout;
mod limits;
mod memory;
mod module;
mod samplers;
mod slots;
mod texel;
mod transfers;
mod vendor;

pub use extension::ImagePlugin;
