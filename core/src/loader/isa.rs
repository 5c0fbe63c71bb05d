//! Instruction set names, and which code runs where.
//!
//! An ISA is a processor plus the settings of two features that change code generation: XNACK
//! (replay of faulting accesses) and SRAM ECC. Its name is the target triple, the processor and the
//! settings, `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`, in that order. A code object may leave a
//! setting open ("any"), which the name shows by leaving it out; an agent always has it on or off.
//!
//! The limits that `hsa_isa_get_info_alt` reports are the same for all of these processors.

use std::fmt;
use std::str::FromStr;

use super::processor::{Processor, PROCESSORS};

/// The part of an ISA name in front of the processor.
pub const ISA_PREFIX: &str = "amdgcn-amd-amdhsa--";

/// How code or an agent is set regarding one feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// The processor does not have the feature.
    Unsupported,
    /// The code runs either way.
    Any,
    /// Off: the code needs it off, or the agent has it off.
    Off,
    /// On: the code needs it on, or the agent has it on.
    On,
}

impl Feature {
    fn new(supported: bool, setting: Option<bool>) -> Self {
        match (supported, setting) {
            (false, _) => Self::Unsupported,
            (true, None) => Self::Any,
            (true, Some(false)) => Self::Off,
            (true, Some(true)) => Self::On,
        }
    }

    fn suffix(self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported | Self::Any => Ok(()),
            Self::Off => write!(f, ":{name}-"),
            Self::On => write!(f, ":{name}+"),
        }
    }

    /// Whether code compiled with this setting runs where the feature is set to `agent`.
    fn runs_on(self, agent: Self) -> bool {
        matches!(self, Self::Unsupported | Self::Any) || self == agent
    }
}

/// An instruction set: a processor and its feature settings. Displays as its HSA name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Isa {
    processor: &'static Processor,
    sramecc: Feature,
    xnack: Feature,
}

impl Isa {
    /// An ISA with settings for those of the features the processor has; `None` means "any", and a
    /// setting of a feature the processor lacks is ignored.
    #[must_use]
    pub fn new(processor: &'static Processor, sramecc: Option<bool>, xnack: Option<bool>) -> Self {
        Self {
            processor,
            sramecc: Feature::new(processor.has_sramecc(), sramecc),
            xnack: Feature::new(processor.has_xnack(), xnack),
        }
    }

    /// The processor.
    #[must_use]
    pub fn processor(self) -> &'static Processor {
        self.processor
    }

    /// The setting of SRAM ECC.
    #[must_use]
    pub fn sramecc(self) -> Feature {
        self.sramecc
    }

    /// The setting of XNACK replay.
    #[must_use]
    pub fn xnack(self) -> Feature {
        self.xnack
    }

    /// The ISA of the generic target that covers this one, with the same settings. An agent reports
    /// it after its own.
    #[must_use]
    pub fn generic(self) -> Option<Self> {
        let processor = Processor::from_name(self.processor.generic?)?;
        let keep = |supported: bool, feature: Feature| match (supported, feature) {
            (false, _) => Feature::Unsupported,
            (true, Feature::Unsupported) => Feature::Any,
            (true, set) => set,
        };
        Some(Self {
            processor,
            sramecc: keep(processor.has_sramecc(), self.sramecc),
            xnack: keep(processor.has_xnack(), self.xnack),
        })
    }

    /// A small number that stands for this ISA in a handle; never 0.
    #[must_use]
    pub fn code(self) -> u64 {
        let setting = |feature| match feature {
            Feature::Unsupported | Feature::Any => 0,
            Feature::Off => 1,
            Feature::On => 2,
        };
        u64::from(self.processor.mach) << 8 | setting(self.sramecc) << 4 | setting(self.xnack)
    }

    /// The ISA that [`Isa::code`] gave a number for.
    #[must_use]
    pub fn from_code(code: u64) -> Option<Self> {
        let setting = |bits| match bits {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        };
        let processor = Processor::from_mach(u32::try_from(code >> 8).ok()?)?;
        let isa = Self::new(processor, setting(code >> 4 & 15), setting(code & 15));
        (processor.is_registered() && isa.code() == code).then_some(isa)
    }

    /// Every ISA that has a name an agent or a program may use.
    pub fn all() -> impl Iterator<Item = Self> {
        const SETTINGS: [Option<bool>; 3] = [None, Some(false), Some(true)];
        let choices = |supported: bool| if supported { &SETTINGS[..] } else { &SETTINGS[..1] };
        PROCESSORS
            .iter()
            .filter(|processor| processor.is_registered())
            .flat_map(move |processor| {
                choices(processor.has_sramecc()).iter().flat_map(move |&sramecc| {
                    choices(processor.has_xnack())
                        .iter()
                        .map(move |&xnack| Self::new(processor, sramecc, xnack))
                })
            })
    }

    /// Lanes of a wavefront.
    #[must_use]
    pub fn wavefront_size(self) -> u32 {
        self.processor.wavefront_size()
    }

    /// Whether half precision is as fast as single precision, or faster.
    #[must_use]
    pub fn has_fast_f16(self) -> bool {
        self.processor.version[0] >= 8
    }
}

