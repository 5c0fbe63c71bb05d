//! Caches of agents (HSA Runtime PRM 1.2, section 2.3).

use crate::entry::{callback, entry, go_on, Value};
use hansa_core::{current, Error};
use hansa_plugin_api::hsa::{c_void, hsa_agent_t, hsa_cache_info_t as Info, hsa_cache_t, CacheCallback};

entry! {
    fn hsa_agent_iterate_caches(agent: hsa_agent_t, callback_: CacheCallback, data: *mut c_void) {
        let runtime = current()?;
        let agent = runtime.agent(agent.handle)?;
        let function = callback(callback_)?;
        for &cache in &agent.caches {
            let cache = hsa_cache_t { handle: runtime.cache_handle(cache) };
            // SAFETY: the program gave the function for exactly this call.
            go_on(unsafe { function(cache, data) })?;
        }
        Ok(())
    }

    fn hsa_cache_get_info(cache: hsa_cache_t, attribute: Info, value: *mut c_void) {
        let runtime = current()?;
        let cache = runtime.cache(cache.handle)?;
        let value = Value::new(value)?;
        let name = || format!("{} {}", runtime.agents[cache.agent].name(), cache.name);
        match attribute {
            Info::NAME_LENGTH => value.set(u32::try_from(name().len()).unwrap_or(u32::MAX)),
            Info::NAME => value.set_bytes(name().as_bytes()),
            Info::LEVEL => value.set(u8::try_from(cache.description.level).unwrap_or(u8::MAX)),
            Info::SIZE => value.set(u32::try_from(cache.description.bytes).unwrap_or(u32::MAX)),
            _ => return Err(Error::InvalidArgument("not an attribute of a cache")),
        }
        Ok(())
    }
}
