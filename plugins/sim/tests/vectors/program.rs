//! The program around an instruction: loads its sources, sets masks, and stores what is there afterwards.

use std::fmt;

use super::{Row, Vector, CARRY, LANE, OLD, PI, VCC};

/// Where a value lies, 32 bits of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    V(u8),
    S(u8),
    /// VCC, or its upper half.
    Vcc(u8),
    Exec,
    ExecHigh,
    Scc,
}

impl Place {
    pub fn parse(name: &str) -> Self {
        let number = || {
            name[1..]
                .parse()
                .unwrap_or_else(|_| panic!("{name} is no register"))
        };
        match name {
            "vcc" => Self::Vcc(0),
            "exec" => Self::Exec,
            "scc" => Self::Scc,
            _ if name.starts_with('v') => Self::V(number()),
            _ => Self::S(number()),
        }
    }

    /// The lower or upper half of what begins here.
    pub fn half(self, half: usize) -> Self {
        match (self, half) {
            (_, 0) => self,
            (Self::V(n), _) => Self::V(n + 1),
            (Self::S(n), _) => Self::S(n + 1),
            (Self::Vcc(_), _) => Self::Vcc(1),
            (Self::Exec, _) => Self::ExecHigh,
            _ => self,
        }
    }

    /// The pair of scalar registers that this is a half of, and which.
    pub fn whole(self) -> (Self, usize) {
        match self {
            Self::Vcc(half) => (Self::Vcc(0), half.into()),
            Self::S(21) => (Self::S(20), 1),
            Self::ExecHigh => (Self::Exec, 1),
            other => (other, 0),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V(n) => write!(f, "v{n}"),
            Self::S(n) => write!(f, "s{n}"),
            Self::Vcc(half) => write!(f, "vcc/{half}"),
            Self::Exec => write!(f, "exec/0"),
            Self::ExecHigh => write!(f, "exec/1"),
            Self::Scc => write!(f, "scc"),
        }
    }
}

/// Registers of the program itself.
const OFFSET: u32 = 240;
const FROM: u32 = 40;
const TO: u32 = 42;
/// Where rows wait that scalar registers take their values from, and where scalar results are kept.
const WAITING: u32 = 100;
const KEPT: u32 = 200;
const SAVED_EXEC: u32 = 26;
const SAVED_VCC: u32 = 28;
const SAVED_SCC: u32 = 30;
const ENTRY_EXEC: u32 = 24;

const VCC_REGISTER: u32 = 106;
const EXEC: u32 = 126;
const ALL_ONES: u32 = 193;
const ZERO: u32 = 128;

fn s_mov_b32(to: u32, value: u32) -> [u32; 2] {
    [0xbe80_00ff | to << 16, value]
}

fn s_mov_b64(to: u32, from: u32) -> u32 {
    0xbe80_0100 | to << 16 | from
}

fn set_pair(words: &mut Vec<u32>, to: u32, value: u64) {
    words.extend(s_mov_b32(to, value as u32));
    words.extend(s_mov_b32(to + 1, (value >> 32) as u32));
}

fn v_readlane_b32(to: u32, from: u32, lane: u32) -> [u32; 2] {
    [0xd289_0000 | to, (256 + from) | (ZERO + lane) << 9]
}

fn v_writelane_b32(to: u32, from: u32, lane: u32) -> [u32; 2] {
    [0xd28a_0000 | to, from | (ZERO + lane) << 9]
}

/// What goes between 4096-byte steps of the offset, beyond which an instruction does not reach.
fn step(words: &mut Vec<u32>, row: usize) -> u32 {
    const V_ADD_U32: u32 = 0x6800_00ff;
    if row > 0 && row.is_multiple_of(16) {
        words.extend([V_ADD_U32 | OFFSET << 17 | OFFSET << 9, 4096]);
    }
    (row % 16 * 256) as u32
}

fn set_offset(words: &mut Vec<u32>) {
    const V_MBCNT_LO: u32 = 0xd28c_0000;
    const V_MBCNT_HI: u32 = 0xd28d_0000;
    const V_LSHLREV_B32_2: u32 = 0x2400_0082;
    words.extend([V_MBCNT_LO | OFFSET, ALL_ONES | ZERO << 9]);
    words.extend([V_MBCNT_HI | OFFSET, ALL_ONES | (256 + OFFSET) << 9]);
    words.push(V_LSHLREV_B32_2 | OFFSET << 17 | OFFSET << 9);
}

