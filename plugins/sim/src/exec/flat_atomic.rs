//! FLAT and GLOBAL atomics.

use super::atomic::{global_atomic, lane_value, registers, Kind, Rmw};
use super::ds::is_early;
use super::flat::{global_addresses, private_addresses, segments, Segments};
use super::guard::Size;
use super::level::{versions, Host};
use super::op::{Flow, Op, Versions};
use super::wave::Wave;

/// A global atomic.
#[inline(always)]
fn global<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if lanes == 0 {
        return Flow::Next;
    }
    global_addresses(wave, op);
    global_atomic(wave, Kind(op.e), lanes, op.b, op.d)
}

/// A flat atomic, which may mean LDS or private memory.
#[inline(always)]
fn flat<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let Segments {
        global,
        shared,
        private,
    } = segments(wave, op, lanes);
    if is_early(wave, shared) {
        return Flow::Lead;
    }
    let kind = Kind(op.e);
    // The old values go to the destination only when no lane's address is needed any more.
    if global != 0 {
        global_addresses(wave, op);
    }
    let shared_addresses: [u32; 64] =
        std::array::from_fn(|lane| wave.row(op.a).0[lane].wrapping_add(op.x as u32));
    if global != 0 {
        if let flow @ Flow::Fault = global_atomic(wave, kind, global, op.b, op.d) {
            return flow;
        }
    }
    if private != 0 {
        private_addresses(wave, private, |_, lane| shared_addresses[lane]);
        if let flow @ Flow::Fault = global_atomic(wave, kind, private, op.b, op.d) {
            return flow;
        }
    }
    if shared != 0 {
        shared_atomic(wave, kind, shared, &shared_addresses, op.b, op.d);
    }
    Flow::Next
}

/// The operation on LDS.
fn shared_atomic(wave: &mut Wave, kind: Kind, lanes: u64, addresses: &[u32; 64], data: u16, dst: u16) {
    let size = kind.size();
    let second = data + registers(size);
    for (lane, address) in addresses.iter().enumerate() {
        if lanes >> lane & 1 == 0 {
            continue;
        }
        let value = lane_value(wave, data, size, lane);
        let comparand = lane_value(wave, second, size, lane);
        let old = lds_atomic(
            wave,
            kind.operation(),
            size,
            u64::from(*address),
            value,
            comparand,
        );
        wave.spare[0].0[lane] = old as u32;
        wave.spare[1].0[lane] = (old >> 32) as u32;
    }
    if kind.returns() {
        for part in 0..registers(size) {
            wave.commit(dst + part, part.into(), lanes);
        }
    }
}

/// One atomic on LDS; returns the old value.
#[inline(always)]
pub(crate) fn lds_atomic(
    wave: &mut Wave,
    operation: Rmw,
    size: Size,
    address: u64,
    data: u64,
    second: u64,
) -> u64 {
    let lds = &mut wave.env.lds;
    match size {
        Size::B32 => {
            let old = lds.read32(address).into();
            lds.write32(address, operation.apply(size, old, data, second) as u32);
            old
        }
        Size::B64 => {
            let old = lds.read64(address);
            lds.write64(address, operation.apply(size, old, data, second));
            old
        }
    }
}

versions!(global_versions, global, [], []);
versions!(flat_versions, flat, [], []);

/// The handler of a mnemonic, and the payload of [`Op::e`].
pub(crate) fn handler(name: &str, returns: bool) -> Option<(Versions, u16)> {
    let (segment, rest) = name.split_once("_atomic_")?;
    let (operation, size) = Rmw::parse(rest)?;
    let versions = match segment {
        "global" => global_versions::all(),
        "flat" => flat_versions::all(),
        _ => return None,
    };
    Some((versions, Kind::new(operation, size, returns).0))
}
