//! Memory and commands of graphics, as a program hands them in on a render node, and graphics memory that compute takes.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hansa_kfd::uapi::sharing::GetDmabufInfo;
use hansa_kfd::uapi::Request;
use hansa_plugin_api::sys::{File, MapAccess, System};
use hansa_vkernel::{Errno, Kernel, Machine, Options, VirtualSystem};
use std::path::Path;
use std::sync::Arc;

/// Requests of the render node, by their numbers in `drm.h` and `amdgpu_drm.h`.
const HANDLE_TO_FD: u32 = 0xc00c_642d;
const CREATE: u32 = 0xc020_6440;
const MMAP: u32 = 0xc008_6441;
const CONTEXT: u32 = 0xc010_6442;
const LIST: u32 = 0xc018_6443;
const SUBMIT: u32 = 0xc018_6444;
const METADATA: u32 = 0xc120_6446;
const MAP: u32 = 0x4028_6448;
const WAIT: u32 = 0xc020_6449;

struct Node {
    system: Arc<VirtualSystem>,
    file: File,
}

impl Node {
    fn open() -> Self {
        let kernel = Kernel::new(Machine::vega10(), Options::default(), None).unwrap();
        let system = VirtualSystem::new(kernel);
        let file = system.open(Path::new("/dev/dri/renderD128"), true).unwrap();
        Self { system, file }
    }

    fn ask(&self, code: u32, words: &mut [u64]) -> Result<i32, Errno> {
        // SAFETY: each request has at least the bytes that its number says.
        unsafe { self.system.ioctl(self.file, code, words.as_mut_ptr().cast()) }
    }

    /// A new buffer of a place: its name.
    fn create(&self, bytes: u64, place: u64) -> u64 {
        let mut words = [bytes, 4096, place, 1];
        self.ask(CREATE, &mut words).unwrap();
        words[0]
    }

    /// The host's view of a buffer.
    fn view(&self, name: u64) -> *mut u32 {
        let mut words = [name];
        self.ask(MMAP, &mut words).unwrap();
        let access = MapAccess {
            read: true,
            write: true,
            execute: false,
        };
        // SAFETY: a new mapping.
        let view = unsafe {
            self.system
                .mmap(std::ptr::null_mut(), 4096, access, Some(self.file), words[0])
        };
        view.unwrap().cast()
    }

    fn map(&self, name: u64, address: u64) {
        // Read, write and execute; map.
        let mut words = [name, 0xe_0000_0001, address, 0, 4096];
        self.ask(MAP, &mut words).unwrap();
    }
}

fn address<T>(of: &T) -> u64 {
    std::ptr::from_ref(of).expose_provenance() as u64
}

const VRAM: u64 = 4;
const GTT: u64 = 2;
const COMMANDS_AT: u64 = 0x1_0000_0000;
const TARGET_AT: u64 = 0x1_0010_0000;

#[test]
fn commands_run_and_their_fence_is_past() {
    let node = Node::open();
    let (commands, target) = (node.create(4096, GTT), node.create(4096, VRAM));
    node.map(commands, COMMANDS_AT);
    node.map(target, TARGET_AT);
    let program = node.view(commands);
    // A write of one word, and nothing.
    let [low, high] = [TARGET_AT & 0xffff_ffff, TARGET_AT >> 32].map(|half| u32::try_from(half).unwrap());
    let packet = [2, low, high, 0, 0x1234_5678, 0];
    for (i, word) in packet.into_iter().enumerate() {
        let at = program.wrapping_add(i);
        // SAFETY: inside the mapping.
        unsafe { at.write_volatile(word) };
    }
    let mut context = [1, 0];
    node.ask(CONTEXT, &mut context).unwrap();
    let entries = [commands, target];
    let mut list = [0, 8 << 32 | 2, address(&entries)];
    node.ask(LIST, &mut list).unwrap();
    let part = |engine: u64| [0, COMMANDS_AT, engine << 32 | 24, 0];
    let submit = |engine: u64| {
        let part = part(engine);
        let chunk = [8 << 32 | 1, address(&part)];
        let chunks = [address(&chunk)];
        let mut words = [list[0] << 32 | context[0], 1, address(&chunks)];
        node.ask(SUBMIT, &mut words).map(|_| words[0])
    };
    let fence = submit(2).unwrap();
    // SAFETY: inside the mapping.
    assert_eq!(unsafe { node.view(target).read_volatile() }, 0x1234_5678);
    let wait = |fence: u64| {
        let mut words = [fence, u64::MAX, 2, context[0] << 32];
        node.ask(WAIT, &mut words).map(|_| words[0])
    };
    assert_eq!(wait(fence), Ok(0));
    assert_eq!(wait(fence + 1), Err(Errno::INVAL), "nobody was given it");
    assert_eq!(node.system.kernel().complaints(), Vec::<String>::new());
    assert_eq!(submit(0), Err(Errno::INVAL));
    assert_eq!(
        node.system.kernel().complaints(),
        ["AMDGPU_CS for engines of kind 0"]
    );
}

/// What is written on a buffer goes with its file, to compute as well.
#[test]
fn notes_go_with_the_memory() {
    let node = Node::open();
    let name = node.create(4096, VRAM);
    let text = *b"a note";
    let mut words = [0_u64; 36];
    words[..4].copy_from_slice(&[1 << 32 | name, 7, 9, 0]);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes[24..28].copy_from_slice(&6_u32.to_ne_bytes());
    bytes[28..34].copy_from_slice(&text);
    // SAFETY: the request has 288 bytes.
    unsafe { node.system.ioctl(node.file, METADATA, bytes.as_mut_ptr()) }.unwrap();
    let mut file = [name, 0];
    node.ask(HANDLE_TO_FD, &mut file).unwrap();
    let kfd = node.system.open(Path::new("/dev/kfd"), true).unwrap();
    let mut note = [0_u8; 16];
    let mut info = GetDmabufInfo {
        metadata_ptr: address(&note),
        metadata_size: 16,
        dmabuf_fd: u32::try_from(file[1]).unwrap(),
        ..GetDmabufInfo::default()
    };
    // SAFETY: the structure of the request.
    unsafe {
        node.system
            .ioctl(kfd, GetDmabufInfo::CODE, (&raw mut info).cast())
    }
    .unwrap();
    assert_eq!((info.size, info.metadata_size), (4096, 6));
    // The kernel wrote it behind the compiler's back.
    let note = std::hint::black_box(&mut note);
    assert_eq!(&note[..6], &text);
    assert_eq!(node.system.kernel().complaints(), Vec::<String>::new());
}

#[test]
fn what_is_not_there_is_refused() {
    let node = Node::open();
    assert_eq!(node.ask(CREATE, &mut [0, 4096, VRAM, 0]), Err(Errno::INVAL));
    assert_eq!(node.ask(CREATE, &mut [1 << 50, 4096, VRAM, 0]), Err(Errno::NOMEM));
    assert_eq!(node.ask(HANDLE_TO_FD, &mut [9, 0]), Err(Errno::NOENT));
    assert_eq!(node.ask(CONTEXT, &mut [2, 5]), Err(Errno::INVAL));
    assert_eq!(node.ask(LIST, &mut [5 << 32 | 1, 0, 0]), Err(Errno::NOENT));
    assert_eq!(node.ask(SUBMIT, &mut [5, 0, 0]), Err(Errno::INVAL));
    let entries = [9_u64];
    let mut list = [0, 8 << 32 | 1, address(&entries)];
    assert_eq!(node.ask(LIST, &mut list), Err(Errno::NOENT));
}
