//! Forms of code objects that compilers seldom produce, made by changing a few bytes of common ones.

mod loader_support;

use std::sync::{Arc, Mutex};

use hansa_core::loader::{
    AgentKey, CodeObject, CodeObjectReader, ErrorKind, Executable, ExecutableError, FloatRounding, Isa,
    LoadError, LoadTarget, MemoryUri, ObjectSymbolKind, Placed, Placement, PlacementError, Profile,
    RelocationTarget,
};
use loader_support::{Recipe, EXTERNAL, VARS};

const AGENT: AgentKey = AgentKey(1);
const GLOBAL_OBJECT: u8 = 0x11;
const GLOBAL_COMMON: u8 = 0x15;
const GLOBAL_UNTYPED: u8 = 0x10;
const WEAK_UNTYPED: u8 = 0x20;

/// Remembers how large the image and the zeroes behind it were.
#[derive(Debug, Default)]
struct Sizes {
    uploads: Mutex<Vec<(usize, u64)>>,
}

impl Placement for Sizes {
    fn allocate(
        &self,
        _agent: AgentKey,
        _size: u64,
        _align: u64,
        _executable: bool,
    ) -> Result<Placed, PlacementError> {
        Ok(Placed {
            device_address: 0x10_0000,
            token: 0,
        })
    }

    fn upload(
        &self,
        _agent: AgentKey,
        _placed: Placed,
        image: &[u8],
        zero_tail: u64,
    ) -> Result<(), PlacementError> {
        let mut uploads = self.uploads.lock().expect("no panic while locked");
        uploads.push((image.len(), zero_tail));
        Ok(())
    }

    fn free(&self, _agent: AgentKey, _placed: Placed) {}
}

fn load(executable: &Executable, bytes: &[u8]) -> Result<Arc<Sizes>, ExecutableError> {
    let sizes = Arc::new(Sizes::default());
    let placement: Arc<dyn Placement> = Arc::clone(&sizes) as _;
    let isa: Isa = "amdgcn-amd-amdhsa--gfx900:xnack-".parse().expect("an ISA");
    let reader = CodeObjectReader::from_memory(Arc::new(bytes.to_vec()), MemoryUri::default());
    let target = LoadTarget {
        agent: AGENT,
        isas: &[isa],
        placement: &placement,
    };
    executable.load_agent_code_object(&reader, target)?;
    Ok(sizes)
}

