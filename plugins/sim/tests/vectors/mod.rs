//! The file of vectors (`README.md`), and what may differ.

#![allow(unreachable_pub, reason = "A module of one test")]

pub mod modes;
pub mod program;

use std::collections::HashMap;

use hansa_sim::isa::Target;
use program::Place;

/// What registers hold before, as in the file's header.
pub const OLD: [u32; 2] = [0xa5a5_a5a5, 0x5a5a_5a5a];
pub const VCC: u64 = 0x0f5a_c3f0_96e1_7d28;
pub const CARRY: u64 = 0x3c5a_0ff0_a596_e17d;
pub const PI: u64 = 0x4009_21fb_4049_0fdb;
pub const LANE: u32 = 37;

/// Rows by name and set.
pub type Inputs<'a> = HashMap<(&'a str, &'a str), Vec<u64>>;

/// Values of a register, by lane.
pub type Row = [u32; 64];

/// What is left with the inputs of a set: values of one lane, or of all, by place.
#[derive(Debug)]
pub struct Outcome<'a> {
    pub set: &'a str,
    pub values: Vec<(&'a str, Vec<u64>)>,
}

/// One instruction.
#[derive(Debug)]
pub struct Vector<'a> {
    pub target: Target,
    pub words: Vec<u32>,
    /// Whose answers these are: `emulator`, `plain` functions, `both`, or the `host`.
    pub by: &'a str,
    /// Names of rows, by the register that holds them.
    bound: Vec<(&'a str, &'a str)>,
    pub text: &'a str,
    pub outcomes: Vec<Outcome<'a>>,
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{text} is no hexadecimal number"))
}

/// The inputs, and the instructions.
pub fn parse(text: &str) -> (Inputs<'_>, Vec<Vector<'_>>) {
    let (mut inputs, mut vectors) = (HashMap::new(), Vec::<Vector<'_>>::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (first, rest) = line.split_once(' ').expect("two words");
        let (second, rest) = rest.split_once(' ').expect("three words");
        match first {
            "in" => {
                let (set, values) = rest.split_once(' ').expect("values");
                inputs.insert((second, set), values.split(' ').map(hexadecimal).collect());
            }
            "op" => {
                let mut words = rest.splitn(4, ' ');
                let mut word = || words.next().expect("a further word");
                vectors.push(Vector {
                    target: second.parse().expect("a target"),
                    words: word().split(',').map(|w| hexadecimal(w) as u32).collect(),
                    by: word(),
                    bound: word().split(',').filter_map(|one| one.split_once('=')).collect(),
                    text: word(),
                    outcomes: Vec::new(),
                });
            }
            set => {
                let outcomes = &mut vectors.last_mut().expect("an instruction").outcomes;
                if outcomes.last().map(|outcome| outcome.set) != Some(set) {
                    outcomes.push(Outcome {
                        set,
                        values: Vec::new(),
                    });
                }
                let values = rest.split(' ').map(hexadecimal).collect();
                outcomes.last_mut().expect("one").values.push((second, values));
            }
        }
    }
    (inputs, vectors)
}

impl<'a> Vector<'a> {
    /// The instruction without suffix.
    pub fn mnemonic(&self) -> &'a str {
        let name = self.text.split(' ').next().unwrap_or_default();
        ["_e64", "_sdwa", "_dpp"]
            .iter()
            .find_map(|suffix| name.strip_suffix(suffix))
            .unwrap_or(name)
    }

    pub fn is_scalar(&self) -> bool {
        self.text.starts_with("s_")
    }

    /// Whether what a lane computes depends on that lane's registers only, and on EXEC no further than being one of it.
    pub fn lanes_are_independent(&self) -> bool {
        let name = self.text.split(' ').next().unwrap_or_default();
        let together = ["_dpp", "mfma", "v_readlane", "v_readfirstlane", "v_writelane"];
        !self.is_scalar() && !together.iter().any(|what| name.contains(what))
    }

    /// The registers that have to be set, with their values.
    pub fn sources(&self, set: &str, inputs: &Inputs<'_>) -> Vec<(Place, Row)> {
        let mut sources = Vec::new();
        for (register, row) in &self.bound {
            let values = inputs
                .get(&(*row, set))
                .unwrap_or_else(|| panic!("{}: no row {row} in set {set}", self.text));
            let wide = ["f64", "b64", "f32x2"]
                .iter()
                .any(|kind| row.split('.').next() == Some(kind));
            for half in 0..=usize::from(wide) {
                let row = std::array::from_fn(|lane| (values[lane] >> (32 * half)) as u32);
                sources.push((Place::parse(register).half(half), row));
            }
        }
        sources
    }

    /// Everything that is looked at afterwards.
    pub fn places(&self) -> Vec<Place> {
        let mut places = vec![
            Place::V(20),
            Place::V(21),
            Place::Vcc(0),
            Place::Vcc(1),
            Place::S(20),
            Place::S(21),
        ];
        if self.is_scalar() {
            places = vec![
                Place::S(20),
                Place::S(21),
                Place::Scc,
                Place::Exec,
                Place::ExecHigh,
            ];
        }
        for outcome in &self.outcomes {
            for (name, _) in &outcome.values {
                for half in 0..2 {
                    let place = Place::parse(name).half(half);
                    if !places.contains(&place) && (half == 0 || matches!(place, Place::ExecHigh)) {
                        places.push(place);
                    }
                }
            }
        }
        places
    }
}

