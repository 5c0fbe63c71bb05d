//! Which devices become agents, in which order, and what they are called: the configuration's word over the drivers'.
//!
//! Nodes are numbered as AMD's kernel driver does it: the host's first, then the devices. A driver that lists the host's
//! nodes itself, because its kernel interface does, numbers all of them; the devices of others follow one another.

use super::DriverSlot;
use crate::config::{Config, GfxVersion, Warning};
use crate::loader::{Feature, Isa, Processor, PROCESSORS};
use hansa_plugin_api::{NodeDescription, NodeKind};
use std::collections::BTreeSet;

/// A device that becomes an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Index of its driver.
    pub(super) driver: usize,
    /// The number of its node.
    pub(super) number: u32,
    /// What it says of itself, or is told to say.
    pub(super) description: NodeDescription,
}

/// A driver's devices.
struct Offer {
    devices: Vec<NodeDescription>,
    /// Whether it numbers the host's nodes, too.
    numbers_all: bool,
}

impl From<&DriverSlot> for Offer {
    fn from(slot: &DriverSlot) -> Self {
        Self {
            devices: slot.own_devices.clone(),
            numbers_all: slot.description.nodes.iter().any(|n| n.kind == NodeKind::HOST),
        }
    }
}

/// Chooses the devices of all drivers; `host_nodes` are the CPU agents. What could not be done as configured is a warning.
pub(super) fn choose(
    drivers: &[DriverSlot],
    host_nodes: u32,
    config: &Config,
) -> (Vec<Chosen>, Vec<Warning>) {
    let offers: Vec<Offer> = drivers.iter().map(Offer::from).collect();
    select(&offers, host_nodes, config)
}

fn select(offers: &[Offer], host_nodes: u32, config: &Config) -> (Vec<Chosen>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let mut all = number(offers, host_nodes);
    for device in all.iter_mut().filter(|d| d.description.kind == NodeKind::GPU) {
        if let Some(setting) = config.gfx_version_of_node(device.number) {
            if let Err(problem) = call(&mut device.description, setting.value) {
                warnings.push(Warning {
                    place: setting.origin,
                    problem,
                });
            }
        }
        if let Some(on) = config.settings.hsa.enable_sramecc.value {
            set_sramecc(&mut device.description, on);
        }
        let most = config.settings.hsa.max_queues.value.0;
        if most != 0 {
            device.description.max_queues = device.description.max_queues.min(most);
        }
        let insists = &config.settings.hsa.check_flat_scratch;
        if insists.value && device.description.private_aperture_hi == 0 {
            warnings.push(Warning {
                place: insists.origin.clone(),
                problem: format!(
                    "{} of node {} has no private aperture",
                    device.description.name, device.number
                ),
            });
        }
    }
    let Some(list) = &config.settings.hsa.visible_devices.value else {
        return (all, warnings);
    };
    let (gpus, others): (Vec<Chosen>, Vec<Chosen>) =
        all.into_iter().partition(|d| d.description.kind == NodeKind::GPU);
    let ids: Vec<u64> = gpus.iter().map(|gpu| gpu.description.unique_id).collect();
    let visible = list.choose(&ids);
    if let Some((token, why)) = visible.stopped_at {
        warnings.push(Warning {
            place: config.settings.hsa.visible_devices.origin.clone(),
            problem: format!("\"{token}\": {why}; the list ends before it"),
        });
    }
    let chosen = visible.gpus.into_iter().map(|gpu| gpus[gpu].clone());
    (chosen.chain(others).collect(), warnings)
}

/// Gives each device the number of its node.
fn number(offers: &[Offer], host_nodes: u32) -> Vec<Chosen> {
    let mut used: BTreeSet<u32> = (0..host_nodes).collect();
    let mut all = Vec::new();
    for (driver, offer) in offers.iter().enumerate() {
        for description in offer.devices.iter().filter(|d| d.kind != NodeKind::HOST) {
            let own = Some(description.node).filter(|n| offer.numbers_all && !used.contains(n));
            let number = own.unwrap_or_else(|| (0..).find(|n| !used.contains(n)).unwrap_or(u32::MAX));
            used.insert(number);
            all.push(Chosen {
                driver,
                number,
                description: description.clone(),
            });
        }
    }
    all
}

/// Makes a GPU say that it is of another version.
fn call(description: &mut NodeDescription, version: GfxVersion) -> Result<(), String> {
    let wanted = [version.major, version.minor, version.step];
    let processor = PROCESSORS
        .iter()
        .find(|p| p.version == wanted && !p.is_generic() && p.is_registered())
        .ok_or_else(|| {
            let node = &description.name;
            format!("{version}: there is no such GPU; {node} stays what it is")
        })?;
    if description.name.as_str() == processor.name {
        return Ok(());
    }
    description.name = processor.name.into();
    let (sramecc, xnack) =
        own_isa(description).map_or((None, None), |isa| (setting(isa.sramecc()), setting(isa.xnack())));
    // A feature that the device's own processor does not have is off.
    let isa = Isa::new(processor, sramecc.or(Some(false)), xnack.or(Some(false)));
    set_isa(description, isa);
    Ok(())
}

fn set_sramecc(description: &mut NodeDescription, on: bool) {
    if let Some(isa) = own_isa(description) {
        let processor: &'static Processor = isa.processor();
        set_isa(description, Isa::new(processor, Some(on), setting(isa.xnack())));
    }
}

fn own_isa(description: &NodeDescription) -> Option<Isa> {
    description.isas.first().and_then(|name| name.parse().ok())
}