/// The program.
pub fn make(vector: &Vector<'_>, sources: &[(Place, Row)], places: &[Place], exec: u64) -> Vec<u32> {
    const S_LOAD_DWORDX4: u32 = 0xc00a_0000;
    const S_WAITCNT: u32 = 0xbf8c_0000;
    const S_ENDPGM: u32 = 0xbf81_0000;
    let mut words = vec![S_LOAD_DWORDX4 | FROM << 6 | 8 >> 1, 0, S_WAITCNT];
    set_offset(&mut words);
    for (i, (place, _)) in sources.iter().enumerate() {
        let to = match place {
            Place::V(n) => u32::from(*n),
            _ => WAITING + i as u32,
        };
        let offset = step(&mut words, i);
        words.extend([0xdc50_8000 | offset, to << 24 | FROM << 16 | OFFSET]);
    }
    words.push(S_WAITCNT);
    for (n, old) in OLD.iter().enumerate() {
        if !sources.iter().any(|(place, _)| *place == Place::V(20 + n as u8)) {
            words.extend([0x7e00_02ff | (20 + n as u32) << 17, *old]);
        }
    }
    set_pair(&mut words, 4, PI);
    words.extend(s_mov_b32(6, LANE));
    set_pair(&mut words, 20, u64::from(OLD[0]) | u64::from(OLD[1]) << 32);
    set_pair(&mut words, 22, CARRY);
    if vector.is_scalar() {
        set_pair(&mut words, ENTRY_EXEC, VCC);
        for lane in 0..64 {
            one_lane(&mut words, vector, sources, places, lane);
        }
        words.push(s_mov_b64(EXEC, ALL_ONES));
    } else {
        set_pair(&mut words, VCC_REGISTER, VCC);
        set_pair(&mut words, EXEC, exec);
        words.extend(&vector.words);
        words.extend([
            s_mov_b64(SAVED_EXEC, EXEC),
            s_mov_b64(SAVED_VCC, VCC_REGISTER),
            s_mov_b64(EXEC, ALL_ONES),
        ]);
        for (i, place) in places.iter().enumerate() {
            if let Some(from) = saved(*place) {
                words.push(0x7e00_0200 | (KEPT + i as u32) << 17 | from);
            }
        }
    }
    set_offset(&mut words);
    for (i, place) in places.iter().enumerate() {
        let from = match place {
            Place::V(n) => u32::from(*n),
            _ => KEPT + i as u32,
        };
        let offset = step(&mut words, i);
        words.extend([0xdc70_8000 | offset, TO << 16 | from << 8 | OFFSET]);
    }
    words.push(S_ENDPGM);
    words
}

/// The scalar register in which a place is found after the instruction.
fn saved(place: Place) -> Option<u32> {
    Some(match place {
        Place::V(_) => return None,
        Place::S(n) => n.into(),
        Place::Vcc(half) => SAVED_VCC + u32::from(half),
        Place::Exec => SAVED_EXEC,
        Place::ExecHigh => SAVED_EXEC + 1,
        Place::Scc => SAVED_SCC,
    })
}

/// Runs a scalar instruction with the values of one lane.
fn one_lane(
    words: &mut Vec<u32>,
    vector: &Vector<'_>,
    sources: &[(Place, Row)],
    places: &[Place],
    lane: u32,
) {
    const S_CMP_LG_U32: u32 = 0xbf07_0000;
    const S_CSELECT_B32: u32 = 0x8500_0000;
    for (i, (place, _)) in sources.iter().enumerate() {
        if let Place::S(_) | Place::Scc = place {
            let to = saved(*place).expect("a scalar register");
            words.extend(v_readlane_b32(to, WAITING + i as u32, lane));
        }
    }
    words.push(s_mov_b64(EXEC, ENTRY_EXEC));
    words.push(S_CMP_LG_U32 | ZERO << 8 | SAVED_SCC);
    words.extend(&vector.words);
    words.push(S_CSELECT_B32 | SAVED_SCC << 16 | ZERO << 8 | (ZERO + 1));
    words.push(s_mov_b64(SAVED_EXEC, EXEC));
    for (i, place) in places.iter().enumerate() {
        if let Some(from) = saved(*place) {
            words.extend(v_writelane_b32(KEPT + i as u32, from, lane));
        }
    }
}
