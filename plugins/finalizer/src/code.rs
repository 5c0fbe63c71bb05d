//! From a program to a code object.

use crate::backend::{self, Options};
use crate::brig::{MachineModel, Profile, Round};
use crate::cache::Key;
use crate::program::{DirectiveError, Linked, Settings};
use crate::translate;
use hansa_plugin_api::hsa::{hsa_default_float_rounding_mode_t, hsa_machine_model_t, hsa_profile_t};

/// Why no code was made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodeError {
    /// The addresses of this process have 64 bits.
    #[error("The program is of the small machine model, whose addresses have 32 bits")]
    SmallModel,
    /// A promise cannot be kept.
    #[error(transparent)]
    Directives(#[from] DirectiveError),
    /// The program asks for what cannot be done.
    #[error(transparent)]
    Translate(#[from] translate::Error),
    /// The translation could not be compiled.
    #[error(transparent)]
    Compile(#[from] backend::Error),
}

/// Makes a code object.
pub(crate) fn make(key: &Key) -> Result<Vec<u8>, CodeError> {
    if key.settings.machine_model == MachineModel::SMALL {
        return Err(CodeError::SmallModel);
    }
    let program = Linked::new(key.modules.clone(), key.settings);
    let functions = translate::reachable(&program)?;
    key.directives.agree(&program, &functions, key.target.wavefront)?;
    let mut ir = translate::module(&program, &key.target)?;
    ir.push_str(&note(key.settings));
    Ok(backend::compile(&ir, &key.target.isa, &options(&key.options))?)
}

/// The options in the text of the caller: `-O0` to `-O3`. Others are for other finalizers.
fn options(text: &str) -> Options {
    let mut options = Options::default();
    for option in text.split_whitespace() {
        if let Some(level @ b'0'..=b'3') = option.strip_prefix("-O").and_then(|level| level.bytes().next()) {
            options.optimisation = level - b'0';
        }
    }
    options
}

/// A note in the code object that tells for what program it was made (owner AMD, type 2): version of HSAIL, profile,
/// machine model, rounding. `hsa_code_object_get_info` answers from it.
fn note(settings: Settings) -> String {
    let profile = match settings.profile {
        Profile::FULL => hsa_profile_t::FULL,
        _ => hsa_profile_t::BASE,
    };
    let rounding = match settings.rounding {
        Round::ZERO => hsa_default_float_rounding_mode_t::ZERO,
        Round::NEAR => hsa_default_float_rounding_mode_t::NEAR,
        _ => hsa_default_float_rounding_mode_t::DEFAULT,
    };
    let lines = [
        ".section .note.hsail,\\22a\\22,@note".to_owned(),
        ".p2align 2".to_owned(),
        ".long 4, 12, 2".to_owned(),
        ".asciz \\22AMD\\22".to_owned(),
        ".long 1, 0".to_owned(),
        format!(
            ".byte {}, {}, {}, 0",
            profile.0,
            hsa_machine_model_t::LARGE.0,
            rounding.0
        ),
    ];
    lines
        .iter()
        .map(|line| format!("module asm \"{line}\"\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_taken_from_the_options() {
        assert_eq!(options(""), Options::default());
        assert_eq!(options("-O0").optimisation, 0);
        assert_eq!(options("-foo -O2 -g").optimisation, 2);
        assert_eq!(options("-O9 -O").optimisation, Options::default().optimisation);
    }

    #[test]
    fn the_note_carries_the_numbers_of_the_interface() {
        let settings = Settings {
            machine_model: MachineModel::LARGE,
            profile: Profile::FULL,
            rounding: Round::NEAR,
        };
        let note = note(settings);
        assert!(note.contains(".byte 1, 1, 2, 0"), "{note}");
    }
}
