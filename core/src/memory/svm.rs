//! Shared virtual memory: attributes of ranges of the program's own memory (`hsa_amd_svm_attributes_set`).
//!
//! Drivers act on attributes; what was set is kept here, so that the answer to a question is the same whatever the
//! driver. A range is whole pages. Pages that nobody spoke of have the attributes that Linux gives them: coherent,
//! moved 512 at a time, and accessible to a device only if it repeats accesses that fault. What the runtime allocated is no
//! memory of the program's own and has no such attributes: Linux refuses mappings of a device's driver.

use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::memory::host::page_bytes;
use crate::runtime::later::when_zero;
use crate::runtime::Runtime;
use crate::signal::Block;
use hansa_plugin_api as api;
use hansa_plugin_api::hsa::{hsa_amd_svm_attribute_t as Attribute, hsa_amd_svm_model_t as Model};
use hansa_plugin_api::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Binary logarithm of the pages that move at once.
const GRANULARITY: u64 = 9;
/// What a driver is told of an attribute that names an agent and no node of its own: nobody, or the host.
const NOBODY: u64 = 0;
const HOST: u64 = 1;

/// An attribute, its agents by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    Coarse(bool),
    ReadOnly(bool),
    HiveLocal(bool),
    Granularity(u64),
    Preferred(Option<usize>),
    Prefetch(Option<usize>),
    ReadMostly(bool),
    Executable(bool),
    Access(usize, Access),
}

/// What an agent may do with a range, from nothing to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    None,
    ByMoving,
    InPlace,
}

impl Access {
    const fn attribute(self) -> Attribute {
        match self {
            Self::None => Attribute::AGENT_NO_ACCESS,
            Self::ByMoving => Attribute::AGENT_ACCESSIBLE,
            Self::InPlace => Attribute::AGENT_ACCESSIBLE_IN_PLACE,
        }
    }
}

/// The attributes of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attributes {
    coarse: bool,
    read_only: bool,
    hive_local: bool,
    granularity: u64,
    preferred: Option<usize>,
    prefetch: Option<usize>,
    read_mostly: bool,
    executable: bool,
    access: BTreeMap<usize, Access>,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            coarse: false,
            read_only: false,
            hive_local: false,
            granularity: GRANULARITY,
            preferred: None,
            prefetch: None,
            read_mostly: false,
            executable: false,
            access: BTreeMap::new(),
        }
    }
}

impl Attributes {
    fn set(&mut self, setting: Setting) {
        match setting {
            Setting::Coarse(value) => self.coarse = value,
            Setting::ReadOnly(value) => self.read_only = value,
            Setting::HiveLocal(value) => self.hive_local = value,
            Setting::Granularity(value) => self.granularity = value,
            Setting::Preferred(agent) => self.preferred = agent,
            Setting::Prefetch(agent) => self.prefetch = agent,
            Setting::ReadMostly(value) => self.read_mostly = value,
            Setting::Executable(value) => self.executable = value,
            Setting::Access(agent, access) => drop(self.access.insert(agent, access)),
        }
    }
}

/// The attributes of all ranges that somebody spoke of: by start, with the end.
#[derive(Debug, Default)]
pub struct Svm(Mutex<BTreeMap<u64, (u64, Attributes)>>);

impl Svm {
    fn set(&self, start: u64, end: u64, settings: &[Setting]) {
        let mut ranges = self.0.lock();
        for at in [start, end] {
            split(&mut ranges, at);
        }
        let mut next = start;
        let mut gaps = Vec::new();
        for (&at, (until, attributes)) in ranges.range_mut(start..end) {
            if at > next {
                gaps.push((next, at));
            }
            settings.iter().for_each(|&setting| attributes.set(setting));
            next = *until;
        }
        if next < end {
            gaps.push((next, end));
        }
        for (at, until) in gaps {
            let mut attributes = Attributes::default();
            settings.iter().for_each(|&setting| attributes.set(setting));
            ranges.insert(at, (until, attributes));
        }
    }

    /// The attributes of all parts of a range.
    fn parts(&self, start: u64, end: u64) -> Vec<Attributes> {
        let ranges = self.0.lock();
        let first = ranges
            .range(..start)
            .next_back()
            .filter(|(_, (until, _))| *until > start);
        let mut next = start;
        let mut parts = Vec::new();
        for (&at, (until, attributes)) in first.into_iter().chain(ranges.range(start..end)) {
            if at > next {
                parts.push(Attributes::default());
            }
            parts.push(attributes.clone());
            next = *until;
        }
        if next < end {
            parts.push(Attributes::default());
        }
        parts
    }
}