fn executable() -> Executable {
    Executable::new(Profile::Base, FloatRounding::Near)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

fn long(bytes: &[u8], at: usize) -> usize {
    let value = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    usize::try_from(value).expect("a small file")
}

/// File offset of the header of the first section with a type.
fn section(bytes: &[u8], kind: u32) -> usize {
    (long(bytes, 40)..bytes.len())
        .step_by(64)
        .find(|&at| word(bytes, at + 4) == kind)
        .expect("a section of the type")
}

/// Changes the binding and type of a symbol in the table in a section of a type.
fn retype(bytes: &mut [u8], table: u32, name: &str, from: u8, to: u8) {
    let header = section(bytes, table);
    let symbols = long(bytes, header + 24);
    let count = long(bytes, header + 32) / 24;
    let link = usize::try_from(word(bytes, header + 40)).expect("a small index");
    let strings = long(bytes, long(bytes, 40) + link * 64 + 24);
    let at = (0..count)
        .map(|index| symbols + index * 24)
        .find(|&at| {
            let start = strings + usize::try_from(word(bytes, at)).expect("a small table");
            bytes[start..].starts_with(name.as_bytes()) && bytes[start + name.len()] == 0
        })
        .expect("the symbol");
    assert_eq!(bytes[at + 4], from, "{name}");
    bytes[at + 4] = to;
}

#[test]
fn a_common_symbol_needs_a_definition_and_gives_none() {
    let Some(mut bytes) = VARS.build() else { return };
    retype(&mut bytes, 2, "counter", GLOBAL_OBJECT, GLOBAL_COMMON);
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let counter = object.symbol("counter").expect("counter");
    assert_eq!(counter.kind, ObjectSymbolKind::Declaration);

    let missing = load(&executable(), &bytes).expect_err("nobody defined it");
    assert!(
        matches!(&missing, ExecutableError::Load(LoadError::UndefinedVariable { name }) if name == "counter"),
        "{missing}"
    );
    let exe = executable();
    exe.define_agent_variable("counter", AGENT, 0x40)
        .expect("a new name");
    load(&exe, &bytes).expect("it is defined");
    exe.freeze().expect("the first freeze");
    let counter = exe.symbol("counter", Some(AGENT)).expect("counter");
    assert_eq!(counter.address(), 0x40);
    assert_eq!(exe.symbols().len(), object.symbols().len());
}

#[test]
fn an_undefined_weak_variable_is_at_0() {
    let Some(mut bytes) = EXTERNAL.build() else { return };
    retype(&mut bytes, 11, "supplied", GLOBAL_UNTYPED, WEAK_UNTYPED);
    let object = CodeObject::parse(&bytes).expect("a whole object");
    let target = object.relocations()[0].target;
    assert!(
        matches!(target, RelocationTarget::Variable { is_weak: true, .. }),
        "{target:?}"
    );
    let mut image = vec![0xff; usize::try_from(object.layout().size).expect("small")];
    object.relocate(&mut image, 0x1000, &mut |_| None).expect("weak");
    let place = usize::try_from(object.relocations()[0].address).expect("small");
    assert_eq!(image[place..place + 8], [0; 8]);
    load(&executable(), &bytes).expect("weak variables may be missing");
}

#[test]
fn objects_made_from_hsail_must_fit_the_executable() {
    let cpu = "gfx900:xnack-";
    let Some(mut bytes) = (Recipe {
        version: 2,
        cpu,
        ..VARS
    })
    .build() else {
        return;
    };
    let object = CodeObject::parse(&bytes).expect("a whole object");
    assert_eq!(object.hsail_settings(), None);
    // The ISA name note (type 11) is not needed for anything; make it an HSAIL note (type 2).
    let note = *object
        .notes()
        .iter()
        .find(|note| note.kind == 11)
        .expect("the note");
    let contents = usize::try_from(note.offset).expect("a small file");
    bytes[contents - 8..contents - 4].copy_from_slice(&2u32.to_le_bytes());
    let mut outcome = |profile, rounding| {
        bytes[contents + 8] = profile;
        bytes[contents + 10] = rounding;
        load(&executable(), &bytes).map(drop)
    };
    outcome(0, 2).expect("base and near are what the executable has");
    outcome(0, 0).expect("the default fits every rounding mode");
    for (profile, rounding) in [(1, 2), (0, 1)] {
        let error = outcome(profile, rounding).expect_err("it differs");
        assert!(matches!(error, ExecutableError::Settings { .. }), "{error}");
    }
}

#[test]
fn dynamic_relocations_of_other_forms_are_not_overlooked() {
    let Some(bytes) = VARS.build() else { return };
    let header = section(&bytes, 4);
    for kind in [9u32, 19] {
        let mut changed = bytes.clone();
        changed[header + 4..header + 8].copy_from_slice(&kind.to_le_bytes());
        let error = CodeObject::parse(&changed).expect_err("no addends");
        assert_eq!(error.kind(), ErrorKind::Broken);
        assert!(error.to_string().contains("only SHT_RELA is accepted"), "{error}");
    }
}

#[test]
fn relocations_of_a_section_are_the_static_linkers() {
    let Some(mut bytes) = VARS.build() else { return };
    // Not loaded and with a target section: no longer the loader's business, even if unknown.
    let header = section(&bytes, 4);
    bytes[header + 8..header + 16].copy_from_slice(&[0; 8]);
    bytes[header + 44..header + 48].copy_from_slice(&7u32.to_le_bytes());
    let records = long(&bytes, header + 24);
    bytes[records + 8] = 99;
    let object = CodeObject::parse(&bytes).expect("a whole object");
    assert!(object.relocations().is_empty());
}

#[test]
fn the_host_keeps_no_copy_of_a_large_zero_tail() {
    let Some(bytes) = VARS.build() else { return };
    let headers = || (64..bytes.len()).step_by(56);
    let last = headers()
        .filter(|&at| word(&bytes, at) == 1)
        .nth(3)
        .expect("the segment of variables");
    let with_tail = |tail: u64| {
        let mut changed = bytes.clone();
        let size = u64::try_from(long(&bytes, last + 32)).expect("it fits") + tail;
        changed[last + 40..last + 48].copy_from_slice(&size.to_le_bytes());
        let exe = executable();
        let sizes = load(&exe, &changed).expect("a large object");
        exe.freeze().expect("the first freeze");
        let extent = CodeObject::parse(&changed).expect("whole").layout().file_extent;
        let uploads = sizes.uploads.lock().expect("no panic while locked");
        let loaded = &exe.loaded_code_objects()[0];
        assert_eq!(loaded.size(), extent + tail);
        let has_copy = loaded.host_address(loaded.base() + loaded.size() - 1).is_some();
        (
            uploads[0].0 - usize::try_from(extent).expect("small"),
            uploads[0].1,
            has_copy,
        )
    };
    assert_eq!(with_tail(4096), (4096, 0, true));
    assert_eq!(with_tail(1 << 40), (0, 1 << 40, false));
}