impl Outcome<'_> {
    /// What a place holds, by lane.
    pub fn expected(
        &self,
        place: Place,
        vector: &Vector<'_>,
        sources: &[(Place, Row)],
        exec: u64,
    ) -> Option<Row> {
        let (whole, half) = place.whole();
        let told = self
            .values
            .iter()
            .find(|(name, _)| Place::parse(name) == whole)
            .map(|(_, values)| values);
        let part = |value: u64| (value >> (32 * half)) as u32;
        if vector.is_scalar() {
            let Some(values) = told else {
                assert_eq!(whole, Place::Exec, "{}: nothing about {place}", vector.text);
                return Some([part(VCC); 64]);
            };
            return Some(std::array::from_fn(|lane| match whole {
                Place::Scc => (values[0] >> lane) as u32 & 1,
                _ => part(values[lane]),
            }));
        }
        if let Place::V(register) = whole {
            let old = sources
                .iter()
                .find(|(place, _)| *place == whole)
                .map(|(_, row)| *row);
            let old = old.unwrap_or_else(|| [if register == 20 { OLD[0] } else { OLD[1] }; 64]);
            return Some(std::array::from_fn(|lane| match told {
                Some(values) if exec >> lane & 1 != 0 => values[lane] as u32,
                _ => old[lane],
            }));
        }
        let (old, name) = match whole {
            Place::Vcc(_) => (VCC, ", vcc,"),
            Place::S(_) => (u64::from(OLD[0]) | u64::from(OLD[1]) << 32, "s[20:21]"),
            _ => (exec, "exec"),
        };
        match told {
            Some(values) if vector.mnemonic().starts_with("v_read") => Some([part(values[0]); 64]),
            Some(values) => Some([part(values[0] & exec); 64]),
            // It is written, and the emulator does not know with what.
            None if vector.text.contains(name) => None,
            None => Some([part(old); 64]),
        }
    }
}

/// A float format: its bits, and those of its fraction.
const FORMATS: [(&str, u32, u32); 3] = [("f16", 16, 10), ("f32", 32, 23), ("f64", 64, 52)];

/// Functions that the hardware promises to a unit in the last place; the emulator's own answers are as far off.
const ABOUT: [&str; 7] = ["exp", "log", "rcp", "rsq", "sqrt", "sin", "cos"];

/// Whether two values are as good as equal: ours and theirs, and the same of the pair of registers that they are part of.
pub fn alike(vector: &Vector<'_>, place: Place, values: [u32; 2], pairs: &dyn Fn() -> [u64; 2]) -> bool {
    let [ours, theirs] = values;
    if ours == theirs || !matches!(place, Place::V(_)) || vector.text.contains("dst_sel:BYTE") {
        return ours == theirs;
    }
    let name = vector.mnemonic();
    let format = |part: &str| FORMATS.iter().find(|(format, ..)| *format == part);
    let Some((_, bits, fraction)) = name.split('_').find_map(format) else {
        return false;
    };
    let about = name.split('_').any(|part| ABOUT.contains(&part));
    let close = |[ours, theirs]: [u64; 2]| close(ours, theirs, *bits, *fraction, about);
    match bits {
        16 => (0..2).all(|half| close(values.map(|value| u64::from(value >> (16 * half) & 0xffff)))),
        32 => close(values.map(u64::from)),
        _ => close(pairs()),
    }
}

/// Quiet NaNs are one, and functions that are known about may be off by two.
fn close(ours: u64, theirs: u64, bits: u32, fraction: u32, about: bool) -> bool {
    let magnitude = u64::MAX >> (65 - bits);
    let quiet = magnitude & !((1 << (fraction - 1)) - 1);
    let nan = |value: u64| value & quiet == quiet;
    let near = about && ours >> (bits - 1) == theirs >> (bits - 1) && ours.abs_diff(theirs) <= 2;
    ours == theirs || nan(ours) && nan(theirs) || near
}
