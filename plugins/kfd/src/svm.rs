//! Attributes of ranges of shared virtual memory (interface 1.5).
//!
//! The kernel keeps attributes of ordinary memory of the process and moves or maps pages accordingly
//! (`drivers/gpu/drm/amd/amdkfd/kfd_svm.c`). It numbers them in its own way: what HSA has as single truths are bits of two
//! words here, one that sets and one that clears, and devices and places are the kernel's numbers of devices.

use crate::error::{Error, Result};
use crate::machine::{Machine, MINOR_SVM};
use crate::uapi::memory as uapi;
use hansa_plugin_api::hsa::{hsa_amd_svm_attribute_t as Attribute, hsa_amd_svm_model_t as Model};
use hansa_plugin_api::SvmAttribute;

/// What a location without nodes is: the host; any other value is nowhere in particular.
const HOST: u64 = 1;

/// The kernel's attributes.
mod kind {
    pub(super) const PREFERRED: u32 = 0;
    pub(super) const PREFETCH: u32 = 1;
    pub(super) const ACCESS: u32 = 2;
    pub(super) const ACCESS_IN_PLACE: u32 = 3;
    pub(super) const NO_ACCESS: u32 = 4;
    pub(super) const SET_FLAGS: u32 = 5;
    pub(super) const CLEAR_FLAGS: u32 = 6;
    pub(super) const GRANULARITY: u32 = 7;
}

/// The kernel's flags.
mod flag {
    pub(super) const COHERENT: u32 = 2;
    pub(super) const HIVE_LOCAL: u32 = 4;
    pub(super) const READ_ONLY: u32 = 8;
    pub(super) const EXECUTABLE: u32 = 0x10;
    pub(super) const READ_MOSTLY: u32 = 0x20;
}

/// The kernel's numbers of places that are no device.
mod place {
    pub(super) const SYSTEM: u32 = 0;
    pub(super) const UNDEFINED: u32 = u32::MAX;
}

/// Attributes in the kernel's words.
#[derive(Debug, Default, PartialEq, Eq)]
struct Words {
    set: u32,
    clear: u32,
    others: Vec<uapi::SvmAttribute>,
}

impl Words {
    fn flag(&mut self, flag: u32, on: bool) {
        let (to, from) = if on {
            (&mut self.set, &mut self.clear)
        } else {
            (&mut self.clear, &mut self.set)
        };
        *to |= flag;
        *from &= !flag;
    }

    fn other(&mut self, kind: u32, value: u32) {
        self.others.push(uapi::SvmAttribute { kind, value });
    }

