//! Executables (HSA Runtime PRM 1.2, section 2.8).

use super::isa::known_profile;
use crate::debugger;
use crate::entry::{callback, entry, go_on, text, Place, Value};
use hansa_core::code::{agent_key, agent_of, LiveExecutable};
use hansa_core::loader::{FloatRounding, Profile, Symbol};
use hansa_core::runtime::Runtime;
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::{
    c_char, c_void, hsa_agent_t, hsa_code_object_reader_t, hsa_code_object_t,
    hsa_default_float_rounding_mode_t as Rounding, hsa_executable_info_t as Info,
    hsa_executable_state_t as State, hsa_executable_symbol_t, hsa_executable_t, hsa_loaded_code_object_t,
    hsa_profile_t, AgentSymbolCallback, ExecutableSymbolCallback,
};

/// The standard defines no options, and says that unknown ones are ignored.
fn ignored(options: *const c_char) {
    let _ = options;
}

fn profile(profile: hsa_profile_t) -> Result<Profile> {
    known_profile(profile)?;
    Ok(if profile == hsa_profile_t::FULL {
        Profile::Full
    } else {
        Profile::Base
    })
}

fn rounding(rounding: Rounding) -> Result<FloatRounding> {
    match rounding {
        Rounding::DEFAULT => Ok(FloatRounding::Default),
        Rounding::ZERO => Ok(FloatRounding::Zero),
        Rounding::NEAR => Ok(FloatRounding::Near),
        _ => Err(Error::InvalidArgument("not a rounding mode")),
    }
}

/// The values of a profile and a rounding mode in the C interface.
pub(crate) const fn profile_value(profile: Profile) -> hsa_profile_t {
    match profile {
        Profile::Base => hsa_profile_t::BASE,
        Profile::Full => hsa_profile_t::FULL,
    }
}

/// As above.
pub(crate) const fn rounding_value(rounding: FloatRounding) -> Rounding {
    match rounding {
        FloatRounding::Default => Rounding::DEFAULT,
        FloatRounding::Zero => Rounding::ZERO,
        FloatRounding::Near => Rounding::NEAR,
    }
}

fn address(pointer: *mut c_void) -> u64 {
    pointer.expose_provenance() as u64
}

/// The address of a variable; a program may define one at 0.
fn variable(name: *const c_char, pointer: *mut c_void) -> Result<(String, u64)> {
    Ok((text(name)?.into_owned(), address(pointer)))
}