/// Limits of an ISA, the same for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsaLimits {
    /// Most work-items of a work-group in each dimension.
    pub workgroup_max_dim: [u16; 3],
    /// Most work-items of a work-group.
    pub workgroup_max_size: u32,
    /// Most work-items of a grid in each dimension.
    pub grid_max_dim: [u32; 3],
    /// Most work-items of a grid.
    pub grid_max_size: u64,
    /// Most fbarriers of a work-group.
    pub fbarrier_max_size: u32,
    /// Wavefronts a compute unit holds at once.
    pub wavefronts_per_compute_unit: u32,
    /// Supported machine models: small, large.
    pub machine_models: [bool; 2],
    /// Supported profiles: base, full.
    pub profiles: [bool; 2],
    /// Supported default float rounding modes: the default, towards zero, to nearest.
    pub float_rounding_modes: [bool; 3],
    /// Number of call conventions.
    pub call_convention_count: u32,
}

/// The limits of every ISA in the registry.
pub const ISA_LIMITS: IsaLimits = IsaLimits {
    workgroup_max_dim: [1024; 3],
    workgroup_max_size: 1024,
    grid_max_dim: [u32::MAX; 3],
    grid_max_size: u64::MAX,
    fbarrier_max_size: 32,
    wavefronts_per_compute_unit: 40,
    machine_models: [false, true],
    profiles: [true, false],
    float_rounding_modes: [false, false, true],
    call_convention_count: 1,
};

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ISA_PREFIX}{}", self.processor.name)?;
        self.sramecc.suffix("sramecc", f)?;
        self.xnack.suffix("xnack", f)
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text is not the name of an ISA.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is not an ISA name: {reason}; accepted is \
     amdgcn-amd-amdhsa--PROCESSOR[:sramecc+|-][:xnack+|-]"
)]
pub struct InvalidIsaName {
    /// The text.
    pub name: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl FromStr for Isa {
    type Err = InvalidIsaName;

    fn from_str(name: &str) -> Result<Self, InvalidIsaName> {
        parse(name).map_err(|reason| InvalidIsaName {
            name: name.to_owned(),
            reason,
        })
    }
}

fn parse(name: &str) -> Result<Isa, &'static str> {
    let target = name
        .strip_prefix(ISA_PREFIX)
        .ok_or("the target is not amdgcn-amd-amdhsa")?;
    let mut parts = target.split(':');
    let processor =
        Processor::from_name(parts.next().unwrap_or_default()).ok_or("the processor is unknown")?;
    if !processor.is_registered() {
        return Err("the processor has no HSA runtime");
    }
    let mut sramecc = None;
    let mut xnack = None;
    for part in parts {
        match part {
            "sramecc-" | "sramecc+" if sramecc.is_none() && xnack.is_none() => {
                if !processor.has_sramecc() {
                    return Err("the processor does not have sramecc");
                }
                sramecc = Some(part.ends_with('+'));
            }
            "xnack-" | "xnack+" if xnack.is_none() => {
                if !processor.has_xnack() {
                    return Err("the processor does not have xnack");
                }
                xnack = Some(part.ends_with('+'));
            }
            _ => return Err("a feature setting is unknown, repeated or out of order"),
        }
    }
    Ok(Isa::new(processor, sramecc, xnack))
}

/// What a code object was compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectTarget {
    /// The instruction set.
    pub isa: Isa,
    /// Version of the generic target, 0 for a specific processor.
    pub generic_version: u8,
}

/// Why an agent cannot execute a code object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Code object is for {object}, the agent executes {agent}: {reason}")]
pub struct Incompatible {
    /// The code object's ISA.
    pub object: Isa,
    /// The agent's ISA.
    pub agent: AgentIsa,
    /// What differs.
    pub reason: &'static str,
}

/// The agent's side of an [`Incompatible`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentIsa {
    /// An agent that executes no AMDGPU code, such as a CPU.
    None,
    /// An agent with an ISA.
    Isa(Isa),
}

impl fmt::Display for AgentIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no code object"),
            Self::Isa(isa) => isa.fmt(f),
        }
    }
}

/// Whether an agent with the ISA `agent` executes code for `object`.
///
/// # Errors
///
/// [`Incompatible`] names both sides and the difference.
pub fn compatible(object: ObjectTarget, agent: Isa) -> Result<(), Incompatible> {
    let refuse = |reason| {
        Err(Incompatible {
            object: object.isa,
            agent: AgentIsa::Isa(agent),
            reason,
        })
    };
    let (code, machine) = (object.isa.processor, agent.processor);
    if code.is_generic() {
        if code != machine && machine.generic != Some(code.name) {
            return refuse("the generic target does not cover the agent's processor");
        }
        if object.generic_version == 0 {
            return refuse("the generic target's version is 0, versions from 1 on are accepted");
        }
    } else if code != machine {
        return refuse("the processors differ");
    }
    if !object.isa.sramecc.runs_on(agent.sramecc) {
        return refuse("the sramecc settings differ");
    }
    if !object.isa.xnack.runs_on(agent.xnack) {
        return refuse("the xnack settings differ");
    }
    Ok(())
}

