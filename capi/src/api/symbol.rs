//! What a program can ask of symbols of executables and code objects (HSA Runtime PRM 1.2, section 2.8).
//!
//! Both have the same attributes under the same numbers, but for addresses, which only an executable has.

use super::executable::agent_of_symbol;
use crate::entry::{entry, Value};
use hansa_core::loader::{Allocation, Kernel, Linkage, SymbolKind, Variable, VariableSegment};
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::{
    c_void, hsa_code_symbol_info_t as CodeInfo, hsa_code_symbol_t, hsa_executable_symbol_info_t as Info,
    hsa_executable_symbol_t, hsa_symbol_kind_t, hsa_symbol_linkage_t, hsa_variable_allocation_t,
    hsa_variable_segment_t,
};

/// What every symbol has.
struct Common<'a> {
    name: &'a str,
    module: &'a str,
    linkage: Linkage,
    is_definition: bool,
    /// `None` for a variable that is only declared.
    kind: Option<&'a SymbolKind>,
}

fn not_an_attribute() -> Error {
    Error::InvalidArgument("not an attribute of this symbol")
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn common(symbol: &Common<'_>, attribute: Info, value: Value) -> Result<()> {
    match attribute {
        Info::TYPE => value.set(match symbol.kind {
            Some(SymbolKind::Kernel(_)) => hsa_symbol_kind_t::KERNEL,
            Some(SymbolKind::IndirectFunction) => hsa_symbol_kind_t::INDIRECT_FUNCTION,
            Some(SymbolKind::Variable(_)) | None => hsa_symbol_kind_t::VARIABLE,
        }),
        Info::NAME_LENGTH => value.set(length(symbol.name)),
        Info::NAME => value.set_bytes(symbol.name.as_bytes()),
        Info::MODULE_NAME_LENGTH => value.set(length(symbol.module)),
        Info::MODULE_NAME => value.set_bytes(symbol.module.as_bytes()),
        Info::LINKAGE => value.set(match symbol.linkage {
            Linkage::Module => hsa_symbol_linkage_t::MODULE,
            Linkage::Program => hsa_symbol_linkage_t::PROGRAM,
        }),
        Info::IS_DEFINITION => value.set(symbol.is_definition),
        _ => {
            return match symbol.kind {
                Some(SymbolKind::Kernel(kernel)) => of_kernel(kernel, attribute, value),
                Some(SymbolKind::Variable(variable)) => of_variable(variable, attribute, value),
                Some(SymbolKind::IndirectFunction) => of_indirect_function(attribute, value),
                None => Err(not_an_attribute()),
            }
        }
    }
    Ok(())
}

fn of_indirect_function(attribute: Info, value: Value) -> Result<()> {
    match attribute {
        Info::INDIRECT_FUNCTION_CALL_CONVENTION => value.set(0_u32),
        _ => return Err(not_an_attribute()),
    }
    Ok(())
}

fn of_variable(variable: &Variable, attribute: Info, value: Value) -> Result<()> {
    match attribute {
        Info::VARIABLE_ALLOCATION => value.set(match variable.allocation {
            Allocation::Agent => hsa_variable_allocation_t::AGENT,
            Allocation::Program => hsa_variable_allocation_t::PROGRAM,
        }),
        Info::VARIABLE_SEGMENT => value.set(match variable.segment {
            VariableSegment::Global => hsa_variable_segment_t::GLOBAL,
            VariableSegment::Readonly => hsa_variable_segment_t::READONLY,
        }),
        Info::VARIABLE_ALIGNMENT => value.set(narrow(variable.alignment)),
        Info::VARIABLE_SIZE => value.set(narrow(variable.size)),
        Info::VARIABLE_IS_CONST => value.set(variable.is_const),
        _ => return Err(not_an_attribute()),
    }
    Ok(())
}

fn of_kernel(kernel: &Kernel, attribute: Info, value: Value) -> Result<()> {
    match attribute {
        Info::KERNEL_KERNARG_SEGMENT_SIZE => value.set(kernel.kernarg_size),
        Info::KERNEL_KERNARG_SEGMENT_ALIGNMENT => value.set(kernel.kernarg_alignment),
        Info::KERNEL_GROUP_SEGMENT_SIZE => value.set(kernel.group_size),
        Info::KERNEL_PRIVATE_SEGMENT_SIZE => value.set(kernel.private_size),
        Info::KERNEL_DYNAMIC_CALLSTACK => value.set(kernel.dynamic_call_stack),
        Info::KERNEL_CALL_CONVENTION => value.set(kernel.call_convention),
        _ => return Err(not_an_attribute()),
    }
    Ok(())
}

entry! {
    fn hsa_executable_symbol_get_info(
        executable_symbol: hsa_executable_symbol_t,
        attribute: Info,
        value: *mut c_void,
    ) {
        let runtime = current()?;
        let value = Value::new(value)?;
        let held = runtime.symbol(executable_symbol.handle)?;
        let symbol = &held.symbol;
        let is_function = matches!(symbol.kind(), SymbolKind::IndirectFunction);
        match attribute {
            Info::AGENT => value.set(agent_of_symbol(&runtime, symbol)),
            // The two are one for AMD's runtime, and programs ask either.
            Info::VARIABLE_ADDRESS | Info::KERNEL_OBJECT if !is_function => value.set(symbol.address()),
            Info::INDIRECT_FUNCTION_OBJECT if is_function => value.set(symbol.address()),
            // Undefined for a variable, says the standard; no error, then.
            Info::KERNEL_CALL_CONVENTION if matches!(symbol.kind(), SymbolKind::Variable(_)) => value.set(0_u32),
            _ => {
                let parts = Common {
                    name: symbol.name(),
                    module: symbol.module_name(),
                    linkage: symbol.linkage(),
                    is_definition: symbol.is_definition(),
                    kind: Some(symbol.kind()),
                };
                return common(&parts, attribute, value);
            }
        }
        Ok(())
    }

    fn hsa_code_symbol_get_info(code_symbol: hsa_code_symbol_t, attribute: CodeInfo, value: *mut c_void) {
        let runtime = current()?;
        let value = Value::new(value)?;
        let held = runtime.code_symbol(code_symbol.handle)?;
        let symbol = &held.symbol;
        let kind = symbol.kind.as_ref();
        if let (CodeInfo::KERNEL_WAVEFRONT_SIZE, Some(SymbolKind::Kernel(kernel))) = (attribute, kind) {
            value.set(kernel.wavefront_size);
            return Ok(());
        }
        let parts = Common {
            name: symbol.name(),
            module: symbol.module_name(),
            linkage: symbol.linkage,
            is_definition: symbol.is_definition(),
            kind,
        };
        common(&parts, Info(attribute.0), value)
    }
}
