//! Control directives: what the caller of `hsa_ext_program_finalize` and the code itself promise of dispatches
//! (HSA Runtime PRM, `hsa_ext_control_directives_t`; PRM 13.4).
//!
//! Those of the caller hold for every kernel, those of a function for the kernels that reach it. They must not
//! contradict each other: a largest number may be made smaller, everything else is equal. A field of the caller counts
//! when its bit of the mask is set, and also when it is not 0: programs exist that leave the mask empty.

use super::linked::{Linked, Symbol};
use crate::brig::{Control, ControlKind, Directive, Entry, Operand};
use hansa_plugin_api::hsa::hsa_ext_control_directives_t;
use std::collections::BTreeSet;

/// The directives of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Directives {
    /// Exceptions that are to break or to be detected, of those that the mask names.
    pub exceptions: u16,
    /// Bytes of dynamic group memory.
    pub max_dynamic_group: Option<u64>,
    /// Most work-items of a grid.
    pub max_flat_grid: Option<u64>,
    /// Most work-items of a work-group.
    pub max_flat_workgroup: Option<u64>,
    /// Size of the grid.
    pub required_grid: Option<[u64; 3]>,
    /// Size of a work-group.
    pub required_workgroup: Option<[u64; 3]>,
    /// Dimensions.
    pub required_dim: Option<u64>,
}

/// Why directives cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectiveError {
    /// They contradict those of the code, or themselves.
    #[error("Control directive {name} of the caller cannot be kept: {reason}")]
    Mismatch {
        /// The directive.
        name: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// There is no such hardware.
    #[error("Control directive {name} asks for exceptions, which no instruction set here reports")]
    Exceptions {
        /// The directive.
        name: &'static str,
    },
}

fn mismatch(kind: ControlKind, reason: &'static str) -> DirectiveError {
    DirectiveError::Mismatch {
        name: name(kind),
        reason,
    }
}

fn name(kind: ControlKind) -> &'static str {
    kind.name().unwrap_or("of an unknown kind")
}

impl Directives {
    /// The directives in the caller's structure.
    pub(crate) fn of(given: &hsa_ext_control_directives_t) -> Result<Self, DirectiveError> {
        let named = |kind: ControlKind| given.control_directives_mask >> kind.0 & 1 != 0;
        let one = |kind, value: u64| (named(kind) || value != 0).then_some(value);
        let three = |kind, values: [u64; 3]| (named(kind) || values != [0; 3]).then_some(values);
        let exceptions = |kind, mask: u16| if named(kind) { mask } else { 0 };
        let size = given.required_workgroup_size;
        let directives = Self {
            exceptions: exceptions(ControlKind::ENABLE_BREAK_EXCEPTIONS, given.break_exceptions_mask)
                | exceptions(
                    ControlKind::ENABLE_DETECT_EXCEPTIONS,
                    given.detect_exceptions_mask,
                ),
            max_dynamic_group: one(
                ControlKind::MAX_DYNAMIC_GROUP_SIZE,
                given.max_dynamic_group_size.into(),
            ),
            max_flat_grid: one(ControlKind::MAX_FLAT_GRID_SIZE, given.max_flat_grid_size),
            max_flat_workgroup: one(
                ControlKind::MAX_FLAT_WORKGROUP_SIZE,
                given.max_flat_workgroup_size.into(),
            ),
            required_grid: three(ControlKind::REQUIRED_GRID_SIZE, given.required_grid_size),
            required_workgroup: three(
                ControlKind::REQUIRED_WORKGROUP_SIZE,
                [size.x, size.y, size.z].map(u64::from),
            ),
            required_dim: one(ControlKind::REQUIRED_DIM, given.required_dim.into()),
        };
        directives.possible()?;
        Ok(directives)
    }

    /// No dispatch has 0 or 4 dimensions, or a size of 0.
    fn possible(&self) -> Result<(), DirectiveError> {
        let positive = [
            (ControlKind::MAX_FLAT_GRID_SIZE, self.max_flat_grid),
            (ControlKind::MAX_FLAT_WORKGROUP_SIZE, self.max_flat_workgroup),
        ];
        if let Some((kind, _)) = positive.iter().find(|(_, value)| *value == Some(0)) {
            return Err(mismatch(*kind, "it is 0"));
        }
        let sizes = [
            (ControlKind::REQUIRED_GRID_SIZE, self.required_grid),
            (ControlKind::REQUIRED_WORKGROUP_SIZE, self.required_workgroup),
        ];
        let zero = |size: Option<[u64; 3]>| size.is_some_and(|size| size.contains(&0));
        if let Some((kind, _)) = sizes.iter().find(|(_, size)| zero(*size)) {
            return Err(mismatch(*kind, "one of its dimensions is 0"));
        }
        if self.required_dim.is_some_and(|dim| !(1..=3).contains(&dim)) {
            return Err(mismatch(
                ControlKind::REQUIRED_DIM,
                "dispatches have 1, 2 or 3 dimensions",
            ));
        }
        if self.exceptions != 0 {
            return Err(DirectiveError::Exceptions {
                name: "enabledetectexceptions or enablebreakexceptions",
            });
        }
        Ok(())
    }