/// Lets a range end where another begins, at an address.
fn split(ranges: &mut BTreeMap<u64, (u64, Attributes)>, at: u64) {
    if let Some((_, (until, attributes))) = ranges.range_mut(..at).next_back() {
        if *until > at {
            let rest = (*until, attributes.clone());
            *until = at;
            ranges.insert(at, rest);
        }
    }
}

/// The value that all parts agree in.
fn common<T: PartialEq>(parts: &[Attributes], of: impl Fn(&Attributes) -> T) -> Option<T> {
    let mut values = parts.iter().map(of);
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

fn attribute_of(number: u64) -> Result<Attribute> {
    u32::try_from(number)
        .map(Attribute)
        .ok()
        .filter(|attribute| attribute.c_name().is_some())
        .ok_or(Error::InvalidArgument("not an attribute of a range"))
}

/// The attributes of a list; a number that is none is a mistake whatever the drivers can do.
fn known(list: &[(u64, u64)]) -> Result<Vec<(Attribute, u64)>> {
    list.iter()
        .map(|&(number, value)| Ok((attribute_of(number)?, value)))
        .collect()
}

/// The whole pages around a range.
fn pages(address: u64, bytes: u64) -> Result<(u64, u64)> {
    let page = page_bytes() as u64;
    let end = address
        .checked_add(bytes)
        .and_then(|end| end.checked_next_multiple_of(page))
        .ok_or(Error::InvalidArgument("the range goes beyond all addresses"))?;
    Ok((address & !(page - 1), end))
}

impl Runtime {
    /// The drivers that know shared virtual memory.
    fn svm_drivers(&self) -> Result<Vec<usize>> {
        let knows = |&driver: &usize| {
            let groups = self.drivers[driver].description.groups;
            groups.contains(api::DriverGroups::SVM)
        };
        let drivers: Vec<usize> = (0..self.drivers.len()).filter(knows).collect();
        if drivers.is_empty() {
            return Err(Error::Failed("no agent has shared virtual memory"));
        }
        Ok(drivers)
    }

    /// Whether all of a range is the program's own.
    fn programs_own(&self, start: u64, end: u64) -> Result<()> {
        if self.memory.has_any_in(start, end) {
            return Err(Error::Failed("a part of the range was allocated by the runtime"));
        }
        Ok(())
    }

    fn setting(&self, attribute: Attribute, value: u64) -> Result<Setting> {
        let agent = || self.agent_index(value);
        let location = || if value == 0 { Ok(None) } else { agent().map(Some) };
        let on = value != 0;
        Ok(match attribute {
            Attribute::GLOBAL_FLAG => Setting::Coarse(value == u64::from(Model::COARSE_GRAINED.0)),
            Attribute::READ_ONLY => Setting::ReadOnly(on),
            Attribute::HIVE_LOCAL => Setting::HiveLocal(on),
            Attribute::MIGRATION_GRANULARITY => Setting::Granularity(value),
            Attribute::PREFERRED_LOCATION => Setting::Preferred(location()?),
            Attribute::PREFETCH_LOCATION => Setting::Prefetch(location()?),
            Attribute::READ_MOSTLY => Setting::ReadMostly(on),
            Attribute::GPU_EXEC => Setting::Executable(on),
            Attribute::AGENT_ACCESSIBLE => Setting::Access(agent()?, Access::ByMoving),
            Attribute::AGENT_ACCESSIBLE_IN_PLACE => Setting::Access(agent()?, Access::InPlace),
            Attribute::AGENT_NO_ACCESS => Setting::Access(agent()?, Access::None),
            _ => return Err(Error::InvalidArgument("not an attribute that can be set")),
        })
    }

    /// What a driver is told of a setting; `None` when it does not concern it.
    fn tell(&self, driver: usize, setting: Setting) -> Option<api::SvmAttribute> {
        let plain = |attribute: Attribute, value| (attribute, value, None);
        let location = |attribute, agent: Option<usize>| match agent.map(|agent| self.agents[agent].device())
        {
            None => (attribute, NOBODY, None),
            Some(None) => (attribute, HOST, None),
            Some(Some(device)) if device.reference.driver == driver => {
                (attribute, NOBODY, Some(device.reference.node))
            }
            Some(Some(_)) => (attribute, NOBODY, None),
        };
        let (attribute, value, node) = match setting {
            Setting::Coarse(value) => plain(Attribute::GLOBAL_FLAG, value.into()),
            Setting::ReadOnly(value) => plain(Attribute::READ_ONLY, value.into()),
            Setting::HiveLocal(value) => plain(Attribute::HIVE_LOCAL, value.into()),
            Setting::Granularity(value) => plain(Attribute::MIGRATION_GRANULARITY, value),
            Setting::Preferred(agent) => location(Attribute::PREFERRED_LOCATION, agent),
            Setting::Prefetch(agent) => location(Attribute::PREFETCH_LOCATION, agent),
            Setting::ReadMostly(value) => plain(Attribute::READ_MOSTLY, value.into()),
            Setting::Executable(value) => plain(Attribute::GPU_EXEC, value.into()),
            Setting::Access(agent, access) => {
                let device = self.agents[agent].device()?;
                if device.reference.driver != driver {
                    return None;
                }
                (access.attribute(), NOBODY, Some(device.reference.node))
            }
        };
        Some(api::SvmAttribute {
            attribute: u64::from(attribute.0),
            value,
            nodes: node.into_iter().collect(),
        })
    }

    fn apply(&self, start: u64, end: u64, settings: &[Setting]) -> Result<()> {
        for driver in self.svm_drivers()? {
            let told: Vec<_> = settings
                .iter()
                .filter_map(|&setting| self.tell(driver, setting))
                .collect();
            if !told.is_empty() {
                let object = &self.drivers[driver].object;
                object.svm_set(start, end - start, api::RSlice::from_slice(&told))?;
            }
        }
        self.svm.set(start, end, settings);
        Ok(())
    }

    /// Sets attributes of the pages around a range.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] when no agent has shared virtual memory, and for memory that the runtime allocated;
    /// [`Error::InvalidAgent`]; [`Error::InvalidArgument`].
    pub fn svm_set(&self, address: u64, bytes: u64, attributes: &[(u64, u64)]) -> Result<()> {
        let attributes = known(attributes)?;
        self.svm_drivers()?;
        let (start, end) = pages(address, bytes)?;
        let settings: Vec<Setting> = attributes
            .iter()
            .map(|&(attribute, value)| self.setting(attribute, value))
            .collect::<Result<_>>()?;
        if settings.is_empty() {
            return Ok(());
        }
        self.programs_own(start, end)?;
        self.apply(start, end, &settings)
    }

    /// Answers attributes of the pages around a range, one for each question.
    ///
    /// # Errors
    ///
    /// As [`Runtime::svm_set`].
    pub fn svm_get(&self, address: u64, bytes: u64, questions: &[(u64, u64)]) -> Result<Vec<(u64, u64)>> {
        let questions = known(questions)?;
        self.svm_drivers()?;
        let (start, end) = pages(address, bytes)?;
        if !questions.is_empty() {
            self.programs_own(start, end)?;
        }
        let parts = self.svm.parts(start, end);
        questions
            .iter()
            .map(|&(attribute, value)| self.answer(&parts, attribute, value))
            .collect()
    }

    fn answer(&self, parts: &[Attributes], attribute: Attribute, value: u64) -> Result<(u64, u64)> {
        let all = |of: fn(&Attributes) -> bool| u64::from(parts.iter().all(of));
        let place = |of: fn(&Attributes) -> Option<usize>| {
            let agent = common(parts, of).flatten();
            agent.map_or(0, |agent| self.agent_handle(agent))
        };
        let value = match attribute {
            Attribute::GLOBAL_FLAG => u64::from(match common(parts, |a| a.coarse) {
                Some(false) => Model::FINE_GRAINED.0,
                Some(true) => Model::COARSE_GRAINED.0,
                None => Model::INDETERMINATE.0,
            }),
            Attribute::READ_ONLY => all(|a| a.read_only),
            Attribute::HIVE_LOCAL => all(|a| a.hive_local),
            Attribute::MIGRATION_GRANULARITY => {
                parts.iter().map(|a| a.granularity).min().unwrap_or(GRANULARITY)
            }
            Attribute::PREFERRED_LOCATION => place(|a| a.preferred),
            Attribute::PREFETCH_LOCATION => place(|a| a.prefetch),
            Attribute::READ_MOSTLY => all(|a| a.read_mostly),
            Attribute::GPU_EXEC => all(|a| a.executable),
            Attribute::ACCESS_QUERY => {
                let agent = self.agent_index(value)?;
                let usual = default_access(&self.agents[agent]);
                let access = |a: &Attributes| a.access.get(&agent).copied().unwrap_or(usual);
                let least = parts.iter().map(access).min().unwrap_or(usual);
                return Ok((u64::from(least.attribute().0), value));
            }
            _ => return Err(Error::InvalidArgument("not an attribute that can be asked for")),
        };
        Ok((u64::from(attribute.0), value))
    }

    /// Moves the pages around a range to an agent when all dependencies are 0.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] when no agent has shared virtual memory; [`Error::OutOfResources`].
    pub fn svm_prefetch(
        self: &Arc<Self>,
        address: u64,
        bytes: u64,
        agent: usize,
        dependencies: Vec<&'static Block>,
        completion: Option<&'static Block>,
    ) -> Result<()> {
        self.svm_drivers()?;
        let (start, end) = pages(address, bytes)?;
        when_zero(self, dependencies, completion, move |runtime| {
            runtime.apply(start, end, &[Setting::Prefetch(Some(agent))])
        })
    }

    /// Drops the contents of reserved ranges when all dependencies are 0, and then moves them to agents.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a range that was not reserved; [`Error::XnackDisabled`] when no device repeats
    /// accesses that fault; [`Error::NotSupported`] for memory whose contents only its driver could drop.
    pub fn svm_discard(
        self: &Arc<Self>,
        ranges: Vec<(u64, u64)>,
        agents: Vec<usize>,
        dependencies: Vec<&'static Block>,
        completion: Option<&'static Block>,
    ) -> Result<()> {
        if !ranges
            .iter()
            .all(|&(address, bytes)| self.is_reserved(address, bytes))
        {
            return Err(Error::InvalidArgument("the range is not reserved"));
        }
        if !self.agents.iter().any(|agent| agent.can(api::AgentCaps::XNACK)) {
            return Err(Error::XnackDisabled);
        }
        if !ranges
            .iter()
            .all(|&(address, bytes)| self.can_discard(address, bytes))
        {
            return Err(Error::NotSupported("dropping the contents of a driver's memory"));
        }
        if !agents.is_empty() {
            self.svm_drivers()?;
        }
        when_zero(self, dependencies, completion, move |runtime| {
            for &(address, bytes) in &ranges {
                runtime.discard_mapped(address, bytes)?;
                let (start, end) = pages(address, bytes)?;
                for &agent in &agents {
                    runtime.apply(start, end, &[Setting::Prefetch(Some(agent))])?;
                }
            }
            Ok(())
        })
    }
}

/// What an agent may do with pages that nobody spoke of. The host has more than that where a program asked for it: HIP takes
/// access in place for a wish.
fn default_access(agent: &Agent) -> Access {
    if agent.can(api::AgentCaps::PAGEABLE_ACCESS) && !agent.is_cpu() {
        Access::InPlace
    } else if agent.is_cpu() || agent.can(api::AgentCaps::XNACK) {
        Access::ByMoving
    } else {
        Access::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(svm: &Svm, start: u64, end: u64) -> Vec<bool> {
        svm.parts(start, end).iter().map(|a| a.read_only).collect()
    }

    #[test]
    fn a_range_splits_those_it_overlaps_and_fills_gaps() {
        let svm = Svm::default();
        svm.set(0x2000, 0x6000, &[Setting::ReadOnly(true)]);
        svm.set(
            0x4000,
            0x8000,
            &[Setting::ReadOnly(false), Setting::Granularity(3)],
        );
        assert_eq!(flags(&svm, 0x2000, 0x4000), [true]);
        assert_eq!(flags(&svm, 0x3000, 0x5000), [true, false]);
        assert_eq!(flags(&svm, 0x1000, 0x9000), [false, true, false, false, false]);
        let granularity: Vec<_> = svm.parts(0x5000, 0x8000).iter().map(|a| a.granularity).collect();
        assert_eq!(granularity, [3, 3]);
        svm.set(0, 0x10000, &[Setting::Granularity(1)]);
        assert!(svm.parts(0, 0x10000).iter().all(|a| a.granularity == 1));
        assert_eq!(flags(&svm, 0x2000, 0x4000), [true]);
    }

    #[test]
    fn pages_that_nobody_spoke_of_have_the_usual_attributes() {
        let svm = Svm::default();
        assert_eq!(svm.parts(0x1000, 0x2000), [Attributes::default()]);
        svm.set(0x1000, 0x2000, &[Setting::Coarse(true)]);
        assert_eq!(common(&svm.parts(0x1000, 0x2000), |a| a.coarse), Some(true));
        assert_eq!(common(&svm.parts(0x1000, 0x3000), |a| a.coarse), None);
        assert_eq!(svm.parts(0x2000, 0x3000), [Attributes::default()]);
    }

    #[test]
    fn a_range_is_widened_to_pages() {
        assert_eq!(pages(0x1001, 1).unwrap(), (0x1000, 0x2000));
        assert_eq!(pages(0x1000, 0x1001).unwrap(), (0x1000, 0x3000));
        assert!(pages(u64::MAX, 2).is_err());
        assert!(pages(u64::MAX - 1, 1).is_err());
    }
}
