//! The code object functions of HSA 1.0, deprecated since 1.1.

use super::executable::{profile_value, rounding_value};
use super::system::machine_model;
use crate::entry::{callback, entry, go_on, not_null, text, Place, Value};
use hansa_core::code::isa_handle;
use hansa_core::runtime::Runtime;
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::{
    c_char, c_void, hsa_callback_data_t, hsa_code_object_info_t as Info, hsa_code_object_t,
    hsa_code_object_type_t, hsa_code_symbol_t, hsa_isa_t, AllocCallback, CodeSymbolCallback,
};

fn find(
    runtime: &Runtime,
    code_object: hsa_code_object_t,
    module: &str,
    name: &str,
) -> Result<hsa_code_symbol_t> {
    let object = runtime.code_object(code_object.handle)?;
    let symbol = object
        .object
        .symbol(module, name)
        .ok_or(Error::InvalidSymbolName)?;
    let handle = runtime.code_symbol_handle(code_object.handle, &object, symbol)?;
    Ok(hsa_code_symbol_t { handle })
}

entry! {
    fn hsa_code_object_serialize(
        code_object: hsa_code_object_t,
        alloc_callback: AllocCallback,
        callback_data: hsa_callback_data_t,
        options: *const c_char,
        serialized_code_object: *mut *mut c_void,
        serialized_code_object_size: *mut usize,
    ) {
        // None are defined.
        let _ = options;
        let runtime = current()?;
        let allocate = callback(alloc_callback)?;
        let place = Place::new(serialized_code_object)?;
        let size = Place::new(serialized_code_object_size)?;
        let object = runtime.code_object(code_object.handle)?;
        let bytes = object.object.bytes();
        let mut memory = std::ptr::null_mut();
        // SAFETY: the program gave the function for exactly this call.
        go_on(unsafe { allocate(bytes.len(), callback_data, &raw mut memory) })?;
        if memory.is_null() {
            return Err(Error::OutOfResources("memory for a serialized code object"));
        }
        Value::new(memory)?.set_bytes(bytes);
        place.set(memory);
        size.set(bytes.len());
        Ok(())
    }

    fn hsa_code_object_deserialize(
        serialized_code_object: *mut c_void,
        serialized_code_object_size: usize,
        options: *const c_char,
        code_object: *mut hsa_code_object_t,
    ) {
        let _ = options;
        let runtime = current()?;
        let pointer = not_null(serialized_code_object)?.cast::<u8>();
        let place = Place::new(code_object)?;
        if serialized_code_object_size == 0 {
            return Err(Error::InvalidArgument("a code object has at least one byte"));
        }
        // SAFETY: the program says that a code object of this size is there.
        let bytes = unsafe { std::slice::from_raw_parts(pointer, serialized_code_object_size) };
        place.set(hsa_code_object_t { handle: runtime.deserialize(bytes)? });
        Ok(())
    }

    fn hsa_code_object_destroy(code_object: hsa_code_object_t) {
        current()?.destroy_code_object(code_object.handle)
    }

    fn hsa_code_object_get_info(code_object: hsa_code_object_t, attribute: Info, value: *mut c_void) {
        let runtime = current()?;
        let value = Value::new(value)?;
        let object = runtime.code_object(code_object.handle)?;
        let object = &object.object;
        match attribute {
            Info::VERSION => value.set_text::<64>(object.version()),
            Info::TYPE => value.set(hsa_code_object_type_t::PROGRAM),
            Info::ISA => value.set(hsa_isa_t { handle: isa_handle(object.isa()) }),
            Info::MACHINE_MODEL => value.set(machine_model()),
            Info::PROFILE => value.set(profile_value(object.profile())),
            Info::DEFAULT_FLOAT_ROUNDING_MODE => value.set(rounding_value(object.rounding())),
            _ => return Err(Error::InvalidArgument("not an attribute of a code object")),
        }
        Ok(())
    }

    fn hsa_code_object_get_symbol(
        code_object: hsa_code_object_t,
        symbol_name: *const c_char,
        symbol: *mut hsa_code_symbol_t,
    ) {
        let runtime = current()?;
        let (name, place) = (text(symbol_name)?, Place::new(symbol)?);
        place.set(find(&runtime, code_object, "", &name)?);
        Ok(())
    }

    fn hsa_code_object_get_symbol_from_name(
        code_object: hsa_code_object_t,
        module_name: *const c_char,
        symbol_name: *const c_char,
        symbol: *mut hsa_code_symbol_t,
    ) {
        let runtime = current()?;
        let (name, place) = (text(symbol_name)?, Place::new(symbol)?);
        let module = if module_name.is_null() { "".into() } else { text(module_name)? };
        place.set(find(&runtime, code_object, &module, &name)?);
        Ok(())
    }

    fn hsa_code_object_iterate_symbols(
        code_object: hsa_code_object_t,
        callback_: CodeSymbolCallback,
        data: *mut c_void,
    ) {
        let runtime = current()?;
        let function = callback(callback_)?;
        let object = runtime.code_object(code_object.handle)?;
        for symbol in object.object.symbols() {
            let handle = runtime.code_symbol_handle(code_object.handle, &object, symbol)?;
            // SAFETY: the program gave the function for exactly this call.
            go_on(unsafe { function(code_object, hsa_code_symbol_t { handle }, data) })?;
        }
        Ok(())
    }
}
