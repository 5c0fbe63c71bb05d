//! The plugins that are linked into the library; each goes through the same table as a loaded one.

use hansa_core::plugin::BuiltIn;

/// The built-in plugins, in the order in which they are asked.
pub const BUILT_INS: &[BuiltIn] = &[
    BuiltIn::of::<hansa_kfd::KfdPlugin>(),
    BuiltIn::of::<hansa_xdna::XdnaPlugin>(),
    BuiltIn::of::<hansa_kfd_virtio::KfdVirtioPlugin>(),
    BuiltIn::of::<hansa_sim::SimPlugin>(),
    BuiltIn::of::<hansa_amd::AmdPlugin>(),
    BuiltIn::of::<hansa_image::ImagePlugin>(),
    BuiltIn::of::<hansa_finalizer::FinalizerPlugin>(),
];
