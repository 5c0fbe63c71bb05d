//! The enumerations of BRIG, as newtypes: an unknown value can be read, shown and refused.

/// Declares enumerations over integers.
macro_rules! values {
    ($($(#[$meta:meta])* $Name:ident: $Int:ty { $($Value:ident = $value:literal => $text:literal,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $Name(pub $Int);

            impl $Name {
                $(#[doc = concat!("`", $text, "`.")] pub const $Value: Self = Self($value);)*

                /// Its name in HSAIL, if it has one.
                #[must_use]
                pub const fn name(self) -> Option<&'static str> {
                    match self.0 {
                        $($value => Some($text),)*
                        _ => None,
                    }
                }
            }
        )*
    };
}
pub(super) use values;

values! {
    /// Where memory is (section 2.8).
    Segment: u8 {
        NONE = 0 => "none",
        FLAT = 1 => "flat",
        GLOBAL = 2 => "global",
        READONLY = 3 => "readonly",
        KERNARG = 4 => "kernarg",
        GROUP = 5 => "group",
        PRIVATE = 6 => "private",
        SPILL = 7 => "spill",
        ARG = 8 => "arg",
    }

    /// Who can see a symbol.
    Linkage: u8 {
        NONE = 0 => "none",
        PROGRAM = 1 => "program",
        MODULE = 2 => "module",
        FUNCTION = 3 => "function",
        ARG = 4 => "arg",
    }

    /// How often a variable exists.
    Allocation: u8 {
        NONE = 0 => "none",
        PROGRAM = 1 => "program",
        AGENT = 2 => "agent",
        AUTOMATIC = 3 => "automatic",
    }

    /// Size of a register: 1, 32, 64 or 128 bits.
    RegisterKind: u16 {
        CONTROL = 0 => "$c",
        SINGLE = 1 => "$s",
        DOUBLE = 2 => "$d",
        QUAD = 3 => "$q",
    }

    /// Width of addresses; the numbers of `hsa_machine_model_t`.
    MachineModel: u8 {
        SMALL = 0 => "$small",
        LARGE = 1 => "$large",
    }

    /// The numbers of `hsa_profile_t`.
    Profile: u8 {
        BASE = 0 => "$base",
        FULL = 1 => "$full",
    }

    /// Rounding. The `I` values are of conversions to integers, and signal inexact results with an `S` before the `I`;
    /// those with `SAT` saturate.
    Round: u8 {
        NONE = 0 => "none",
        DEFAULT = 1 => "default",
        NEAR = 2 => "near",
        ZERO = 3 => "zero",
        UP = 4 => "up",
        DOWN = 5 => "down",
        I_NEAR = 6 => "neari",
        I_ZERO = 7 => "zeroi",
        I_UP = 8 => "upi",
        I_DOWN = 9 => "downi",
        I_NEAR_SAT = 10 => "neari_sat",
        I_ZERO_SAT = 11 => "zeroi_sat",
        I_UP_SAT = 12 => "upi_sat",
        I_DOWN_SAT = 13 => "downi_sat",
        SI_NEAR = 14 => "sneari",
        SI_ZERO = 15 => "szeroi",
        SI_UP = 16 => "supi",
        SI_DOWN = 17 => "sdowni",
        SI_NEAR_SAT = 18 => "sneari_sat",
        SI_ZERO_SAT = 19 => "szeroi_sat",
        SI_UP_SAT = 20 => "supi_sat",
        SI_DOWN_SAT = 21 => "sdowni_sat",
    }

    /// Order of a memory operation.
    MemoryOrder: u8 {
        NONE = 0 => "none",
        RELAXED = 1 => "rlx",
        ACQUIRE = 2 => "scacq",
        RELEASE = 3 => "screl",
        ACQUIRE_RELEASE = 4 => "scar",
    }

    /// Who a memory operation synchronizes with.
    MemoryScope: u8 {
        NONE = 0 => "none",
        WORKITEM = 1 => "wi",
        WAVEFRONT = 2 => "wave",
        WORKGROUP = 3 => "wg",
        AGENT = 4 => "agent",
        SYSTEM = 5 => "system",
    }

    /// Operation of an atomic or of a signal.
    AtomicOp: u8 {
        ADD = 0 => "add",
        AND = 1 => "and",
        CAS = 2 => "cas",
        EXCHANGE = 3 => "exch",
        LOAD = 4 => "ld",
        MAX = 5 => "max",
        MIN = 6 => "min",
        OR = 7 => "or",
        STORE = 8 => "st",
        SUB = 9 => "sub",
        WRAP_DEC = 10 => "wrapdec",
        WRAP_INC = 11 => "wrapinc",
        XOR = 12 => "xor",
        WAIT_EQ = 13 => "wait_eq",
        WAIT_NE = 14 => "wait_ne",
        WAIT_LT = 15 => "wait_lt",
        WAIT_GTE = 16 => "wait_gte",
        WAIT_TIMEOUT_EQ = 17 => "waittimeout_eq",
        WAIT_TIMEOUT_NE = 18 => "waittimeout_ne",
        WAIT_TIMEOUT_LT = 19 => "waittimeout_lt",
        WAIT_TIMEOUT_GTE = 20 => "waittimeout_gte",
    }

    /// Comparison. `U` forms are true for unordered operands; `S` forms signal quiet NaNs.
    Compare: u8 {
        EQ = 0 => "eq",
        NE = 1 => "ne",
        LT = 2 => "lt",
        LE = 3 => "le",
        GT = 4 => "gt",
        GE = 5 => "ge",
        EQU = 6 => "equ",
        NEU = 7 => "neu",
        LTU = 8 => "ltu",
        LEU = 9 => "leu",
        GTU = 10 => "gtu",
        GEU = 11 => "geu",
        NUM = 12 => "num",
        NAN = 13 => "nan",
        SEQ = 14 => "seq",
        SNE = 15 => "sne",
        SLT = 16 => "slt",
        SLE = 17 => "sle",
        SGT = 18 => "sgt",
        SGE = 19 => "sge",
        SGEU = 20 => "sgeu",
        SEQU = 21 => "sequ",
        SNEU = 22 => "sneu",
        SLTU = 23 => "sltu",
        SLEU = 24 => "sleu",
        SNUM = 25 => "snum",
        SNAN = 26 => "snan",
        SGTU = 27 => "sgtu",
    }

    /// Which lanes of packed operands take part, and whether results saturate.
    Pack: u8 {
        NONE = 0 => "none",
        PP = 1 => "pp",
        PS = 2 => "ps",
        SP = 3 => "sp",
        SS = 4 => "ss",
        S = 5 => "s",
        P = 6 => "p",
        PP_SAT = 7 => "pp_sat",
        PS_SAT = 8 => "ps_sat",
        SP_SAT = 9 => "sp_sat",
        SS_SAT = 10 => "ss_sat",
        S_SAT = 11 => "s_sat",
        P_SAT = 12 => "p_sat",
    }

    /// Control directives; the numbers are the bits of `hsa_ext_control_directives_t`'s mask.
    ControlKind: u16 {
        NONE = 0 => "none",
        ENABLE_BREAK_EXCEPTIONS = 1 => "enablebreakexceptions",
        ENABLE_DETECT_EXCEPTIONS = 2 => "enabledetectexceptions",
        MAX_DYNAMIC_GROUP_SIZE = 3 => "maxdynamicgroupsize",
        MAX_FLAT_GRID_SIZE = 4 => "maxflatgridsize",
        MAX_FLAT_WORKGROUP_SIZE = 5 => "maxflatworkgroupsize",
        REQUIRED_DIM = 6 => "requireddim",
        REQUIRED_GRID_SIZE = 7 => "requiredgridsize",
        REQUIRED_WORKGROUP_SIZE = 8 => "requiredworkgroupsize",
        REQUIRE_NO_PARTIAL_WORKGROUPS = 9 => "requirenopartialworkgroups",
    }

    /// Shape of an image.
    Geometry: u8 {
        D1 = 0 => "1d",
        D2 = 1 => "2d",
        D3 = 2 => "3d",
        D1_ARRAY = 3 => "1da",
        D2_ARRAY = 4 => "2da",
        D1_BUFFER = 5 => "1db",
        D2_DEPTH = 6 => "2ddepth",
        D2_ARRAY_DEPTH = 7 => "2dadepth",
    }

    /// What `queryimage` asks.
    ImageQuery: u8 {
        WIDTH = 0 => "width",
        HEIGHT = 1 => "height",
        DEPTH = 2 => "depth",
        ARRAY = 3 => "array",
        CHANNEL_ORDER = 4 => "channelorder",
        CHANNEL_TYPE = 5 => "channeltype",
    }

    /// What `querysampler` asks.
    SamplerQuery: u8 {
        ADDRESSING = 0 => "addressing",
        COORDINATES = 1 => "coord",
        FILTER = 2 => "filter",
    }

    /// Channels of an image.
    ChannelOrder: u8 {
        A = 0 => "a",
        R = 1 => "r",
        RX = 2 => "rx",
        RG = 3 => "rg",
        RGX = 4 => "rgx",
        RA = 5 => "ra",
        RGB = 6 => "rgb",
        RGBX = 7 => "rgbx",
        RGBA = 8 => "rgba",
        BGRA = 9 => "bgra",
        ARGB = 10 => "argb",
        ABGR = 11 => "abgr",
        SRGB = 12 => "srgb",
        SRGBX = 13 => "srgbx",
        SRGBA = 14 => "srgba",
        SBGRA = 15 => "sbgra",
        INTENSITY = 16 => "intensity",
        LUMINANCE = 17 => "luminance",
        DEPTH = 18 => "depth",
        DEPTH_STENCIL = 19 => "depth_stencil",
    }

    /// Type of a channel of an image.
    ChannelType: u8 {
        SNORM_INT8 = 0 => "snorm_int8",
        SNORM_INT16 = 1 => "snorm_int16",
        UNORM_INT8 = 2 => "unorm_int8",
        UNORM_INT16 = 3 => "unorm_int16",
        UNORM_INT24 = 4 => "unorm_int24",
        UNORM_SHORT_555 = 5 => "unorm_short_555",
        UNORM_SHORT_565 = 6 => "unorm_short_565",
        UNORM_INT_101010 = 7 => "unorm_int_101010",
        SIGNED_INT8 = 8 => "signed_int8",
        SIGNED_INT16 = 9 => "signed_int16",
        SIGNED_INT32 = 10 => "signed_int32",
        UNSIGNED_INT8 = 11 => "unsigned_int8",
        UNSIGNED_INT16 = 12 => "unsigned_int16",
        UNSIGNED_INT32 = 13 => "unsigned_int32",
        HALF_FLOAT = 14 => "half_float",
        FLOAT = 15 => "float",
    }

    /// Coordinates of a sampler.
    SamplerCoordinates: u8 {
        UNNORMALIZED = 0 => "unnormalized",
        NORMALIZED = 1 => "normalized",
    }

    /// Filter of a sampler.
    SamplerFilter: u8 {
        NEAREST = 0 => "nearest",
        LINEAR = 1 => "linear",
    }

    /// What a sampler does outside an image.
    SamplerAddressing: u8 {
        UNDEFINED = 0 => "undefined",
        CLAMP_TO_EDGE = 1 => "clamp_to_edge",
        CLAMP_TO_BORDER = 2 => "clamp_to_border",
        REPEAT = 3 => "repeat",
        MIRRORED_REPEAT = 4 => "mirrored_repeat",
    }
}

/// An alignment: 0 is none, `n` is 2 to the power of `n - 1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Align(pub u8);

impl Align {
    /// The greatest: 256 bytes.
    pub const MAX: Self = Self(9);

    /// Bytes; `None` for no alignment and for a value that is none.
    #[must_use]
    pub fn bytes(self) -> Option<u32> {
        (1..=Self::MAX.0).contains(&self.0).then(|| 1 << (self.0 - 1))
    }
}

/// How many neighbouring work-items do the same: 0 is none, `n` up to 32 is 2 to the power of `n - 1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Width(pub u8);

impl Width {
    /// `WAVESIZE`.
    pub const WAVESIZE: Self = Self(33);
    /// `all`.
    pub const ALL: Self = Self(34);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignments_are_powers_of_two_up_to_256() {
        assert_eq!(Align(0).bytes(), None);
        assert_eq!(Align(1).bytes(), Some(1));
        assert_eq!(Align::MAX.bytes(), Some(256));
        assert_eq!(Align(10).bytes(), None);
    }

    #[test]
    fn unknown_values_have_no_name() {
        assert_eq!(Segment::GROUP.name(), Some("group"));
        assert_eq!(Segment(9).name(), None);
        assert_eq!(Compare(27).name(), Some("sgtu"));
        assert_eq!(Compare(28).name(), None);
    }
}
