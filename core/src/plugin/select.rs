//! Choosing among candidates: what the administrator, the user and the plugins' own policies say.
//!
//! Disabling comes before selecting. What remains is put into one order, the same in every run:
//! the administrator's order, then priority, then hardware before software, then version, then
//! the order of the search. Copies of one plugin stand together, the highest version first.

use std::cmp::Reverse;

use hansa_plugin_api::manifest::{DefaultUse, Kind};

use super::candidate::{Candidate, Source};
use super::facts::Facts;
use super::glob::{first_naming, is_literal, names};
use super::reason::Reason;
use crate::config::{Origin, Plugins, Setting};

/// Which candidates to start, as positions in the list of candidates.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Those to start, in order.
    pub(super) first: Vec<usize>,
    /// Those to start when no accelerator serves, in order.
    pub(super) fallback: Vec<usize>,
}

/// A plugin that somebody asked for by its name, without wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) by: Origin,
}

/// Decides who is in the running, and in which order.
pub(super) fn select(candidates: &mut Vec<Candidate>, plugins: &Plugins) -> Plan {
    let mut fallback = Vec::new();
    for (i, candidate) in candidates
        .iter_mut()
        .enumerate()
        .filter(|(_, candidate)| candidate.is_running())
    {
        let Some(facts) = &candidate.facts else { continue };
        match choose(facts, plugins) {
            Choice::In => {}
            Choice::Fallback => fallback.push(i),
            Choice::Out(reason) => candidate.end(reason),
        }
    }
    let (fallback, first) = ordered(candidates, plugins)
        .into_iter()
        .partition(|i| fallback.contains(i));
    for asked in asked_by_name(plugins) {
        if !candidates
            .iter()
            .any(|candidate| names(&asked.name, &candidate.name))
        {
            let mut nobody = Candidate::new(Source::Nowhere, asked.name);
            nobody.end(Reason::NotFound { asked_by: asked.by });
            candidates.push(nobody);
        }
    }
    Plan { first, fallback }
}

/// The plugins that somebody asked for by name: the runtime does not start without them.
pub(super) fn asked_by_name(plugins: &Plugins) -> Vec<Asked> {
    let of = |setting: &Setting<Vec<String>>| -> Vec<Asked> {
        let literal = setting.value.iter().filter(|pattern| is_literal(pattern));
        literal
            .map(|name| Asked {
                name: name.clone(),
                by: setting.origin.clone(),
            })
            .collect()
    };
    let mut asked = of(&plugins.backends);
    asked.extend(of(&plugins.select));
    asked
}

/// The priority of a plugin, as the configuration or its manifest gives it.
fn priority(facts: &Facts, plugins: &Plugins) -> i32 {
    let configured = plugins
        .priority
        .value
        .0
        .iter()
        .find(|(name, _)| names(name, &facts.id));
    configured.map_or(facts.priority, |(_, priority)| *priority)
}

enum Choice {
    In,
    Fallback,
    Out(Reason),
}

fn choose(facts: &Facts, plugins: &Plugins) -> Choice {
    if let Some(pattern) = first_naming(&plugins.disable.value, &facts.id) {
        let (by, pattern) = (plugins.disable.origin.clone(), pattern.to_owned());
        return Choice::Out(Reason::Disabled { by, pattern });
    }
    let has = |list: &Setting<Vec<String>>| first_naming(&list.value, &facts.id).is_some();
    let is_backend = facts.kind != Kind::Extension;
    for (list, concerned) in [(&plugins.backends, is_backend), (&plugins.select, true)] {
        if concerned && !list.value.is_empty() && !has(list) {
            return Choice::Out(Reason::NotSelected {
                by: list.origin.clone(),
            });
        }
    }
    let asked = is_backend && has(&plugins.backends) || has(&plugins.select) || has(&plugins.enable);
    match facts.default {
        _ if asked => Choice::In,
        DefaultUse::On => Choice::In,
        DefaultUse::Off => Choice::Out(Reason::OffByDefault),
        DefaultUse::OnlyIfNoHardware => Choice::Fallback,
    }
}

