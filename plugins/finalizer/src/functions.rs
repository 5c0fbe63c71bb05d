//! The functions of the extension: arguments, and statuses for what goes wrong.

use crate::brig::{MachineModel, Profile, Round};
use crate::cache::Key;
use crate::code::{self, CodeError};
use crate::entry::Call;
use crate::memory;
use crate::program::{AddError, DirectiveError, Directives, Settings, Target};
use hansa_extension_lib::outcome::{argument, Failure, Outcome};
use hansa_extension_lib::serving::Serves as _;
use hansa_plugin_api::hsa::{
    hsa_code_object_t, hsa_code_object_type_t, hsa_default_float_rounding_mode_t,
    hsa_ext_control_directives_t, hsa_ext_finalizer_call_convention_t, hsa_ext_module_t,
    hsa_ext_program_info_t, hsa_ext_program_t, hsa_isa_t, hsa_machine_model_t, hsa_profile_t, hsa_status_t,
    ModuleCallback,
};
use hansa_plugin_api::{LogLevel, RSlice};
use std::ffi::{c_char, c_void};

/// Declares the functions of this extension.
macro_rules! entries {
    ($($functions:tt)*) => { hansa_extension_lib::entries! { [crate::entry::SERVING] $($functions)* } };
}

/// Call conventions of an instruction set here: 0 only.
const CALL_CONVENTIONS: i32 = 1;

fn status_of_add(error: &AddError) -> hsa_status_t {
    match error {
        AddError::Invalid(_) => hsa_status_t::EXT_ERROR_INVALID_MODULE,
        AddError::Incompatible { .. } => hsa_status_t::EXT_ERROR_INCOMPATIBLE_MODULE,
        AddError::Included => hsa_status_t::EXT_ERROR_MODULE_ALREADY_INCLUDED,
        AddError::Symbol { .. } => hsa_status_t::EXT_ERROR_SYMBOL_MISMATCH,
    }
}

fn status_of_directives(error: &DirectiveError) -> hsa_status_t {
    match error {
        DirectiveError::Mismatch { .. } => hsa_status_t::EXT_ERROR_DIRECTIVE_MISMATCH,
        DirectiveError::Exceptions { .. } => hsa_status_t::EXT_ERROR_FINALIZATION_FAILED,
    }
}

fn status_of_code(error: &CodeError) -> hsa_status_t {
    match error {
        CodeError::Directives(error) => status_of_directives(error),
        _ => hsa_status_t::EXT_ERROR_FINALIZATION_FAILED,
    }
}

/// A refusal, with a line in the log that says why.
fn refuse(call: &Call, function: &str, error: &dyn std::error::Error, status: hsa_status_t) -> Failure {
    // A program that probes what is accepted shall not fill the log; code that cannot be made is another matter.
    let level = if status == hsa_status_t::EXT_ERROR_FINALIZATION_FAILED {
        LogLevel::WARNING
    } else {
        LogLevel::DEBUG
    };
    call.log(level, &format!("{function}: {error}"));
    status.into()
}

fn settings(
    machine_model: hsa_machine_model_t,
    profile: hsa_profile_t,
    rounding: hsa_default_float_rounding_mode_t,
) -> Option<Settings> {
    Some(Settings {
        machine_model: match machine_model {
            hsa_machine_model_t::SMALL => MachineModel::SMALL,
            hsa_machine_model_t::LARGE => MachineModel::LARGE,
            _ => return None,
        },
        profile: match profile {
            hsa_profile_t::BASE => Profile::BASE,
            hsa_profile_t::FULL => Profile::FULL,
            _ => return None,
        },
        rounding: match rounding {
            hsa_default_float_rounding_mode_t::DEFAULT => Round::DEFAULT,
            hsa_default_float_rounding_mode_t::ZERO => Round::ZERO,
            hsa_default_float_rounding_mode_t::NEAR => Round::NEAR,
            _ => return None,
        },
    })
}

fn machine_model_value(settings: Settings) -> hsa_machine_model_t {
    match settings.machine_model {
        MachineModel::SMALL => hsa_machine_model_t::SMALL,
        _ => hsa_machine_model_t::LARGE,
    }
}

fn profile_value(settings: Settings) -> hsa_profile_t {
    match settings.profile {
        Profile::FULL => hsa_profile_t::FULL,
        _ => hsa_profile_t::BASE,
    }
}

fn rounding_value(settings: Settings) -> hsa_default_float_rounding_mode_t {
    match settings.rounding {
        Round::ZERO => hsa_default_float_rounding_mode_t::ZERO,
        Round::NEAR => hsa_default_float_rounding_mode_t::NEAR,
        _ => hsa_default_float_rounding_mode_t::DEFAULT,
    }
}

