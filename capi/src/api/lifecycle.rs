//! Starting and stopping the runtime, and the texts of statuses (HSA Runtime PRM 1.2, sections 2.1 and 2.2).

use crate::entry::{entry, Place};
use hansa_core::Error;
use hansa_plugin_api::hsa::{c_char, hsa_status_t};

entry! {
    fn hsa_init() {
        crate::start()
    }

    fn hsa_shut_down() {
        crate::stop()
    }

    /// Works without a runtime.
    fn hsa_status_string(status: hsa_status_t, status_string: *mut *const c_char) {
        let place = Place::new(status_string)?;
        let text = status.text().ok_or(Error::InvalidArgument("not a status"))?;
        place.set(text.as_ptr());
        Ok(())
    }
}
