//! The processors that the decoder knows, and sets of them.

use std::fmt;
use std::str::FromStr;

/// A processor of the GFX9 family, by LLVM's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Vega 10.
    Gfx900,
    /// Vega 20.
    Gfx906,
    /// MI100 (CDNA 1).
    Gfx908,
    /// MI200 (CDNA 2).
    Gfx90a,
}

impl Target {
    /// Every target, oldest first.
    pub const ALL: [Self; 4] = [Self::Gfx900, Self::Gfx906, Self::Gfx908, Self::Gfx90a];

    /// The target that LLVM calls `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// LLVM's name, such as `gfx90a`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx900 => "gfx900",
            Self::Gfx906 => "gfx906",
            Self::Gfx908 => "gfx908",
            Self::Gfx90a => "gfx90a",
        }
    }

    /// Position in [`Target::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether the target has accumulation registers (AGPRs) that matrix instructions use.
    #[must_use]
    pub const fn has_agprs(self) -> bool {
        matches!(self, Self::Gfx908 | Self::Gfx90a)
    }

    /// Whether registers have an error correcting code.
    #[must_use]
    pub const fn has_sram_ecc(self) -> bool {
        !matches!(self, Self::Gfx900)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A processor name that is not a [`Target`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Unknown processor {0:?}; accepted are gfx900, gfx906, gfx908, gfx90a")]
pub struct UnknownTarget(pub String);

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        Self::from_name(name).ok_or_else(|| UnknownTarget(name.to_owned()))
    }
}

/// The targets on which an instruction exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TargetSet(u8);

impl TargetSet {
    /// Every target.
    pub const ALL: Self = Self(0b1111);

    /// The set with exactly these members.
    #[must_use]
    pub const fn of(members: &[Target]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < members.len() {
            bits |= 1 << members[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// Whether `target` is a member.
    #[must_use]
    pub const fn contains(self, target: Target) -> bool {
        self.0 & (1 << target as u8) != 0
    }

    /// Whether both sets have a member in common.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl TargetSet {
    /// gfx900 alone.
    pub(super) const GFX900: Self = Self::of(&[Target::Gfx900]);
    /// gfx906 and later.
    pub(super) const GFX906_UP: Self = Self::of(&[Target::Gfx906, Target::Gfx908, Target::Gfx90a]);
    /// gfx908 alone.
    pub(super) const GFX908: Self = Self::of(&[Target::Gfx908]);
    /// gfx908 and later.
    pub(super) const GFX908_UP: Self = Self::of(&[Target::Gfx908, Target::Gfx90a]);
    /// gfx90a alone.
    pub(super) const GFX90A: Self = Self::of(&[Target::Gfx90a]);
    /// Up to gfx908.
    pub(super) const TO_GFX908: Self = Self::of(&[Target::Gfx900, Target::Gfx906, Target::Gfx908]);
}
