//! Sharing between processes and drivers.

use super::{request, READ, WRITE};

request! {
    /// What a dma-buf file is.
    GetDmabufInfo = 0x1c, READ | WRITE, "GET_DMABUF_INFO", size 32 {
        /// On return: bytes.
        size: u64 = 0,
        /// Room for the owner's notes.
        metadata_ptr: u64 = 8,
        /// Bytes of that room, then of the notes.
        metadata_size: u32 = 16,
        /// On return: the device.
        gpu_id: u32 = 20,
        /// On return: kind and attributes.
        flags: u32 = 24,
        /// The file.
        dmabuf_fd: u32 = 28,
    }
}

request! {
    /// Takes the memory of a dma-buf file.
    ImportDmabuf = 0x1d, READ | WRITE, "IMPORT_DMABUF", size 24 {
        /// Where devices see it.
        va_addr: u64 = 0,
        /// On return: its handle.
        handle: u64 = 8,
        /// The device.
        gpu_id: u32 = 16,
        /// The file.
        dmabuf_fd: u32 = 20,
    }
}

request! {
    /// Makes a dma-buf file for memory (interface 1.12).
    ExportDmabuf = 0x24, READ | WRITE, "EXPORT_DMABUF", size 16 {
        /// The memory.
        handle: u64 = 0,
        /// Flags of the file.
        flags: u32 = 8,
        /// On return: the file.
        dmabuf_fd: u32 = 12,
    }
}

request! {
    /// Takes memory that another process named (only AMD's own kernel module has it).
    IpcImportHandle = 0x80, READ | WRITE, "IPC_IMPORT_HANDLE", size 48 {
        /// On return: its handle.
        handle: u64 = 0,
        /// Where devices see it.
        va_addr: u64 = 8,
        /// On return: offset for `mmap`.
        mmap_offset: u64 = 16,
        /// The name.
        share_handle: [u32; 4] = 24,
        /// The device.
        gpu_id: u32 = 40,
        /// On return: kind and attributes.
        flags: u32 = 44,
    }
}

request! {
    /// Names memory to another process (only AMD's own kernel module has it).
    IpcExportHandle = 0x81, READ | WRITE, "IPC_EXPORT_HANDLE", size 32 {
        /// The memory.
        handle: u64 = 0,
        /// On return: the name.
        share_handle: [u32; 4] = 8,
        /// The device.
        gpu_id: u32 = 24,
        /// Flags.
        flags: u32 = 28,
    }
}
