//! Programs that nobody wrote: functions made at random from fixed seeds, compiled for every target without, with some
//! and with all optimisation, run in random shapes on values that favour the edges, and compared with the host.

#![allow(clippy::cast_possible_truncation, reason = "random numbers are cut to size")]

mod against_host;
mod exec_support;

use std::fmt::Write;

use against_host::{check, host_library, Case, Shape};
use exec_support::Build;
use hansa_sim::exec::Level;
use hansa_sim::isa::Target;

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A type: its name, and the unsigned type that its arithmetic is done in, as signed overflow has no meaning.
type Type = (&'static str, &'static str);

const INTEGERS: [Type; 8] = [
    ("int", "uint"),
    ("uint", "uint"),
    ("long", "ulong"),
    ("ulong", "ulong"),
    ("short", "uint"),
    ("ushort", "uint"),
    ("char", "uint"),
    ("uchar", "uint"),
];
const FLOATS: [&str; 2] = ["float", "double"];

/// A function under construction: variables `v0`, `v1`.. with their types, an array `t` of eight, and a `zero` that compilers
/// know nothing of.
struct Function {
    random: Random,
    variables: Vec<&'static str>,
    array: Type,
    loops: u32,
    body: String,
}

impl Function {
    fn is_float(ty: &str) -> bool {
        FLOATS.contains(&ty)
    }

    /// A variable, as a value of a type.
    fn variable(&mut self, ty: &str) -> String {
        let n = self.random.below(self.variables.len() as u64) as usize;
        self.converted(self.variables[n], ty, &format!("v{n}"))
    }

    /// A value of one type as one of another. Floats outside an integer's range have no meaning there.
    fn converted(&mut self, from: &str, to: &str, value: &str) -> String {
        if Self::is_float(from) && !Self::is_float(to) {
            let (low, high) = if to.starts_with('u') {
                ("0", "200")
            } else {
                ("-100", "100")
            };
            let bound = self.random.below(100);
            return format!("({value} > {low} && {value} < {high} ? ({to}){value} : ({to}){bound})");
        }
        format!("({to}){value}")
    }

