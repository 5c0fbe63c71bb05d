//! Init and shut-down, and the operations that go through no lock: signals and queue indexes.

use crate::baseline::Baseline;
use crate::call;
use crate::client::{Client, Result};
use crate::report::{best_ns, median_us, Row};
use hansa_plugin_api::hsa::*;
use std::hint::black_box;
use std::time::Instant;

/// The first init and the last shut-down. Leaves the runtime initialized.
pub(crate) fn life(client: &Client) -> Result<Vec<Row>> {
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        let start = Instant::now();
        call!(client, hsa_init_fn())?;
        up.push(start.elapsed());
        let start = Instant::now();
        call!(client, hsa_shut_down_fn())?;
        down.push(start.elapsed());
    }
    call!(client, hsa_init_fn())?;
    Ok(vec![
        Row::below("hsa_init, first", median_us(up) / 1e3, "ms", 1.5, "under 1.5 ms"),
        Row::below(
            "hsa_shut_down, last",
            median_us(down) / 1e3,
            "ms",
            1.0,
            "under 1 ms",
        ),
    ])
}

/// Signal load and store and the write index, beside the same C11 atomics behind one call.
pub(crate) fn operations(client: &Client) -> Result<Vec<Row>> {
    const COUNT: u32 = 4_000_000;
    let core = &client.core;
    let mut signal = hsa_signal_t { handle: 0 };
    call!(
        client,
        hsa_signal_create_fn(1, 0, std::ptr::null(), &raw mut signal)
    )?;
    let load = best_ns(COUNT, || {
        // SAFETY: a live signal.
        black_box(unsafe { (core.hsa_signal_load_scacquire_fn)(signal) });
    });
    let store = best_ns(COUNT, || {
        // SAFETY: a live signal.
        unsafe { (core.hsa_signal_store_screlease_fn)(signal, 7) };
    });
    let pair = best_ns(COUNT / 8, || {
        let mut made = hsa_signal_t { handle: 0 };
        // SAFETY: `made` is a variable of the right type.
        unsafe { (core.hsa_signal_create_fn)(1, 0, std::ptr::null(), &raw mut made) };
        // SAFETY: a live signal.
        unsafe { (core.hsa_signal_destroy_fn)(made) };
    });
    let agent = client.agents()?[0];
    let info = best_ns(COUNT, || {
        let mut value = 0u32;
        // SAFETY: a live agent and a variable of the right type.
        unsafe {
            (core.hsa_agent_get_info_fn)(agent, hsa_agent_info_t::DEVICE, (&raw mut value).cast());
        }
        black_box(value);
    });
    let add = write_index(client, COUNT)?;
    call!(client, hsa_signal_destroy_fn(signal))?;

    let c = Baseline::build()?;
    let (mut value, mut index) = (1i64, 0u64);
    let c_load = best_ns(COUNT, || {
        // SAFETY: a variable of the right type.
        black_box(unsafe { (c.load)(&raw const value) });
    });
    let c_store = best_ns(COUNT, || {
        // SAFETY: a variable of the right type.
        unsafe { (c.store)(&raw mut value, 7) };
    });
    let c_add = best_ns(COUNT, || {
        // SAFETY: a variable of the right type.
        black_box(unsafe { (c.add)(&raw mut index, 1) });
    });
    const PEER: &str = "C11 atomic, one call";
    let mut rows = vec![
        Row::against(
            "hsa_signal_load_scacquire",
            load,
            "ns",
            (PEER, c_load),
            2.0,
            "within 2x",
        ),
        Row::against(
            "hsa_signal_store_screlease",
            store,
            "ns",
            (PEER, c_store),
            2.0,
            "within 2x",
        ),
    ];
    if let Some(add) = add {
        rows.push(Row::against(
            "hsa_queue_add_write_index_relaxed",
            add,
            "ns",
            (PEER, c_add),
            2.0,
            "within 2x",
        ));
    }
    rows.push(Row::below(
        "hsa_signal_create and destroy",
        pair,
        "ns",
        60.0,
        "under 60 ns",
    ));
    rows.push(Row::below("hsa_agent_get_info", info, "ns", 8.0, "under 8 ns"));
    Ok(rows)
}

/// Adding to the write index of a queue that the program serves, so that no device looks.
fn write_index(client: &Client, count: u32) -> Result<Option<f64>> {
    let region = client.host_region()?;
    let mut doorbell = hsa_signal_t { handle: 0 };
    call!(
        client,
        hsa_signal_create_fn(0, 0, std::ptr::null(), &raw mut doorbell)
    )?;
    let mut queue = std::ptr::null_mut();
    call!(
        client,
        hsa_soft_queue_create_fn(region, 64, hsa_queue_type_t::MULTI.0, 1, doorbell, &raw mut queue)
    )?;
    let time = best_ns(count, || {
        // SAFETY: a live queue.
        black_box(unsafe { (client.core.hsa_queue_add_write_index_relaxed_fn)(queue, 1) });
    });
    call!(client, hsa_queue_destroy_fn(queue))?;
    call!(client, hsa_signal_destroy_fn(doorbell))?;
    Ok(Some(time))
}