/// What code is made for. INVALID_ISA.
fn target(call: &Call, isa: hsa_isa_t) -> Outcome<Target> {
    let loader = call.runtime().loader()?;
    Ok(Target {
        isa: loader.isa_name(isa.handle)?.into_string(),
        wavefront: loader.isa_wavefront_size(isa.handle)?,
    })
}

entries! {
    fn hsa_ext_program_create(
        call;
        machine_model: hsa_machine_model_t,
        profile: hsa_profile_t,
        rounding: hsa_default_float_rounding_mode_t,
        options: *const c_char,
        program: *mut hsa_ext_program_t,
    ) {
        // None are defined.
        let _ = options;
        let place = call.out(program)?;
        let settings = settings(machine_model, profile, rounding)
            .ok_or(hsa_status_t::ERROR_INVALID_ARGUMENT)?;
        place.set(hsa_ext_program_t { handle: call.create(settings) });
        Ok(())
    }

    fn hsa_ext_program_destroy(call; program: hsa_ext_program_t) {
        call.destroy(program.handle)
    }

    fn hsa_ext_program_add_module(call; program: hsa_ext_program_t, module: hsa_ext_module_t) {
        const NAME: &str = "hsa_ext_program_add_module";
        let shared = call.program(program.handle)?;
        let address = call
            .address(module.cast())
            .map_err(|_| hsa_status_t::EXT_ERROR_INVALID_MODULE)?;
        let failed = |error: AddError| {
            let status = status_of_add(&error);
            refuse(call, NAME, &error, status)
        };
        shared.lock().is_new(address).map_err(failed)?;
        let invalid = hsa_status_t::EXT_ERROR_INVALID_MODULE;
        let bytes = memory::copy(call, address)?.map_err(|error| refuse(call, NAME, &error, invalid))?;
        let module = crate::brig::Module::parse(bytes).map_err(|error| refuse(call, NAME, &error, invalid))?;
        let added = shared.lock().add(address, module);
        added.map_err(failed)
    }

    fn hsa_ext_program_iterate_modules(
        call;
        program: hsa_ext_program_t,
        callback: ModuleCallback,
        data: *mut c_void,
    ) {
        let shared = call.program(program.handle)?;
        let function = callback.ok_or(hsa_status_t::ERROR_INVALID_ARGUMENT)?;
        let addresses: Vec<u64> = shared.lock().addresses().collect();
        for address in addresses {
            let address = usize::try_from(address).map_err(|_| hsa_status_t::ERROR)?;
            let module: hsa_ext_module_t = std::ptr::with_exposed_provenance_mut(address);
            // SAFETY: the program gave the function for exactly this call.
            match unsafe { function(program, module, data) } {
                hsa_status_t::SUCCESS => {}
                status => return Err(status.into()),
            }
        }
        Ok(())
    }

    fn hsa_ext_program_get_info(
        call;
        program: hsa_ext_program_t,
        attribute: hsa_ext_program_info_t,
        value: *mut c_void,
    ) {
        let settings = call.program(program.handle)?.lock().settings();
        let value = call.value(value)?;
        match attribute {
            hsa_ext_program_info_t::MACHINE_MODEL => value.put(machine_model_value(settings)),
            hsa_ext_program_info_t::PROFILE => value.put(profile_value(settings)),
            hsa_ext_program_info_t::DEFAULT_FLOAT_ROUNDING_MODE => value.put(rounding_value(settings)),
            _ => return Err(hsa_status_t::ERROR_INVALID_ARGUMENT.into()),
        }
        Ok(())
    }

    fn hsa_ext_program_finalize(
        call;
        program: hsa_ext_program_t,
        isa: hsa_isa_t,
        call_convention: i32,
        control_directives: hsa_ext_control_directives_t,
        options: *const c_char,
        code_object_type: hsa_code_object_type_t,
        code_object: *mut hsa_code_object_t,
    ) {
        const NAME: &str = "hsa_ext_program_finalize";
        let shared = call.program(program.handle)?;
        let target = target(call, isa)?;
        let place = call.out(code_object)?;
        let first = hsa_ext_finalizer_call_convention_t::AUTO.0;
        argument((first..CALL_CONVENTIONS).contains(&call_convention))?;
        argument(code_object_type == hsa_code_object_type_t::PROGRAM)?;
        let options = call.text(options)?.to_owned();
        let directives = Directives::of(&control_directives)
            .map_err(|error| refuse(call, NAME, &error, status_of_directives(&error)))?;
        let (modules, settings) = {
            let program = shared.lock();
            (program.modules(), program.settings())
        };
        let key = Key { modules, settings, target, directives, options };
        let code = call
            .cache
            .code(key, code::make)
            .map_err(|error| refuse(call, NAME, &error, status_of_code(&error)))?;
        let handle = call.runtime().loader()?.code_object(RSlice::from_slice(&code))?;
        place.set(hsa_code_object_t { handle });
        Ok(())
    }
}
