//! The requests of the guest's kernel: `include/uapi/drm/virtgpu_drm.h`, and two of `drm.h`.
//!
//! Structures are extended at the end, and the kernel takes shorter and longer ones than its own. The last two fields of
//! [`CreateBlob`] are not in Linux's own header: a kernel that does not know them refuses [`BLOB_USERPTR`].

use hansa_plugin_api::ioctl::{code, Request, BOTH, WRITE};

/// The letter of the group.
const GROUP: u8 = b'd';

/// Capability set of the compute protocol.
pub const CAPSET_HSAKMT: u32 = 8;
/// [`Capset::context_type`]: AMD GPUs.
pub const CONTEXT_AMDGPU: u32 = 1;

/// Parameter: resources can be blobs.
pub const PARAM_RESOURCE_BLOB: u64 = 3;
/// Parameter: the host's memory can be mapped.
pub const PARAM_HOST_VISIBLE: u64 = 4;
/// Parameter: contexts have kinds.
pub const PARAM_CONTEXT_INIT: u64 = 6;
/// Parameter: a bit for each capability set.
pub const PARAM_CAPSETS: u64 = 7;

/// Context parameter: its capability set.
pub const CONTEXT_CAPSET: u64 = 1;
/// Context parameter: how many rings it has.
pub const CONTEXT_RINGS: u64 = 2;

/// Memory of the host.
pub const BLOB_HOST3D: u32 = 2;
/// Memory of the guest that the host uses.
pub const BLOB_HOST3D_GUEST: u32 = 3;
/// The guest maps it.
pub const BLOB_MAPPABLE: u32 = 1;
/// It is memory that the guest's process has.
pub const BLOB_USERPTR: u32 = 8;

/// A fence is wanted as a file.
pub const EXEC_FENCE_OUT: u32 = 2;
/// The ring's number counts.
pub const EXEC_RING: u32 = 4;

/// Declares a structure and its number in the group.
macro_rules! request {
    ($(#[$meta:meta])* $Name:ident = $number:literal, $($rest:tt)*) => {
        hansa_plugin_api::request! { [GROUP] $(#[$meta])* $Name = $number, BOTH, $($rest)* }
    };
}

request! {
    /// Asks which graphics driver a node belongs to.
    Version = 0x00, "VERSION", size 64 {
        /// Major number.
        major: i32 = 0,
        /// Minor number.
        minor: i32 = 4,
        /// Patch level.
        patch: i32 = 8,
        /// Zero.
        pad: i32 = 12,
        /// Room for the name, then its length.
        name_bytes: u64 = 16,
        /// Where the name goes.
        name: u64 = 24,
        /// Room for the date.
        date_bytes: u64 = 32,
        /// Where the date goes.
        date: u64 = 40,
        /// Room for the description.
        description_bytes: u64 = 48,
        /// Where the description goes.
        description: u64 = 56,
    }
}

/// Closes a resource.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GemClose {
    /// The resource.
    pub handle: u32,
    /// Zero.
    pub pad: u32,
}

// SAFETY: DRM_IOCTL_GEM_CLOSE takes these two words.
unsafe impl Request for GemClose {
    const CODE: u32 = code(WRITE, GROUP, 0x09, size_of::<Self>());
    const NAME: &'static str = "GEM_CLOSE";
}

request! {
    /// Where a resource is in the node's file.
    Map = 0x41, "MAP", size 16 {
        /// On return: offset for `mmap`.
        offset: u64 = 0,
        /// The resource.
        handle: u32 = 8,
        /// Zero.
        pad: u32 = 12,
    }
}

request! {
    /// Commands to the host.
    ExecBuffer = 0x42, "EXECBUFFER", size 64 {
        /// How it is meant.
        flags: u32 = 0,
        /// Bytes of commands.
        size: u32 = 4,
        /// The commands.
        command: u64 = 8,
        /// Resources that it uses.
        bo_handles: u64 = 16,
        /// How many.
        num_bo_handles: u32 = 24,
        /// On return: the fence.
        fence_fd: i32 = 28,
        /// The ring.
        ring_idx: u32 = 32,
        /// Bytes of an entry of the lists below.
        syncobj_stride: u32 = 36,
        /// Entries to wait for.
        num_in_syncobjs: u32 = 40,
        /// Entries to signal.
        num_out_syncobjs: u32 = 44,
        /// What to wait for.
        in_syncobjs: u64 = 48,
        /// What to signal.
        out_syncobjs: u64 = 56,
    }
}

request! {
    /// A parameter of the device.
    GetParam = 0x43, "GETPARAM", size 16 {
        /// Which.
        param: u64 = 0,
        /// Where its value goes, 32 bits.
        value: u64 = 8,
    }
}

request! {
    /// What a capability set says.
    GetCaps = 0x49, "GET_CAPS", size 24 {
        /// Which.
        cap_set_id: u32 = 0,
        /// Its version.
        cap_set_ver: u32 = 4,
        /// Where it goes.
        address: u64 = 8,
        /// Room there.
        size: u32 = 16,
        /// Zero.
        pad: u32 = 20,
    }
}

request! {
    /// A resource of memory.
    CreateBlob = 0x4a, "RESOURCE_CREATE_BLOB", size 64 {
        /// Whose memory.
        blob_mem: u32 = 0,
        /// What for.
        blob_flags: u32 = 4,
        /// On return: the resource.
        bo_handle: u32 = 8,
        /// On return: the host's number of it.
        res_handle: u32 = 12,
        /// Bytes.
        size: u64 = 16,
        /// Zero.
        pad: u32 = 24,
        /// Bytes of commands.
        cmd_size: u32 = 28,
        /// Commands that come with it.
        cmd: u64 = 32,
        /// The number that a command filed it under.
        blob_id: u64 = 40,
        /// Address of memory of the process.
        user: u64 = 48,
        /// On return, for memory that was known: where it begins in what is known.
        offset: i64 = 56,
    }
}

request! {
    /// Gives a context its kind.
    ContextInit = 0x4b, "CONTEXT_INIT", size 16 {
        /// Parameters.
        num_params: u32 = 0,
        /// Zero.
        pad: u32 = 4,
        /// Pairs of a parameter and its value.
        params: u64 = 8,
    }
}

/// What the capability set says.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capset {
    /// Layout of the messages.
    pub wire_format: u32,
    /// Major number of the host's compute interface.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
    /// Patch level.
    pub patch: u32,
    /// What is behind it.
    pub context_type: u32,
    /// Zero.
    pub pad: u32,
}
const _: () = assert!(size_of::<Capset>() == 24);

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers as a C compiler gives them.
    #[test]
    fn numbers_are_those_of_the_header() {
        let ours = [
            (Version::CODE, 0xc040_6400),
            (GemClose::CODE, 0x4008_6409),
            (Map::CODE, 0xc010_6441),
            (ExecBuffer::CODE, 0xc040_6442),
            (GetParam::CODE, 0xc010_6443),
            (GetCaps::CODE, 0xc018_6449),
            (CreateBlob::CODE, 0xc040_644a),
            (ContextInit::CODE, 0xc010_644b),
        ];
        for (ours, header) in ours {
            assert_eq!(ours, header, "{ours:#x} and {header:#x}");
        }
    }
}