    fn literal(&mut self, ty: &str) -> String {
        let small = self.random.below(100);
        if Self::is_float(ty) {
            let suffix = if ty == "float" { "f" } else { "" };
            return format!("({ty}){small}.{}{suffix}", self.random.below(4) * 25);
        }
        match self.random.below(4) {
            0 => format!("({ty})0x{:x}u", self.random.below(1 << 32)),
            1 => format!("({ty})~{small}u"),
            _ => format!("({ty}){small}"),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let float = self.random.below(4) == 0;
        let ty = if float {
            self.random.one_of(&FLOATS)
        } else {
            self.random.one_of(&INTEGERS).0
        };
        let operator = self.random.one_of(&["<", "<=", "==", "!=", ">", ">="]);
        format!("({} {operator} {})", self.value(ty, depth), self.value(ty, depth))
    }

    /// An expression of a type.
    fn value(&mut self, ty: &str, depth: u32) -> String {
        let depth = match depth.checked_sub(1) {
            Some(depth) => depth,
            None if self.random.below(4) == 0 => return self.literal(ty),
            None => return self.variable(ty),
        };
        if self.random.below(8) == 0 {
            let condition = self.condition(depth);
            return format!(
                "({condition} ? {} : {})",
                self.value(ty, depth),
                self.value(ty, depth)
            );
        }
        if Self::is_float(ty) {
            return self.float(ty, depth);
        }
        let unsigned = INTEGERS
            .iter()
            .find(|(name, _)| *name == ty)
            .map_or("uint", |(_, unsigned)| unsigned);
        let (a, b) = (self.value(ty, depth), self.value(ty, depth));
        match self.random.below(11) {
            0..=4 => {
                let operator = self.random.one_of(&["+", "-", "*", "&", "|", "^"]);
                // LLVM 15 multiplies 64-bit numbers by some constants wrongly.
                let hidden = if unsigned == "ulong" && operator == "*" {
                    " ^ zero"
                } else {
                    ""
                };
                format!("({ty})(({unsigned}){a} {operator} (({unsigned}){b}{hidden}))")
            }
            5 => format!("({ty})(({unsigned}){a} << (({b}) & 31))"),
            6 => format!("({ty})({a} >> (({b}) & 7))"),
            7 | 8 => {
                let operator = self.random.one_of(&["/", "%"]);
                // LLVM 15 divides numbers that it knows to have 24 bits wrongly.
                let wide = match ty {
                    "short" | "char" => "int",
                    "ushort" | "uchar" => "uint",
                    _ => ty,
                };
                format!("({ty})((({wide}){a} ^ ({wide})zero) {operator} ({wide})((({b}) & 63) + 1))")
            }
            9 => {
                let element = format!("t[({a}) & 7]");
                self.converted(self.array.0, ty, &element)
            }
            _ => {
                let other = self
                    .random
                    .one_of(&["char", "uchar", "short", "ushort", "int", "ulong"]);
                format!("({ty})({other})(({unsigned}){a} ^ ({unsigned}){b})")
            }
        }
    }

    fn float(&mut self, ty: &str, depth: u32) -> String {
        let suffix = if ty == "float" { "F" } else { "" };
        let (a, b) = (self.value(ty, depth), self.value(ty, depth));
        match self.random.below(10) {
            0..=4 => format!("({a} {} {b})", self.random.one_of(&["+", "-", "*", "/"])),
            5 => format!("FMA{suffix}({a}, {b}, {})", self.value(ty, depth)),
            6 => format!("(-{a})"),
            7 => format!(
                "{}{suffix}({a})",
                self.random.one_of(&["FLOOR", "CEIL", "TRUNC", "RINT", "SQRT"])
            ),
            8 => {
                let from = self.random.one_of(&INTEGERS).0;
                format!("(({ty}){})", self.value(from, depth))
            }
            _ => {
                let other = self.random.one_of(&FLOATS);
                format!("(({ty}){})", self.value(other, depth))
            }
        }
    }

    fn statement(&mut self, depth: u32) {
        match self.random.below(if depth == 0 { 4 } else { 8 }) {
            0..=2 => {
                let n = self.random.below(self.variables.len() as u64) as usize;
                let value = self.value(self.variables[n], 2);
                let _ = write!(self.body, "v{n} = {value}; ");
            }
            3 => {
                let (at, value) = (self.value("uint", 1), self.value(self.array.0, 2));
                let _ = write!(self.body, "t[{at} & 7] = {value}; ");
            }
            4 | 5 => {
                let condition = self.condition(1);
                let _ = write!(self.body, "if {condition} {{ ");
                self.block(depth - 1);
                if self.random.below(2) == 0 {
                    self.body.push_str("} else { ");
                    self.block(depth - 1);
                }
                self.body.push_str("} ");
            }
            6 => {
                let (i, count) = (self.loops, self.value("uint", 1));
                self.loops += 1;
                let _ = write!(self.body, "for (uint i{i} = 0; i{i} < ({count} & 7); i{i}++) {{ ");
                self.block(depth - 1);
                let (how, condition) = (self.random.one_of(&["break", "continue"]), self.condition(1));
                let _ = write!(self.body, "if {condition} {how}; ");
                self.block(depth - 1);
                self.body.push_str("} ");
            }
            _ => {
                let value = self.value("uint", 1);
                let _ = write!(self.body, "switch ({value} & 3) {{ ");
                for case in 0..3 {
                    let _ = write!(self.body, "case {case}: ");
                    self.block(depth - 1);
                    if self.random.below(3) > 0 {
                        self.body.push_str("break; ");
                    }
                }
                self.body.push_str("default: ");
                self.block(depth - 1);
                self.body.push_str("} ");
            }
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..=self.random.below(2) {
            self.statement(depth);
        }
    }

    /// A function: its argument and result types, and its body.
    fn make(seed: u64) -> (&'static str, &'static str, String) {
        let mut random = Random::new(seed);
        let types = ["uint", "int", "ulong", "long", "float", "double"];
        let (from, to) = (random.one_of(&types), random.one_of(&types));
        let variables = vec![
            from,
            from,
            from,
            random.one_of(&INTEGERS).0,
            random.one_of(&INTEGERS).0,
            random.one_of(&FLOATS),
        ];
        // LLVM 15 makes small arrays of bytes vectors, and an element that is set overwrites the next one.
        let array = random.one_of(&INTEGERS[..6]);
        let mut function = Self {
            random,
            variables,
            array,
            loops: 0,
            body: String::new(),
        };
        let _ = write!(
            function.body,
            "volatile ulong zero = 0; {0} t[8]; for (int i = 0; i < 8; i++) t[i] = ({0})(i * 37); ",
            array.0
        );
        for (n, name) in ["a", "b", "c"].iter().enumerate() {
            let _ = write!(function.body, "{from} v{n} = {name}; ");
        }
        for n in 3..function.variables.len() {
            let ty = function.variables[n];
            let value = function.converted(from, ty, "b");
            let _ = write!(function.body, "{ty} v{n} = {value}; ");
        }
        for _ in 0..6 {
            function.statement(2);
        }
        let sum: Vec<String> = (0..function.variables.len())
            .map(|n| function.converted(function.variables[n], to, &format!("v{n}")))
            .collect();
        let joint = if Self::is_float(to) { " + " } else { " ^ " };
        let _ = write!(function.body, "return ({to})({});", sum.join(joint));
        (from, to, function.body)
    }
}

/// A random shape of one to three dimensions, with work-groups that are cut off at its edges.
fn shape(name: &str) -> Shape {
    let mut random = Random::new(name.bytes().fold(7, |sum, byte| sum * 31 + u64::from(byte)));
    let dimensions = random.below(3);
    let mut size = |most: u64| 1 + random.below(most);
    match dimensions {
        0 => ([size(900) as u32, 1, 1], [size(300) as u16, 1, 1]),
        1 => (
            [size(40) as u32, size(30) as u32, 1],
            [size(20) as u16, size(15) as u16, 1],
        ),
        _ => (
            [size(15) as u32, size(12) as u32, size(6) as u32],
            [size(9) as u16, size(8) as u16, size(4) as u16],
        ),
    }
}

/// Random programs of some seeds on one target, and of others where `HANSA_RANDOM_SEED` is a number to add.
fn agree(seeds: std::ops::Range<u64>, target: Target) {
    let others = std::env::var("HANSA_RANDOM_SEED").map_or(0, |text| text.parse().expect("a number"));
    let functions: Vec<_> = seeds
        .clone()
        .map(|seed| seed + others)
        .map(|seed| (format!("random_{seed}"), Function::make(seed)))
        .collect();
    let cases: Vec<Case<'_>> = functions
        .iter()
        .map(|(name, (from, to, body))| (&**name, *from, *to, &**body))
        .collect();
    let Some(host) = host_library(&cases, &format!("random-{target}-{}", seeds.start)) else {
        return;
    };
    for (optimise, level) in [
        ("-O0", Level::chosen()),
        ("-O1", Level::Avx2),
        ("-O3", Level::chosen()),
    ] {
        check(
            &cases,
            Build::new(target, optimise).exact(),
            level.min(Level::chosen()),
            &host,
            shape,
        );
    }
}

#[test]
fn random_programs_agree_on_gfx900() {
    agree(0..32, Target::Gfx900);
}

#[test]
fn random_programs_agree_on_gfx906() {
    agree(32..48, Target::Gfx906);
}

#[test]
fn random_programs_agree_on_gfx908() {
    agree(48..64, Target::Gfx908);
}

#[test]
fn random_programs_agree_on_gfx90a() {
    agree(64..96, Target::Gfx90a);
}