/// The running candidates in the order in which they are tried.
fn ordered(candidates: &[Candidate], plugins: &Plugins) -> Vec<usize> {
    let running = candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| candidate.is_running());
    let mut copies: Vec<(usize, &Facts)> = running
        .filter_map(|(i, candidate)| Some((i, candidate.facts.as_ref()?)))
        .collect();
    // Copies of one plugin side by side, the best first; sorting keeps the search order of equals.
    copies.sort_by(|(_, a), (_, b)| (&a.id, &b.version).cmp(&(&b.id, &a.version)));
    let mut groups: Vec<&[(usize, &Facts)]> = copies.chunk_by(|(_, a), (_, b)| a.id == b.id).collect();
    let by_admin: Vec<&String> = plugins
        .backends
        .value
        .iter()
        .chain(&plugins.order.value)
        .collect();
    groups.sort_by_cached_key(|group| {
        let (i, facts) = group[0];
        let position = by_admin.iter().position(|pattern| names(pattern, &facts.id));
        (
            position.unwrap_or(usize::MAX),
            Reverse(priority(facts, plugins)),
            facts.software,
            Reverse(facts.version.clone()),
            i,
        )
    });
    groups.into_iter().flatten().map(|(i, _)| *i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Priorities;
    use crate::plugin::facts::tests::FACTS;

    fn plugin(id: &str, change: impl FnOnce(&mut Facts)) -> Candidate {
        let mut facts = Facts::of(&FACTS).unwrap();
        facts.id = id.to_owned();
        change(&mut facts);
        let mut candidate = Candidate::new(Source::Library(format!("/{id}.so").into()), id.to_owned());
        candidate.facts = Some(facts);
        candidate
    }

    fn set<const N: usize>(setting: &mut Setting<Vec<String>>, patterns: [&str; N]) {
        setting.value = patterns.map(str::to_owned).to_vec();
        setting.origin = Origin::Variable("HERE".into());
    }

    fn standard() -> Vec<Candidate> {
        vec![
            plugin("org.hansa.sim", |f| {
                f.software = true;
                f.default = DefaultUse::OnlyIfNoHardware;
            }),
            plugin("org.hansa.kfd", |_| {}),
            plugin("org.hansa.amd", |f| f.kind = Kind::Extension),
            plugin("com.vendor.odd", |f| f.default = DefaultUse::Off),
        ]
    }

    fn codes(candidates: &[Candidate]) -> Vec<String> {
        let code = |candidate: &Candidate| {
            let value = serde_json::to_value(candidate.reason.as_ref()?).unwrap();
            Some(value["code"].as_str().unwrap().to_owned())
        };
        candidates
            .iter()
            .map(|candidate| code(candidate).unwrap_or_default())
            .collect()
    }

    fn select_with(change: impl FnOnce(&mut Plugins)) -> (Plan, Vec<String>) {
        let mut plugins = Plugins::default();
        change(&mut plugins);
        let mut candidates = standard();
        let plan = select(&mut candidates, &plugins);
        (plan, codes(&candidates))
    }

    #[test]
    fn without_a_word_policies_decide() {
        let (plan, codes) = select_with(|_| {});
        assert_eq!(
            plan,
            Plan {
                first: vec![1, 2],
                fallback: vec![0]
            }
        );
        assert_eq!(codes, ["", "", "", "off-by-default"]);
    }

    #[test]
    fn backends_choose_drivers_and_leave_extensions_alone() {
        let (plan, codes) = select_with(|plugins| set(&mut plugins.backends, ["sim"]));
        assert_eq!(
            plan,
            Plan {
                first: vec![0, 2],
                fallback: vec![]
            }
        );
        assert_eq!(codes, ["", "not-selected", "", "not-selected"]);
    }

    #[test]
    fn backends_are_in_order_of_preference() {
        let (plan, _) = select_with(|plugins| set(&mut plugins.backends, ["odd", "sim", "kfd"]));
        assert_eq!(plan.first, [3, 0, 1, 2]);
    }

    #[test]
    fn selection_concerns_everybody() {
        let (plan, codes) = select_with(|plugins| set(&mut plugins.select, ["org.hansa.k*"]));
        assert_eq!(plan.first, [1]);
        assert_eq!(codes, ["not-selected", "", "not-selected", "not-selected"]);
    }

    #[test]
    fn disabling_comes_before_selecting_and_says_who() {
        let mut plugins = Plugins::default();
        set(&mut plugins.disable, ["s?m"]);
        set(&mut plugins.backends, ["sim"]);
        let mut candidates = standard();
        select(&mut candidates, &plugins);
        let by = Origin::Variable("HERE".into());
        assert_eq!(
            candidates[0].reason,
            Some(Reason::Disabled {
                by,
                pattern: "s?m".into()
            })
        );
    }

    #[test]
    fn enabling_turns_on_what_is_off() {
        let (plan, _) = select_with(|plugins| set(&mut plugins.enable, ["odd", "sim"]));
        assert_eq!((plan.first.len(), plan.fallback.len()), (4, 0));
    }

    #[test]
    fn a_name_that_nobody_has_is_reported_once_and_a_glob_is_not() {
        let (_, codes) = select_with(|plugins| set(&mut plugins.select, ["nobody", "none*", "*"]));
        assert_eq!(codes[4..], ["not-found"]);
    }

    #[test]
    fn administrator_then_priority_then_hardware_then_version_then_search() {
        let mut candidates = vec![
            plugin("a.software", |f| f.software = true),
            plugin("a.late", |_| {}),
            plugin("a.later", |_| {}),
            plugin("a.newer", |f| f.version = semver::Version::new(2, 0, 0)),
            plugin("a.prior", |f| f.priority = 60),
            plugin("a.ordered", |f| f.priority = 1),
            plugin("a.configured", |f| f.priority = 1),
        ];
        let mut plugins = Plugins::default();
        set(&mut plugins.order, ["ordered"]);
        plugins.priority.value = Priorities([("a.configured".to_owned(), 70)].into());
        assert_eq!(select(&mut candidates, &plugins).first, [5, 6, 4, 3, 1, 2, 0]);
    }

    #[test]
    fn copies_of_one_plugin_stand_together_the_highest_version_first() {
        let mut candidates = vec![
            plugin("a.twice", |f| f.priority = 90),
            plugin("a.other", |f| f.priority = 60),
            plugin("a.twice", |f| f.version = semver::Version::new(9, 0, 0)),
            plugin("a.twice", |f| f.version = semver::Version::new(9, 0, 0)),
        ];
        assert_eq!(select(&mut candidates, &Plugins::default()).first, [1, 2, 3, 0]);
    }
}
