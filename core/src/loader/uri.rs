//! Names of code objects for debuggers and profilers.
//!
//! A tool that stops a program finds the code object of each loaded segment by a URI:
//! `file://PATH#offset=N&size=N` for a part of a file, without the fragment for a whole file, and
//! `memory://PID#offset=0xN&size=N` for bytes that only exist in the process (LLVM's AMDGPU usage
//! document, "Loaded Code Object Path Uniform Resource Identifier"). Code objects are usually
//! embedded in programs and libraries, so bytes in memory often are a part of a file after all:
//! `/proc/self/maps` says which.

use std::fmt::Write as _;

/// Which mappings make bytes in memory a part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryUri {
    /// Those of the program and its libraries: files that are mapped for execution somewhere.
    #[default]
    LoadedObjects,
    /// Every mapped file (`HSA_LOADER_ENABLE_MMAP_URI`).
    AnyMapping,
}

/// The URI of a file or, with an offset and a size, a part of it.
pub(super) fn file(path: &[u8], part: Option<(u64, u64)>) -> String {
    let mut uri = String::from("file://");
    for &byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
    if let Some((offset, size)) = part {
        _ = write!(uri, "#offset={offset}&size={size}");
    }
    uri
}

/// The URI of bytes in a process.
pub(super) fn memory(pid: u32, address: u64, size: u64) -> String {
    format!("memory://{pid}#offset={address:#x}&size={size}")
}

/// The URI of bytes in this process, given the contents of `/proc/self/maps`.
pub(super) fn mapped(maps: &[u8], pid: u32, address: u64, size: u64, which: MemoryUri) -> String {
    match part_of_file(maps, address, size, which) {
        Some((path, offset)) => file(path, Some((offset, size))),
        None => memory(pid, address, size),
    }
}

/// A line of `/proc/self/maps` that maps a file.
#[derive(Debug, Clone, Copy)]
struct Mapping<'a> {
    start: u64,
    end: u64,
    is_executable: bool,
    offset: u64,
    path: &'a [u8],
}

fn part_of_file(maps: &[u8], address: u64, size: u64, which: MemoryUri) -> Option<(&[u8], u64)> {
    let mappings = || maps.split(|&byte| byte == b'\n').filter_map(mapping);
    let end = address.checked_add(size)?;
    let first = mappings().find(|one| one.start <= address && address < one.end)?;
    let is_known =
        which == MemoryUri::AnyMapping || mappings().any(|one| one.is_executable && one.path == first.path);
    if !is_known {
        return None;
    }
    // A library's segments follow each other in memory as in the file.
    let mut covered = first.end;
    for next in mappings().filter(|one| one.start >= first.end) {
        let is_continued = next.start == covered
            && next.path == first.path
            && next.offset.wrapping_sub(first.offset) == next.start - first.start;
        if covered >= end || !is_continued {
            break;
        }
        covered = next.end;
    }
    (covered >= end).then(|| (first.path, first.offset + (address - first.start)))
}

fn mapping(line: &[u8]) -> Option<Mapping<'_>> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let mut field = || fields.next();
    let range = std::str::from_utf8(field()?).ok()?;
    let permissions = field()?;
    let offset = std::str::from_utf8(field()?).ok()?;
    let (_device, _inode, path) = (field()?, field()?, field()?.trim_ascii_start());
    let (start, end) = range.split_once('-')?;
    path.starts_with(b"/").then_some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        is_executable: permissions.get(2) == Some(&b'x'),
        offset: u64::from_str_radix(offset, 16).ok()?,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &[u8] = b"\
555500000000-555500001000 r--p 00000000 08:01 77     /usr/bin/a program
555500001000-555500003000 r-xp 00001000 08:01 77     /usr/bin/a program
555500004000-555500005000 rw-p 00003000 08:01 77     /usr/bin/a program
7f0000000000-7f0000002000 r--p 00000000 08:01 78     /tmp/data#1
7f0000003000-7f0000004000 rw-p 00000000 00:00 0 \n\
7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0      [vdso]
";

    #[test]
    fn bytes_of_the_program_are_a_part_of_its_file() {
        let uri = |address, size| mapped(MAPS, 5, address, size, MemoryUri::LoadedObjects);
        let path = "file:///usr/bin/a%20program";
        assert_eq!(
            uri(0x5555_0000_0800, 0x100),
            format!("{path}#offset=2048&size=256")
        );
        // Across two adjacent segments, and behind a hole.
        assert_eq!(
            uri(0x5555_0000_0800, 0x1000),
            format!("{path}#offset=2048&size=4096")
        );
        assert_eq!(uri(0x5555_0000_4010, 16), format!("{path}#offset=12304&size=16"));
        assert_eq!(
            uri(0x5555_0000_2ff0, 32),
            "memory://5#offset=0x555500002ff0&size=32"
        );
    }

    #[test]
    fn other_mapped_files_count_only_when_asked_for() {
        let address = 0x7f00_0000_0010;
        let uri = |which| mapped(MAPS, 5, address, 16, which);
        assert_eq!(
            uri(MemoryUri::LoadedObjects),
            "memory://5#offset=0x7f0000000010&size=16"
        );
        assert_eq!(
            uri(MemoryUri::AnyMapping),
            "file:///tmp/data%231#offset=16&size=16"
        );
    }

    #[test]
    fn anonymous_memory_and_the_vdso_have_no_file() {
        for address in [0x7f00_0000_3000, 0x7ffd_0000_0000, 0x10, u64::MAX] {
            let uri = mapped(MAPS, 9, address, 8, MemoryUri::AnyMapping);
            assert_eq!(uri, format!("memory://9#offset={address:#x}&size=8"));
        }
    }

    #[test]
    fn a_whole_file_has_no_fragment_and_only_safe_characters() {
        assert_eq!(
            file(b"/a-b_c.d~/\xc3\xa4%:", None),
            "file:///a-b_c.d~/%C3%A4%25%3A"
        );
    }
}