    /// Enters an attribute; `gpu_ids` are the devices it names.
    fn enter(&mut self, attribute: &SvmAttribute, gpu_ids: &[u32]) -> Result<()> {
        let on = attribute.value != 0;
        let location = || {
            gpu_ids.first().copied().unwrap_or(if attribute.value == HOST {
                place::SYSTEM
            } else {
                place::UNDEFINED
            })
        };
        let known = u32::try_from(attribute.attribute).map_or(Attribute(u32::MAX), Attribute);
        match known {
            Attribute::GLOBAL_FLAG => {
                self.flag(
                    flag::COHERENT,
                    attribute.value != u64::from(Model::COARSE_GRAINED.0),
                );
            }
            Attribute::READ_ONLY => self.flag(flag::READ_ONLY, on),
            Attribute::HIVE_LOCAL => self.flag(flag::HIVE_LOCAL, on),
            Attribute::READ_MOSTLY => self.flag(flag::READ_MOSTLY, on),
            Attribute::GPU_EXEC => self.flag(flag::EXECUTABLE, on),
            Attribute::MIGRATION_GRANULARITY => {
                // The kernel takes six bits and cuts what is more.
                let value = u32::try_from(attribute.value).unwrap_or(u32::MAX).min(0x3f);
                self.other(kind::GRANULARITY, value);
            }
            Attribute::PREFERRED_LOCATION => self.other(kind::PREFERRED, location()),
            // There is nothing to fetch to nowhere.
            Attribute::PREFETCH_LOCATION if location() == place::UNDEFINED => {}
            Attribute::PREFETCH_LOCATION => self.other(kind::PREFETCH, location()),
            Attribute::AGENT_ACCESSIBLE => gpu_ids.iter().for_each(|&id| self.other(kind::ACCESS, id)),
            Attribute::AGENT_ACCESSIBLE_IN_PLACE => {
                gpu_ids
                    .iter()
                    .for_each(|&id| self.other(kind::ACCESS_IN_PLACE, id));
            }
            Attribute::AGENT_NO_ACCESS => gpu_ids.iter().for_each(|&id| self.other(kind::NO_ACCESS, id)),
            Attribute(other) => {
                return Err(Error::Argument(format!(
                    "Attribute {other:#x} of shared virtual memory cannot be set"
                )))
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<uapi::SvmAttribute> {
        for (kind, flags) in [(kind::SET_FLAGS, self.set), (kind::CLEAR_FLAGS, self.clear)] {
            if flags != 0 {
                self.other(kind, flags);
            }
        }
        self.others
    }
}

impl Machine {
    /// Sets attributes of a range of whole pages.
    ///
    /// # Errors
    ///
    /// [`Error::TooOld`], [`Error::Argument`], and what the kernel says.
    pub fn set_svm(&self, address: u64, bytes: u64, attributes: &[SvmAttribute]) -> Result<()> {
        if self.minor < MINOR_SVM {
            return Err(Error::TooOld {
                request: "SVM",
                needed: MINOR_SVM,
                has: self.minor,
            });
        }
        let mut words = Words::default();
        for attribute in attributes {
            words.enter(attribute, &self.gpu_ids(attribute.nodes.as_slice())?)?;
        }
        let mut list = words.finish();
        if list.is_empty() {
            return Ok(());
        }
        self.kfd.svm(address, bytes, true, &mut list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hansa_plugin_api::RVec;

    fn attribute(attribute: Attribute, value: u64) -> SvmAttribute {
        SvmAttribute {
            attribute: u64::from(attribute.0),
            value,
            nodes: RVec::new(),
        }
    }

    #[test]
    fn truths_become_bits_and_the_last_word_counts() {
        let mut words = Words::default();
        for (which, value) in [
            (Attribute::READ_ONLY, 1),
            (Attribute::GLOBAL_FLAG, u64::from(Model::COARSE_GRAINED.0)),
            (Attribute::READ_MOSTLY, 1),
            (Attribute::READ_MOSTLY, 0),
        ] {
            words.enter(&attribute(which, value), &[]).unwrap();
        }
        assert_eq!(
            words.finish(),
            [
                uapi::SvmAttribute { kind: 5, value: 8 },
                uapi::SvmAttribute {
                    kind: 6,
                    value: 2 | 0x20
                }
            ]
        );
    }

    #[test]
    fn places_are_devices_the_host_or_nowhere() {
        let mut words = Words::default();
        words
            .enter(&attribute(Attribute::PREFERRED_LOCATION, 0), &[77])
            .unwrap();
        words
            .enter(&attribute(Attribute::PREFERRED_LOCATION, HOST), &[])
            .unwrap();
        words
            .enter(&attribute(Attribute::PREFERRED_LOCATION, 0), &[])
            .unwrap();
        words
            .enter(&attribute(Attribute::PREFETCH_LOCATION, 0), &[])
            .unwrap();
        let values: Vec<u32> = words.finish().iter().map(|a| a.value).collect();
        assert_eq!(values, [77, 0, u32::MAX]);
    }

    #[test]
    fn a_question_cannot_be_set() {
        let query = attribute(Attribute::ACCESS_QUERY, 0);
        assert!(Words::default().enter(&query, &[1]).is_err());
    }
}
