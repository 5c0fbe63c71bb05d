//! Comparing the layout of everything that crosses the boundary.
//!
//! A shared object built with `abi_stable` carries a description of its types. The library's own
//! check asks whether an implementation has at least what an interface has, so it refuses an older
//! plugin in a newer host. Here it is asked both ways: a plugin of a newer minor version has all
//! that the host has, and the host has all that an older plugin has; whoever calls a function at
//! the end of a table asks first whether the table goes that far.

use std::cmp::Reverse;

use abi_stable::abi_stability::abi_checking::{
    check_layout_compatibility_with_globals, AbiInstability, AbiInstabilityError, AbiInstabilityErrors,
    CheckingGlobals, ExpectedFound,
};
use abi_stable::type_layout::{TLFieldOrFunction, TypeLayout};
use abi_stable::StableAbi;
use hansa_plugin_api::PluginModRef;

use super::reason::Reason;
use crate::config::file::one_line;

/// Compares the layout of a plugin's root module with ours.
///
/// # Errors
///
/// Where they differ, as `type.field`.
pub(super) fn check_layout(plugin: Option<&'static TypeLayout>) -> Result<(), Reason> {
    let host = PluginModRef::LAYOUT;
    let Some(plugin) = plugin else {
        return Err(Reason::WrongHeader {
            message: "it does not describe its layout".into(),
        });
    };
    let Err(as_newer) = check(host, plugin) else {
        return Ok(());
    };
    let Err(as_older) = check(plugin, host) else {
        return Ok(());
    };
    Err(difference(&as_newer, &as_older))
}

/// One direction. What other plugins were compared with does not matter, so nothing is remembered.
fn check(
    interface: &'static TypeLayout,
    implementation: &'static TypeLayout,
) -> Result<(), AbiInstabilityErrors> {
    check_layout_compatibility_with_globals(interface, implementation, &CheckingGlobals::new())
}

/// The difference that explains the others: the innermost one. That a table has fewer functions, or
/// a type another size, follows from a difference inside it, unless it is the only one.
fn difference(as_newer: &AbiInstabilityErrors, as_older: &AbiInstabilityErrors) -> Reason {
    let all = || {
        let newer = as_newer.errors.iter().map(|error| (error, false));
        let errors = newer.chain(as_older.errors.iter().map(|error| (error, true)));
        errors.flat_map(|(error, swapped)| error.errs.iter().map(move |what| (error, what, swapped)))
    };
    let inner = all().filter(|(_, what, _)| !is_consequence(what));
    // The first of equals: `min_by_key` keeps it.
    let found = inner.min_by_key(|(error, ..)| Reverse(error.stack_trace.len()));
    match found.or_else(|| all().next()) {
        Some((error, what, swapped)) => {
            let (at, (expected, found)) =
                other_field(error, what).unwrap_or_else(|| (place(error, as_newer.interface), sides(what)));
            let (expected, found) = if swapped {
                (found, expected)
            } else {
                (expected, found)
            };
            Reason::LayoutDiffers { at, expected, found }
        }
        None => Reason::LayoutDiffers {
            at: as_newer.interface.full_type().to_string(),
            expected: "the runtime's layout".into(),
            found: "another".into(),
        },
    }
}

/// Whether a difference follows from another one further in.
fn is_consequence(what: &AbiInstability) -> bool {
    matches!(
        what,
        AbiInstability::FieldCountMismatch(_) | AbiInstability::Size(_) | AbiInstability::Alignment(_)
    )
}

/// Where a type that has more or fewer fields first has another one.
fn other_field(error: &AbiInstabilityError, what: &AbiInstability) -> Option<(String, (String, String))> {
    let of_type = matches!(
        what,
        AbiInstability::MismatchedPrefixSize(_) | AbiInstability::FieldCountMismatch(_)
    );
    let ExpectedFound {
        expected: TLFieldOrFunction::Field(expected),
        found: TLFieldOrFunction::Field(found),
    } = error.stack_trace.last().filter(|_| of_type)?
    else {
        return None;
    };
    let names = |layout: &'static TypeLayout| -> Option<Vec<&'static str>> {
        Some(layout.get_fields()?.iter().map(|field| field.name()).collect())
    };
    let (ours, theirs) = (names(expected.layout())?, names(found.layout())?);
    let at = (0..ours.len().max(theirs.len())).find(|at| ours.get(*at) != theirs.get(*at))?;
    let name = |names: &[&str]| {
        names
            .get(at)
            .map_or_else(|| "nothing".to_owned(), |name| format!("field {name}"))
    };
    let place = format!(
        "{}.{}",
        expected.layout().name(),
        ours.get(at).or_else(|| theirs.get(at))?
    );
    Some((place, (name(&ours), name(&theirs))))
}

/// The place of a difference: the type that has the field, and the field; for a parameter of a
/// function, the function's place and the parameter.
fn place(error: &AbiInstabilityError, root: &'static TypeLayout) -> String {
    let mut of = root.name().to_owned();
    let mut place = of.clone();
    for ExpectedFound { expected, .. } in &error.stack_trace {
        match expected {
            TLFieldOrFunction::Field(field) => {
                place = format!("{of}.{}", field.name());
                field.layout().name().clone_into(&mut of);
            }
            // A function's parameters are its fields.
            TLFieldOrFunction::Function(_) => of.clone_from(&place),
        }
    }
    place
}

/// What is expected and what was found, in a word or two.
fn sides(what: &AbiInstability) -> (String, String) {
    fn shown<T>(sides: &ExpectedFound<T>, show: impl Fn(&T) -> String) -> (String, String) {
        let short = |text: String| one_line(&text).chars().take(120).collect();
        (short(show(&sides.expected)), short(show(&sides.found)))
    }
    match what {
        AbiInstability::Name(sides) => shown(sides, ToString::to_string),
        AbiInstability::Package(sides) => shown(sides, |package| format!("of package {package}")),
        AbiInstability::PackageVersion(sides) => shown(sides, |version| format!("of version {version}")),
        AbiInstability::Size(sides) => shown(sides, |size| format!("{size} bytes long")),
        AbiInstability::Alignment(sides) => shown(sides, |alignment| format!("aligned to {alignment} bytes")),
        AbiInstability::FieldCountMismatch(sides) => shown(sides, |count| format!("{count} fields long")),
        AbiInstability::UnexpectedField(sides) => shown(sides, |field| format!("field {}", field.name())),
        AbiInstability::MismatchedPrimitive(sides) => shown(sides, |primitive| format!("{primitive:?}")),
        AbiInstability::FnLifetimeMismatch(sides) | AbiInstability::FnQualifierMismatch(sides) => {
            shown(sides, ToString::to_string)
        }
        AbiInstability::FieldLifetimeMismatch(sides) => shown(sides, ToString::to_string),
        other => (
            "the runtime's layout".to_owned(),
            one_line(&format!("{other:?}")).chars().take(120).collect(),
        ),
    }
}