entry! {
    fn hsa_executable_create(
        profile_: hsa_profile_t,
        executable_state: State,
        options: *const c_char,
        executable: *mut hsa_executable_t,
    ) {
        let runtime = current()?;
        ignored(options);
        let place = Place::new(executable)?;
        let profile = profile(profile_)?;
        if ![State::UNFROZEN, State::FROZEN].contains(&executable_state) {
            return Err(Error::InvalidArgument("not a state of an executable"));
        }
        let handle = runtime.create_executable(profile, FloatRounding::Default)?;
        if executable_state == State::FROZEN {
            runtime.executable(handle)?.executable.freeze()?;
        }
        place.set(hsa_executable_t { handle });
        Ok(())
    }

    fn hsa_executable_create_alt(
        profile_: hsa_profile_t,
        default_float_rounding_mode: Rounding,
        options: *const c_char,
        executable: *mut hsa_executable_t,
    ) {
        let runtime = current()?;
        ignored(options);
        let place = Place::new(executable)?;
        let handle = runtime.create_executable(profile(profile_)?, rounding(default_float_rounding_mode)?)?;
        place.set(hsa_executable_t { handle });
        Ok(())
    }

    fn hsa_executable_destroy(executable: hsa_executable_t) {
        let runtime = current()?;
        debugger::remove(executable.handle);
        runtime.destroy_executable(executable.handle)
    }

    fn hsa_executable_load_agent_code_object(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        code_object_reader: hsa_code_object_reader_t,
        options: *const c_char,
        loaded_code_object: *mut hsa_loaded_code_object_t,
    ) {
        let runtime = current()?;
        ignored(options);
        runtime.executable(executable.handle)?;
        let reader = runtime.reader(code_object_reader.handle)?;
        let agent = runtime.agent_index(agent.handle)?;
        let handle = runtime.load(executable.handle, agent, &reader)?;
        if !loaded_code_object.is_null() {
            Place::new(loaded_code_object)?.set(hsa_loaded_code_object_t { handle });
        }
        Ok(())
    }

    fn hsa_executable_load_program_code_object(
        executable: hsa_executable_t,
        code_object_reader: hsa_code_object_reader_t,
        options: *const c_char,
        loaded_code_object: *mut hsa_loaded_code_object_t,
    ) {
        let runtime = current()?;
        ignored(options);
        // Nothing that compilers make can be loaded for a program.
        let _ = loaded_code_object;
        let live = runtime.executable(executable.handle)?;
        let reader = runtime.reader(code_object_reader.handle)?;
        live.executable.load_program_code_object(&reader)?;
        Ok(())
    }

    fn hsa_executable_load_code_object(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        code_object: hsa_code_object_t,
        options: *const c_char,
    ) {
        let runtime = current()?;
        ignored(options);
        runtime.executable(executable.handle)?;
        let object = runtime.code_object(code_object.handle)?;
        let agent = runtime.agent_index(agent.handle)?;
        runtime.load(executable.handle, agent, object.object.reader()).map(drop)
    }

    fn hsa_executable_freeze(executable: hsa_executable_t, options: *const c_char) {
        let runtime = current()?;
        ignored(options);
        runtime.executable(executable.handle)?.executable.freeze()?;
        debugger::add(&runtime, executable.handle)
    }

    fn hsa_executable_get_info(executable: hsa_executable_t, attribute: Info, value: *mut c_void) {
        let runtime = current()?;
        let value = Value::new(value)?;
        let live = runtime.executable(executable.handle)?;
        let executable = &live.executable;
        match attribute {
            Info::PROFILE => value.set(profile_value(executable.profile())),
            Info::STATE => value.set(if executable.is_frozen() { State::FROZEN } else { State::UNFROZEN }),
            Info::DEFAULT_FLOAT_ROUNDING_MODE => value.set(rounding_value(executable.rounding())),
            _ => return Err(Error::InvalidArgument("not an attribute of an executable")),
        }
        Ok(())
    }

    fn hsa_executable_global_variable_define(
        executable: hsa_executable_t,
        variable_name: *const c_char,
        address: *mut c_void,
    ) {
        let runtime = current()?;
        let (name, address) = variable(variable_name, address)?;
        let live = runtime.executable(executable.handle)?;
        Ok(live.executable.define_program_variable(&name, address)?)
    }

    fn hsa_executable_agent_global_variable_define(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        variable_name: *const c_char,
        address: *mut c_void,
    ) {
        let runtime = current()?;
        let (name, address) = variable(variable_name, address)?;
        let live = runtime.executable(executable.handle)?;
        let agent = agent_key(runtime.agent_index(agent.handle)?);
        Ok(live.executable.define_agent_variable(&name, agent, address)?)
    }

    fn hsa_executable_readonly_variable_define(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        variable_name: *const c_char,
        address: *mut c_void,
    ) {
        let runtime = current()?;
        let (name, address) = variable(variable_name, address)?;
        let live = runtime.executable(executable.handle)?;
        let agent = agent_key(runtime.agent_index(agent.handle)?);
        Ok(live.executable.define_readonly_variable(&name, agent, address)?)
    }

    fn hsa_executable_validate(executable: hsa_executable_t, result: *mut u32) {
        validate(executable, result)
    }

    fn hsa_executable_validate_alt(executable: hsa_executable_t, options: *const c_char, result: *mut u32) {
        ignored(options);
        validate(executable, result)
    }

    /// The call convention chooses between kernels of one name, which no compiler makes.
    fn hsa_executable_get_symbol(
        executable: hsa_executable_t,
        module_name: *const c_char,
        symbol_name: *const c_char,
        agent: hsa_agent_t,
        call_convention: i32,
        symbol: *mut hsa_executable_symbol_t,
    ) {
        let _ = call_convention;
        let runtime = current()?;
        let (name, place) = (text(symbol_name)?, Place::new(symbol)?);
        let module = if module_name.is_null() { "".into() } else { text(module_name)? };
        let live = runtime.executable(executable.handle)?;
        let find = |agent| live.executable.symbol_of_module(&module, &name, agent);
        // The agent may be any for a symbol of the program.
        let of_agent = runtime.agent_index(agent.handle).ok().and_then(|agent| find(Some(agent_key(agent))));
        let found = of_agent.or_else(|| find(None)).ok_or(Error::InvalidSymbolName)?;
        let handle = runtime.symbol_handle(executable.handle, &live, &found)?;
        place.set(hsa_executable_symbol_t { handle });
        Ok(())
    }

    fn hsa_executable_get_symbol_by_name(
        executable: hsa_executable_t,
        symbol_name: *const c_char,
        agent: *const hsa_agent_t,
        symbol: *mut hsa_executable_symbol_t,
    ) {
        let runtime = current()?;
        let (name, place) = (text(symbol_name)?, Place::new(symbol)?);
        let live = runtime.executable(executable.handle)?;
        let agent = if agent.is_null() {
            None
        } else {
            let agent = Place::new(agent.cast_mut())?.value();
            Some(agent_key(runtime.agent_index(agent.handle).map_err(|_| Error::InvalidSymbolName)?))
        };
        let found = live.executable.symbol(&name, agent).ok_or(Error::InvalidSymbolName)?;
        let handle = runtime.symbol_handle(executable.handle, &live, &found)?;
        place.set(hsa_executable_symbol_t { handle });
        Ok(())
    }

    fn hsa_executable_iterate_symbols(
        executable: hsa_executable_t,
        callback_: ExecutableSymbolCallback,
        data: *mut c_void,
    ) {
        let runtime = current()?;
        let function = callback(callback_)?;
        let live = runtime.executable(executable.handle)?;
        visit(&runtime, executable, &live, |_| true, |symbol| {
            // SAFETY: the program gave the function for exactly this call.
            unsafe { function(executable, symbol, data) }
        })
    }

    fn hsa_executable_iterate_agent_symbols(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        callback_: AgentSymbolCallback,
        data: *mut c_void,
    ) {
        let runtime = current()?;
        let function = callback(callback_)?;
        let live = runtime.executable(executable.handle)?;
        let key = agent_key(runtime.agent_index(agent.handle)?);
        visit(&runtime, executable, &live, |symbol| symbol.agent() == Some(key), |symbol| {
            // SAFETY: the program gave the function for exactly this call.
            unsafe { function(executable, agent, symbol, data) }
        })
    }

    fn hsa_executable_iterate_program_symbols(
        executable: hsa_executable_t,
        callback_: ExecutableSymbolCallback,
        data: *mut c_void,
    ) {
        let runtime = current()?;
        let function = callback(callback_)?;
        let live = runtime.executable(executable.handle)?;
        visit(&runtime, executable, &live, |symbol| symbol.agent().is_none(), |symbol| {
            // SAFETY: the program gave the function for exactly this call.
            unsafe { function(executable, symbol, data) }
        })
    }
}

/// Calls back for those symbols that are wanted, until the program has enough.
fn visit(
    runtime: &Runtime,
    executable: hsa_executable_t,
    live: &LiveExecutable,
    is_wanted: impl Fn(&Symbol) -> bool,
    mut function: impl FnMut(hsa_executable_symbol_t) -> hansa_plugin_api::hsa::hsa_status_t,
) -> Result<()> {
    let symbols = live.executable.symbols();
    for symbol in symbols.iter().filter(|symbol| is_wanted(symbol)) {
        let handle = runtime.symbol_handle(executable.handle, live, symbol)?;
        go_on(function(hsa_executable_symbol_t { handle }))?;
    }
    Ok(())
}

fn validate(executable: hsa_executable_t, result: *mut u32) -> Result<()> {
    let runtime = current()?;
    let place = Place::new(result)?;
    let live = runtime.executable(executable.handle)?;
    place.set(u32::from(!live.executable.is_valid()));
    Ok(())
}

/// The agent a symbol belongs to.
pub(crate) fn agent_of_symbol(runtime: &Runtime, symbol: &Symbol) -> hsa_agent_t {
    hsa_agent_t {
        handle: symbol
            .agent()
            .map_or(0, |key| runtime.agent_handle(agent_of(key))),
    }
}