    /// Checks that the directives of some functions can be kept, too.
    pub(crate) fn agree(
        &self,
        program: &Linked,
        functions: &BTreeSet<Symbol>,
        wavefront: u32,
    ) -> Result<(), DirectiveError> {
        for &symbol in functions {
            let Some(function) = program.module(symbol).executable(symbol.at) else {
                continue;
            };
            for entry in function.entries() {
                if let Entry::Directive(Directive::Control(control)) = entry {
                    self.agree_with(&control, wavefront)?;
                }
            }
        }
        Ok(())
    }

    fn agree_with(&self, control: &Control<'_>, wavefront: u32) -> Result<(), DirectiveError> {
        let kind = control.kind;
        let equal = |agrees: bool| {
            if agrees {
                Ok(())
            } else {
                Err(mismatch(kind, "the code has another value"))
            }
        };
        let [first, second, third] = values(control, wavefront);
        let same = |mine: Option<u64>| mine.is_none_or(|mine| Some(mine) == first);
        let all = |mine: Option<[u64; 3]>| mine.is_none_or(|mine| [first, second, third] == mine.map(Some));
        let at_most = |mine: Option<u64>| match (mine, first) {
            (Some(mine), Some(first)) if mine > first => Err(mismatch(kind, "the code allows less")),
            _ => Ok(()),
        };
        match kind {
            ControlKind::MAX_DYNAMIC_GROUP_SIZE => equal(same(self.max_dynamic_group)),
            ControlKind::MAX_FLAT_GRID_SIZE => at_most(self.max_flat_grid),
            ControlKind::MAX_FLAT_WORKGROUP_SIZE => at_most(self.max_flat_workgroup),
            ControlKind::REQUIRED_DIM => equal(same(self.required_dim)),
            ControlKind::REQUIRED_GRID_SIZE => equal(all(self.required_grid)),
            ControlKind::REQUIRED_WORKGROUP_SIZE => equal(all(self.required_workgroup)),
            ControlKind::ENABLE_BREAK_EXCEPTIONS | ControlKind::ENABLE_DETECT_EXCEPTIONS
                if first.is_some_and(|mask| mask != 0) =>
            {
                Err(DirectiveError::Exceptions { name: name(kind) })
            }
            _ => Ok(()),
        }
    }
}

/// The first three values of a control directive.
fn values(control: &Control<'_>, wavefront: u32) -> [Option<u64>; 3] {
    [0, 1, 2].map(|index| match control.operands.operand(index)? {
        Operand::Constant(constant) => u64::try_from(constant.number()).ok(),
        Operand::Wavesize => Some(wavefront.into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hansa_plugin_api::hsa::hsa_dim3_t;

    const NONE: hsa_ext_control_directives_t = hsa_ext_control_directives_t {
        control_directives_mask: 0,
        break_exceptions_mask: 0,
        detect_exceptions_mask: 0,
        max_dynamic_group_size: 0,
        max_flat_grid_size: 0,
        max_flat_workgroup_size: 0,
        reserved1: 0,
        required_grid_size: [0; 3],
        required_workgroup_size: hsa_dim3_t { x: 0, y: 0, z: 0 },
        required_dim: 0,
        reserved2: [0; 75],
    };

    #[test]
    fn a_field_counts_with_its_bit_or_without_when_it_is_not_0() {
        assert_eq!(Directives::of(&NONE), Ok(Directives::default()));
        let mut given = NONE;
        given.max_dynamic_group_size = 4096;
        let directives = Directives::of(&given).unwrap();
        assert_eq!(directives.max_dynamic_group, Some(4096));
        given.max_dynamic_group_size = 0;
        given.control_directives_mask = 1 << ControlKind::MAX_DYNAMIC_GROUP_SIZE.0;
        assert_eq!(Directives::of(&given).unwrap().max_dynamic_group, Some(0));
    }

    #[test]
    fn what_no_dispatch_can_keep_is_a_mismatch() {
        let mut dim = NONE;
        dim.required_dim = 4;
        let mut grid = NONE;
        grid.required_grid_size = [1, 0, 1];
        let mut flat = NONE;
        flat.control_directives_mask = 1 << ControlKind::MAX_FLAT_GRID_SIZE.0;
        for bad in [dim, grid, flat] {
            assert!(matches!(
                Directives::of(&bad),
                Err(DirectiveError::Mismatch { .. })
            ));
        }
    }

    #[test]
    fn exceptions_count_only_with_their_bit() {
        let mut given = NONE;
        given.break_exceptions_mask = 1;
        assert!(Directives::of(&given).is_ok());
        given.control_directives_mask = 1 << ControlKind::ENABLE_BREAK_EXCEPTIONS.0;
        assert!(matches!(
            Directives::of(&given),
            Err(DirectiveError::Exceptions { .. })
        ));
    }
}
