//! What the runtime asks its extensions.

use super::Runtime;
use crate::error::{Error, Result};
use hansa_plugin_api::{self as api, ErrorCode, ExtensionRef, ImageRequest};

impl Runtime {
    /// The value of an attribute that an extension brings to `hsa_agent_get_info`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] when no extension knows the attribute, else what the extension answers.
    pub fn extension_attribute(&self, agent: u64, attribute: u32) -> Result<Vec<u8>> {
        match self.first_to_answer(|extension| extension.agent_attribute(agent, attribute)) {
            Some(Ok(value)) => Ok(value.into_vec()),
            Some(Err(error)) if error.code == ErrorCode::STATUS => {
                Err(Error::Callback(u32::from_ne_bytes(error.errno.to_ne_bytes())))
            }
            Some(Err(_)) => Err(Error::NotSupported("this attribute")),
            None => Err(Error::InvalidArgument("no extension here has this attribute")),
        }
    }

    /// Makes an image from a vendor's own description.
    pub(crate) fn image_from_vendor(&self, request: &ImageRequest) -> api::Result<u64> {
        self.first_to_answer(|extension| extension.image_create(request))
            .unwrap_or_else(|| Err(Error::NotSupported("images").into()))
    }

    /// Asks one extension after the other until one does not say that this is not its business.
    fn first_to_answer<T>(
        &self,
        mut ask: impl FnMut(ExtensionRef<'_>) -> api::Result<T>,
    ) -> Option<api::Result<T>> {
        let extensions = self.extensions.lock();
        let mut answers = extensions.slots.iter().map(|slot| ask(slot.extension.as_ref()));
        answers.find(|answer| !matches!(answer, Err(error) if error.code == ErrorCode::NOT_SUPPORTED))
    }
}
