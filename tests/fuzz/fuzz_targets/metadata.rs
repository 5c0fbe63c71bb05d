//! The msgpack metadata of a code object, in an object that is otherwise whole.
#![no_main]

use hansa_core::loader::CodeObject;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let elf = hansa_fuzz::elf::with_metadata(data);
    let object = CodeObject::parse(&elf).expect("the object around the metadata is whole");
    if let Ok(metadata) = object.metadata() {
        let metadata = metadata.expect("there is a note");
        for kernel in &metadata.kernels {
            assert!(kernel.args.len() <= data.len() && kernel.name.len() <= data.len());
        }
    }
});
