//! The kernel's interface: structures and numbers.
//!
//! Source of the facts: the kernel's `include/uapi/linux/kfd_ioctl.h`, interface 1.1 to 1.17, group letter `K`.
//! Structures stand in the header's order under the header's names, padding spelt out, a size and offset check
//! beside each; the numbers are computed from direction, number and size as `ioctl(2)` does. The kernel takes
//! shorter and longer structures than its own and fills with zeros, so one definition serves every version.

pub mod drm;
pub mod event;
pub mod memory;
pub mod queue;
pub mod sharing;
pub mod system;

/// The letter of the group.
pub const GROUP: u8 = b'K';

pub use hansa_plugin_api::ioctl::{code, Request, READ, WRITE};

/// Declares a structure and its number in the group.
macro_rules! request {
    ($($declaration:tt)*) => { hansa_plugin_api::request! { [$crate::uapi::GROUP] $($declaration)* } };
}
pub(crate) use request;

#[cfg(test)]
mod tests {
    use super::{event::*, memory::*, queue::*, sharing::*, system::*, Request};

    /// The numbers as a C compiler gives them for the kernel's header (interface 1.17).
    #[test]
    fn numbers_are_those_of_the_header() {
        let ours = [
            (GetVersion::CODE, 0x8008_4b01),
            (CreateQueue::CODE, 0xc060_4b02),
            (DestroyQueue::CODE, 0xc008_4b03),
            (SetMemoryPolicy::CODE, 0x4020_4b04),
            (GetClockCounters::CODE, 0xc028_4b05),
            (UpdateQueue::CODE, 0x4018_4b07),
            (CreateEvent::CODE, 0xc020_4b08),
            (DestroyEvent::CODE, 0x4008_4b09),
            (SetEvent::CODE, 0x4008_4b0a),
            (ResetEvent::CODE, 0x4008_4b0b),
            (WaitEvents::CODE, 0xc018_4b0c),
            (SetScratchBackingVa::CODE, 0xc010_4b11),
            (GetTileConfig::CODE, 0xc028_4b12),
            (SetTrapHandler::CODE, 0x4018_4b13),
            (GetProcessAperturesNew::CODE, 0xc010_4b14),
            (AcquireVm::CODE, 0x4008_4b15),
            (AllocMemoryOfGpu::CODE, 0xc028_4b16),
            (FreeMemoryOfGpu::CODE, 0x4008_4b17),
            (MapMemoryToGpu::CODE, 0xc018_4b18),
            (UnmapMemoryFromGpu::CODE, 0xc018_4b19),
            (SetCuMask::CODE, 0x4010_4b1a),
            (GetQueueWaveState::CODE, 0xc018_4b1b),
            (GetDmabufInfo::CODE, 0xc020_4b1c),
            (ImportDmabuf::CODE, 0xc018_4b1d),
            (AllocQueueGws::CODE, 0xc010_4b1e),
            (SmiEvents::CODE, 0xc008_4b1f),
            (Svm::CODE, 0xc018_4b20),
            (SetXnackMode::CODE, 0xc004_4b21),
            (AvailableMemory::CODE, 0xc010_4b23),
            (ExportDmabuf::CODE, 0xc010_4b24),
            (RuntimeEnable::CODE, 0xc010_4b25),
            (IpcImportHandle::CODE, 0xc030_4b80),
            (IpcExportHandle::CODE, 0xc020_4b81),
        ];
        for (ours, header) in ours {
            assert_eq!(ours, header, "{ours:#x} and {header:#x}");
        }
    }

    /// Where the header is installed (an older interface), its own text agrees about number and direction.
    #[test]
    fn the_installed_header_agrees() {
        let Ok(text) = std::fs::read_to_string("/usr/include/linux/kfd_ioctl.h") else {
            return;
        };
        let flat = text.replace("\\\n", " ");
        let mut seen = 0;
        for (name, code) in [
            (CreateEvent::NAME, CreateEvent::CODE),
            (AllocMemoryOfGpu::NAME, AllocMemoryOfGpu::CODE),
            (MapMemoryToGpu::NAME, MapMemoryToGpu::CODE),
            (SetCuMask::NAME, SetCuMask::CODE),
            (WaitEvents::NAME, WaitEvents::CODE),
            (Svm::NAME, Svm::CODE),
        ] {
            let Some(rest) = flat.split(&format!("#define AMDKFD_IOC_{name}")).nth(1) else {
                continue;
            };
            let words: Vec<&str> = rest.split_whitespace().collect();
            assert!(words[0].starts_with("AMDKFD_IO"), "{name}: {}", words[0]);
            let number = words[0].split('(').nth(1).unwrap().trim_end_matches(',');
            let number = u32::from_str_radix(number.trim_start_matches("0x"), 16).unwrap();
            assert_eq!(number, code & 0xff, "{name}");
            seen += 1;
        }
        assert_eq!(seen, 6);
    }
}