fn set_isa(description: &mut NodeDescription, isa: Isa) {
    let mut isas = vec![isa.to_string().into()];
    // Whether a driver tells of generic targets is its own choice.
    if description.isas.len() > 1 {
        isas.extend(isa.generic().map(|generic| generic.to_string().into()));
    }
    description.isas = isas.into();
}

const fn setting(feature: Feature) -> Option<bool> {
    match feature {
        Feature::Unsupported | Feature::Any => None,
        Feature::Off => Some(false),
        Feature::On => Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Inputs};

    fn gpu(node: u32, unique_id: u64) -> NodeDescription {
        NodeDescription {
            unique_id,
            max_queues: 100,
            isas: vec!["amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-".into()].into(),
            ..NodeDescription::new(node, NodeKind::GPU, "gfx906")
        }
    }

    /// Two drivers: one with three GPUs and an NPU, one that numbers the host's node as well.
    fn offers() -> [Offer; 2] {
        let npu = NodeDescription::new(3, NodeKind::AIE, "aie2");
        [
            Offer {
                devices: vec![gpu(0, 0x4a01), gpu(1, 0x4a02), gpu(2, 0x4b03), npu],
                numbers_all: false,
            },
            Offer {
                devices: vec![gpu(7, 0x4c04)],
                numbers_all: true,
            },
        ]
    }

    fn chosen(variables: &[(&str, &str)]) -> (Vec<Chosen>, Vec<String>) {
        let environment = Environment::new(variables.iter().copied(), false);
        let config = Config::load(&Inputs {
            root: "/nowhere".into(),
            environment,
        });
        assert!(config.warnings.is_empty(), "{:?}", config.warnings);
        let (devices, warnings) = select(&offers(), 2, &config);
        (devices, warnings.iter().map(ToString::to_string).collect())
    }

    fn numbers(variables: &[(&str, &str)]) -> Vec<u32> {
        chosen(variables).0.iter().map(|device| device.number).collect()
    }

    #[test]
    fn devices_are_numbered_behind_the_host_or_as_their_driver_does() {
        assert_eq!(numbers(&[]), [2, 3, 4, 5, 7]);
        assert_eq!(chosen(&[]).0[4].driver, 1);
    }

    #[test]
    fn gpus_are_chosen_across_drivers_and_everything_else_stays() {
        let visible = |list| numbers(&[("ROCR_VISIBLE_DEVICES", list)]);
        assert_eq!(visible("3,0"), [7, 2, 5]);
        assert_eq!(visible("GPU-0000000000004B,1"), [4, 3, 5]);
        assert_eq!(visible(""), [5]);
        assert_eq!(visible("0,4,1"), [2, 5]);
        let (_, warnings) = chosen(&[("ROCR_VISIBLE_DEVICES", "0,4,1")]);
        assert_eq!(
            warnings,
            ["ROCR_VISIBLE_DEVICES: \"4\": there is no GPU with this index; the list ends before it"]
        );
    }

    #[test]
    fn a_version_holds_for_all_gpus_or_for_one_node() {
        let names = |variables: &[(&str, &str)]| -> Vec<String> {
            let devices = chosen(variables).0;
            devices.iter().map(|d| d.description.name.to_string()).collect()
        };
        let all = ("HSA_OVERRIDE_GFX_VERSION", "9.0.10");
        let one = ("HSA_OVERRIDE_GFX_VERSION_3", "11.0.0");
        assert_eq!(names(&[one]), ["gfx906", "gfx1100", "gfx906", "aie2", "gfx906"]);
        assert_eq!(
            names(&[all, one]),
            ["gfx90a", "gfx1100", "gfx90a", "aie2", "gfx90a"]
        );
        let isas: Vec<String> = chosen(&[all, one]).0[..2]
            .iter()
            .map(|d| d.description.isas[0].to_string())
            .collect();
        assert_eq!(
            isas,
            [
                "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
                "amdgcn-amd-amdhsa--gfx1100"
            ]
        );
    }

    #[test]
    fn a_version_that_no_gpu_has_changes_nothing_and_is_named() {
        let (devices, warnings) = chosen(&[("HSA_OVERRIDE_GFX_VERSION_2", "9.9.9")]);
        assert_eq!(devices[0].description, gpu(0, 0x4a01));
        assert_eq!(
            warnings,
            ["HSA_OVERRIDE_GFX_VERSION_2: 9.9.9: there is no such GPU; gfx906 stays what it is"]
        );
    }

    #[test]
    fn queues_are_limited_and_a_missing_aperture_is_said() {
        let most = |value| chosen(&[("HSA_MAX_QUEUES", value)]).0[0].description.max_queues;
        assert_eq!((most("8"), most("0"), most("1000")), (8, 100, 100));
        let (_, warnings) = chosen(&[("HSA_CHECK_FLAT_SCRATCH", "1")]);
        assert_eq!(
            warnings[0],
            "HSA_CHECK_FLAT_SCRATCH: gfx906 of node 2 has no private aperture"
        );
    }

    #[test]
    fn ecc_of_registers_is_what_the_name_says() {
        let isa = |value| {
            let devices = chosen(&[("HSA_ENABLE_SRAMECC", value)]).0;
            devices[0].description.isas[0].to_string()
        };
        assert_eq!(isa("0"), "amdgcn-amd-amdhsa--gfx906:sramecc-:xnack-");
        assert_eq!(isa("1"), "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-");
    }
}
