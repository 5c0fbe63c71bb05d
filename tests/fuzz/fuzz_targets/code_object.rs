//! A code object goes through everything the loader does with it: parsing, relocation, metadata, loading, freezing,
//! and the calls of HSA 1.0.
#![no_main]

use hansa_core::loader::{
    AgentKey, CodeObject, CodeObjectReader, Executable, FloatRounding, Isa, LoadTarget, MemoryUri, Placed,
    Placement, PlacementError, Processor, Profile, SerializedCodeObject,
};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

const AGENT: AgentKey = AgentKey(7);
/// Objects that need more are not loaded: the fuzzer's memory is bounded.
const MOST_BYTES: u64 = 16 << 20;

/// Device memory that looks at what it is told.
#[derive(Debug)]
struct Memory;

impl Placement for Memory {
    fn allocate(&self, agent: AgentKey, size: u64, align: u64, _: bool) -> Result<Placed, PlacementError> {
        assert_eq!(agent, AGENT);
        assert!(align.is_power_of_two());
        if size > MOST_BYTES {
            return Err(PlacementError::OutOfMemory { size });
        }
        Ok(Placed {
            device_address: 0x7f00_0000_0000_u64.next_multiple_of(align),
            token: size,
        })
    }

    fn upload(
        &self,
        _: AgentKey,
        placed: Placed,
        image: &[u8],
        zero_tail: u64,
    ) -> Result<(), PlacementError> {
        assert!(
            image.len() as u64 + zero_tail <= placed.token,
            "the upload fits what was allocated"
        );
        Ok(())
    }

    fn free(&self, _: AgentKey, _: Placed) {}
}

fn load(data: &[u8], isa: Isa) {
    let placement: Arc<dyn Placement> = Arc::new(Memory);
    let reader = CodeObjectReader::from_memory(Arc::new(data.to_vec()), MemoryUri::LoadedObjects);
    let executable = Executable::new(Profile::Full, FloatRounding::Default);
    let _ = executable.define_program_variable("external", 0x1000);
    let target = LoadTarget {
        agent: AGENT,
        isas: &[isa],
        placement: &placement,
    };
    let first = executable.load_agent_code_object(&reader, target).is_ok();
    // Twice: names are defined already.
    let _ = executable.load_agent_code_object(&reader, target);
    let _ = executable.load_program_code_object(&reader);
    let frozen = executable.freeze().is_ok();
    assert!(
        !first || frozen || data.is_empty(),
        "what was loaded can be frozen"
    );
    for symbol in executable.symbols().iter() {
        let found = executable.symbol(symbol.full_name(), symbol.agent());
        assert!(found.is_some(), "a symbol is found by its name");
        let _ = (symbol.address(), symbol.object_size(), symbol.kind());
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(object) = CodeObject::parse(data) {
        if object.layout().file_extent <= MOST_BYTES {
            let mut image = vec![0; object.layout().file_extent as usize];
            object.fill(&mut image);
            let _ = object.relocate(&mut image, 0x1_0000_0000, &mut |_| Some(1));
        }
        let _ = (
            object.metadata(),
            object.yaml_metadata(),
            object.kernels().count(),
        );
        if object.layout().size <= MOST_BYTES {
            load(data, object.target().isa);
        }
    } else {
        let gfx900 = Processor::from_name("gfx900").expect("a processor");
        load(&data[..data.len().min(64)], Isa::new(gfx900, None, None));
    }
    let _ = SerializedCodeObject::deserialize(data).map(|object| object.symbols().len());
});
