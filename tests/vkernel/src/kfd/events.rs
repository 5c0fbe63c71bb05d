//! Events, and waiting for them.

use crate::buffers::Backing;
use crate::events::{Standing, Waiter};
use crate::kernel::{Encoding, Kernel};
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::event as uapi;
use hansa_kfd::uapi::event::{CreateEvent, DestroyEvent, ResetEvent, SetEvent, WaitEvents};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Slots of an event page that the kernel makes itself, and of one that the process gives.
const SLOTS: (u32, u32) = (256, uapi::SIGNAL_EVENT_LIMIT);

pub(super) fn create_event(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: CreateEvent = user::get(at, bytes)?;
    let mut process = kernel.process();
    if a.event_page_offset != 0 {
        if process.event_page.is_some() {
            return Err(Errno::INVAL);
        }
        let buffer = process.buffers.get(a.event_page_offset)?;
        if !matches!(*buffer.backing, Backing::File { .. }) || buffer.bytes < u64::from(SLOTS.1) * 8 {
            return Err(Errno::INVAL);
        }
        process.event_page = Some(a.event_page_offset);
    }
    let slots = if process.event_page.is_some() {
        SLOTS.1
    } else {
        SLOTS.0
    };
    let (id, slot) = process.events.create(a.event_type, a.auto_reset != 0, slots)?;
    a.event_id = id;
    if let Some(slot) = slot {
        a.event_trigger_data = id;
        a.event_slot_index = slot;
        a.event_page_offset = match kernel.options.encoding {
            Encoding::Linux => 2 << 62,
            // The caller only looks whether there is one.
            Encoding::File => 1 << 62,
        };
    }
    user::put(at, bytes, &a)
}

pub(super) fn destroy_event(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: DestroyEvent = user::get(at, bytes)?;
    let woken = kernel.process().events.destroy(a.event_id)?;
    woken.wake();
    Ok(())
}

pub(super) fn set_event(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetEvent = user::get(at, bytes)?;
    let woken = kernel.process().events.raise(a.event_id)?;
    woken.wake();
    Ok(())
}

pub(super) fn reset_event(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: ResetEvent = user::get(at, bytes)?;
    kernel.process().events.get(a.event_id)?.raised = false;
    Ok(())
}

/// Bytes of one event of a wait, and where its number and its age are.
const EVENT_BYTES: u64 = size_of::<uapi::EventData>() as u64;
const EVENT_ID_WORD: usize = 10;

pub(super) fn wait_events(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: WaitEvents = user::get(at, bytes)?;
    if a.num_events > 4096 * 2 {
        return Err(Errno::INVAL);
    }
    let words = (EVENT_BYTES / 4) as usize;
    let data = user::words(a.events_ptr, a.num_events as usize * words)?;
    let ids: Vec<u32> = data
        .chunks_exact(words)
        .map(|event| event[EVENT_ID_WORD])
        .collect();
    let ages: Vec<u64> = if kernel.options.minor >= 14 {
        data.chunks_exact(words)
            .map(|event| u64::from(event[0]) | u64::from(event[1]) << 32)
            .collect()
    } else {
        Vec::new()
    };
    let until = match a.timeout {
        u32::MAX => None,
        ms => Some(Instant::now() + Duration::from_millis(ms.into())),
    };
    let mut process = kernel.process();
    let waiter = Waiter::begin(&mut process.events, ids, &ages)?;
    let mut over = a.timeout == 0;
    let result = loop {
        match waiter.standing(&mut process.events, a.wait_for_all != 0) {
            Standing::Complete => break uapi::WAIT_RESULT_COMPLETE,
            Standing::Gone => break uapi::WAIT_RESULT_FAIL,
            Standing::Waiting if over => break uapi::WAIT_RESULT_TIMEOUT,
            Standing::Waiting => match until {
                Some(until) => over = waiter.sleep().wait_until(&mut process, until),
                None => waiter.sleep().wait(&mut process),
            },
        }
    };
    let reports = waiter.reports(&mut process.events);
    waiter.end(&mut process.events);
    drop(process);
    a.wait_result = result;
    let mut payloads = Vec::new();
    if result == uapi::WAIT_RESULT_COMPLETE {
        for (i, report) in reports.into_iter().enumerate() {
            if let Some(payload) = report {
                let flat: Vec<u8> = payload.iter().flat_map(|word| word.to_ne_bytes()).collect();
                payloads.push((a.events_ptr + i as u64 * EVENT_BYTES, flat));
            }
        }
    }
    let answer = user::bytes_of(&a);
    let mut pieces: Vec<(u64, &[u8])> = payloads.iter().map(|(at, flat)| (*at, flat.as_slice())).collect();
    pieces.push((at, &answer[..bytes.min(answer.len())]));
    // As many as a call takes (IOV_MAX).
    for some in pieces.chunks(1024) {
        user::write_all(some)?;
    }
    if result == uapi::WAIT_RESULT_FAIL {
        return Err(Errno::IO);
    }
    Ok(())
}