/// Whether an agent that executes any of `agent` executes code for `object`.
///
/// # Errors
///
/// The difference to the agent's first ISA.
pub fn compatible_with_any(object: ObjectTarget, agent: &[Isa]) -> Result<(), Incompatible> {
    let mut first = Err(Incompatible {
        object: object.isa,
        agent: AgentIsa::None,
        reason: "the agent has no instruction set of this kind",
    });
    for (index, &isa) in agent.iter().enumerate() {
        let answer = compatible(object, isa);
        if answer.is_ok() {
            return Ok(());
        }
        if index == 0 {
            first = answer;
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isa(name: &str) -> Isa {
        format!("{ISA_PREFIX}{name}").parse().expect("an ISA name")
    }

    fn object(name: &str, generic_version: u8) -> ObjectTarget {
        ObjectTarget {
            isa: isa(name),
            generic_version,
        }
    }

    #[test]
    fn every_registered_isa_survives_its_name_and_its_code() {
        let all: Vec<Isa> = Isa::all().collect();
        for &one in &all {
            assert_eq!(one.to_string().parse(), Ok(one));
            assert_eq!(Isa::from_code(one.code()), Some(one));
            assert_ne!(one.code(), 0);
        }
        // 9 settings for 90a, 3 for 900, 1 for 1030.
        let count = |name| all.iter().filter(|one| one.processor.name == name).count();
        assert_eq!([count("gfx90a"), count("gfx900"), count("gfx1030")], [9, 3, 1]);
        assert_eq!(count("gfx703"), 0);
    }

    #[test]
    fn names_that_are_not_canonical_are_refused() {
        for name in [
            "",
            " ",
            "HSAIL",
            "gfx900",
            "AMD:AMDGPU:9:0:0",
            "amdgcn-amd-amdhsa-",
            "amdgcn--amdhsa--gfx900",
            "amdgcn-amd-amdhsa--gfx000",
            "amdgcn-amd-amdhsa--gfx703",
            "amdgcn-amd-amdhsa--gfx900:",
            "amdgcn-amd-amdhsa--gfx900:foo+",
            "amdgcn-amd-amdhsa--gfx900:xnack",
            "amdgcn-amd-amdhsa--gfx900:sramecc+",
            "amdgcn-amd-amdhsa--gfx906:xnack-:sramecc+",
            "amdgcn-amd-amdhsa--gfx900:xnack+:xnack+",
            "amdgcn-amd-amdhsa--gfx1030:xnack-",
            "amdgcn-amd-amdhsa--gfx900 ",
        ] {
            let error = Isa::from_str(name).expect_err(name);
            assert_eq!(error.name, name);
        }
    }

    #[test]
    fn codes_of_nothing_are_refused() {
        for code in [0, 1, u64::MAX, 0x2c00 | 0x10, 0x2c03, 0x2c00 | 1 << 40, 0x2500] {
            assert_eq!(Isa::from_code(code), None, "{code:#x}");
        }
    }

    #[test]
    fn code_with_open_settings_runs_on_either_and_fixed_settings_must_match() {
        let agent = isa("gfx90a:sramecc+:xnack-");
        for runs in [
            "gfx90a",
            "gfx90a:sramecc+",
            "gfx90a:xnack-",
            "gfx90a:sramecc+:xnack-",
        ] {
            assert_eq!(compatible(object(runs, 0), agent), Ok(()), "{runs}");
        }
        for (refused, reason) in [
            ("gfx90a:sramecc-", "the sramecc settings differ"),
            ("gfx90a:xnack+", "the xnack settings differ"),
            ("gfx908", "the processors differ"),
            (
                "gfx9-generic",
                "the generic target does not cover the agent's processor",
            ),
        ] {
            let error = compatible(object(refused, 1), agent).expect_err(refused);
            assert_eq!(error.reason, reason);
        }
    }

    #[test]
    fn generic_code_runs_on_what_it_covers_from_version_1_on() {
        let agent = isa("gfx1101");
        assert_eq!(compatible(object("gfx11-generic", 1), agent), Ok(()));
        assert_eq!(compatible(object("gfx11-generic", 7), agent), Ok(()));
        assert!(compatible(object("gfx11-generic", 0), agent).is_err());
        assert!(compatible(object("gfx12-generic", 1), agent).is_err());
        let generic = isa("gfx906:sramecc+:xnack-").generic().expect("a generic target");
        assert_eq!(generic, isa("gfx9-generic:xnack-"));
        assert!(compatible(object("gfx906", 0), generic).is_err());
    }

    #[test]
    fn an_incompatibility_names_both_sides() {
        let error = compatible(object("gfx906:sramecc+", 0), isa("gfx900:xnack-")).expect_err("differs");
        let text = error.to_string();
        assert!(text.contains("amdgcn-amd-amdhsa--gfx906:sramecc+"), "{text}");
        assert!(text.contains("amdgcn-amd-amdhsa--gfx900:xnack-"), "{text}");
        let cpu = compatible_with_any(object("gfx906", 0), &[]).expect_err("no ISA");
        assert_eq!(cpu.agent, AgentIsa::None);
    }
}
