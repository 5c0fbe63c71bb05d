//! Kinds of entries and where their members lie (PRM 18.3 to 18.7). All numbers are little endian.

/// Kinds of directives.
pub(super) mod directive {
    pub(crate) const ARG_BLOCK_END: u16 = 0x1000;
    pub(crate) const ARG_BLOCK_START: u16 = 0x1001;
    pub(crate) const COMMENT: u16 = 0x1002;
    pub(crate) const CONTROL: u16 = 0x1003;
    pub(crate) const EXTENSION: u16 = 0x1004;
    pub(crate) const FBARRIER: u16 = 0x1005;
    pub(crate) const FUNCTION: u16 = 0x1006;
    pub(crate) const INDIRECT_FUNCTION: u16 = 0x1007;
    pub(crate) const KERNEL: u16 = 0x1008;
    pub(crate) const LABEL: u16 = 0x1009;
    pub(crate) const LOC: u16 = 0x100a;
    pub(crate) const MODULE: u16 = 0x100b;
    pub(crate) const PRAGMA: u16 = 0x100c;
    pub(crate) const SIGNATURE: u16 = 0x100d;
    pub(crate) const VARIABLE: u16 = 0x100e;
}

/// Kinds of instructions.
pub(super) mod instruction {
    pub(crate) const ADDR: u16 = 0x2000;
    pub(crate) const ATOMIC: u16 = 0x2001;
    pub(crate) const BASIC: u16 = 0x2002;
    pub(crate) const BR: u16 = 0x2003;
    pub(crate) const CMP: u16 = 0x2004;
    pub(crate) const CVT: u16 = 0x2005;
    pub(crate) const IMAGE: u16 = 0x2006;
    pub(crate) const LANE: u16 = 0x2007;
    pub(crate) const MEM: u16 = 0x2008;
    pub(crate) const MEM_FENCE: u16 = 0x2009;
    pub(crate) const MOD: u16 = 0x200a;
    pub(crate) const QUERY_IMAGE: u16 = 0x200b;
    pub(crate) const QUERY_SAMPLER: u16 = 0x200c;
    pub(crate) const QUEUE: u16 = 0x200d;
    pub(crate) const SEG: u16 = 0x200e;
    pub(crate) const SEG_CVT: u16 = 0x200f;
    pub(crate) const SIGNAL: u16 = 0x2010;
    pub(crate) const SOURCE_TYPE: u16 = 0x2011;
}

/// Kinds of operands.
pub(super) mod operand {
    pub(crate) const ADDRESS: u16 = 0x3000;
    pub(crate) const ALIGN: u16 = 0x3001;
    pub(crate) const CODE_LIST: u16 = 0x3002;
    pub(crate) const CODE_REF: u16 = 0x3003;
    pub(crate) const CONSTANT_BYTES: u16 = 0x3004;
    pub(crate) const CONSTANT_IMAGE: u16 = 0x3006;
    pub(crate) const CONSTANT_OPERAND_LIST: u16 = 0x3007;
    pub(crate) const CONSTANT_SAMPLER: u16 = 0x3008;
    pub(crate) const OPERAND_LIST: u16 = 0x3009;
    pub(crate) const REGISTER: u16 = 0x300a;
    pub(crate) const STRING: u16 = 0x300b;
    pub(crate) const WAVESIZE: u16 = 0x300c;
}

/// Filler, which is skipped.
pub(super) const NONE: u16 = 0;

/// Bytes in front of every entry: its size and its kind.
pub(super) const ENTRY_BASE: u32 = 4;

/// The least bytes of an entry of the code; `None` for an unknown kind.
pub(super) const fn code_bytes(kind: u16) -> Option<u32> {
    use directive as d;
    use instruction as i;
    Some(match kind {
        NONE | d::ARG_BLOCK_END | d::ARG_BLOCK_START => 4,
        d::COMMENT | d::EXTENSION | d::LABEL | d::PRAGMA => 8,
        d::CONTROL | d::FBARRIER | i::BASIC => 12,
        d::LOC => 16,
        d::MODULE => 20,
        d::FUNCTION | d::INDIRECT_FUNCTION | d::KERNEL | d::SIGNATURE | d::VARIABLE => 28,
        i::ATOMIC | i::CMP | i::IMAGE | i::MEM => 20,
        i::ADDR
        | i::BR
        | i::CVT
        | i::LANE
        | i::MEM_FENCE
        | i::MOD
        | i::QUERY_IMAGE
        | i::QUERY_SAMPLER
        | i::QUEUE
        | i::SEG
        | i::SEG_CVT
        | i::SIGNAL
        | i::SOURCE_TYPE => 16,
        _ => return None,
    })
}

/// The least bytes of an operand; `None` for an unknown kind.
pub(super) const fn operand_bytes(kind: u16) -> Option<u32> {
    use operand as o;
    Some(match kind {
        NONE | o::WAVESIZE => 4,
        o::ALIGN | o::CODE_LIST | o::CODE_REF | o::OPERAND_LIST | o::REGISTER | o::STRING => 8,
        o::CONSTANT_BYTES | o::CONSTANT_OPERAND_LIST | o::CONSTANT_SAMPLER => 12,
        o::ADDRESS => 20,
        o::CONSTANT_IMAGE => 44,
        _ => return None,
    })
}

/// Whether a kind of the code is an instruction.
pub(super) const fn is_instruction(kind: u16) -> bool {
    kind >> 12 == 2
}

/// Whether a kind of the code is a kernel, a function or a signature.
pub(super) const fn is_executable(kind: u16) -> bool {
    use directive as d;
    matches!(
        kind,
        d::FUNCTION | d::INDIRECT_FUNCTION | d::KERNEL | d::SIGNATURE
    )
}
