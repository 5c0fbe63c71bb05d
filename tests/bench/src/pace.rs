//! What programs do often, timed on whatever runtime a library is: one line each, for rows that compare two processes.

use crate::call;
use crate::client::{good, Client, Queue, Result};
use crate::kernels::code_for;
use crate::memory::{pool, Functions};
use crate::report::{best_ns, median_us};
use crate::waking;
use hansa_plugin_api::hsa::*;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

type Copy = unsafe extern "C" fn(
    *mut c_void,
    hsa_agent_t,
    *const c_void,
    hsa_agent_t,
    usize,
    u32,
    *const hsa_signal_t,
    hsa_signal_t,
) -> hsa_status_t;
type Allow = unsafe extern "C" fn(u32, *const hsa_agent_t, *const u32, *const c_void) -> hsa_status_t;

/// Bytes of the large copies.
const LARGE: usize = 64 << 20;

/// Microseconds of several runs, by what was timed.
pub(crate) type Times = BTreeMap<String, Vec<f64>>;

/// The middle one of some times.
pub(crate) fn middle(times: Option<&Vec<f64>>) -> Option<f64> {
    let mut times = times?.clone();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// Has `this`, the program whose `bench --pace` is [`run`], time a library in a process that `change` prepares.
pub(crate) fn time(
    this: &Path,
    library: &Path,
    change: &dyn Fn(&mut Command),
    times: &mut Times,
) -> Result<()> {
    let mut command = Command::new(this);
    command.args(["bench", "--pace"]).arg(library);
    change(&mut command);
    let failed = |why: &str| format!("`hansa bench --pace {}`: {why}", library.display());
    let output = command.output().map_err(|e| failed(&e.to_string()))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split(' ');
        if let (Some(name), Some(Ok(time))) = (words.next(), words.next().map(str::parse)) {
            times.entry(name.to_owned()).or_default().push(time);
        }
    }
    Ok(())
}

/// Times the runtime in a library and prints a name and microseconds a line.
///
/// # Errors
///
/// What could not be measured, and why.
pub fn run(library: &Path) -> Result<()> {
    let client = Client::load(library)?;
    let mut up = Vec::new();
    for round in 0..15 {
        if round > 0 {
            call!(client, hsa_shut_down_fn())?;
        }
        let start = Instant::now();
        call!(client, hsa_init_fn())?;
        up.push(start.elapsed());
    }
    report("hsa_init", median_us(up));
    // The last one, so that whoever looks for it from the first on takes the longest.
    let gpu = client.gpus()?.pop().ok_or("there is no GPU")?;
    let host = client.host_region()?;
    let device = client
        .region(gpu.agent, hsa_region_global_flag_t::COARSE_GRAINED.0)?
        .ok_or("the GPU has no memory")?;
    let functions = Functions::of(&client)?;
    report("pool_host", functions.pair_ns(pool(host), 64 << 10)? / 1e3);
    report("pool_device", functions.pair_ns(pool(device), 64 << 10)? / 1e3);
    report("pool_host_4k", functions.pair_ns(pool(host), 4 << 10)? / 1e3);
    report("pool_device_4k", functions.pair_ns(pool(device), 4 << 10)? / 1e3);
    signals(&client)?;
    report("queue_create", queue_create(&client, gpu.agent)?);
    round_trips(&client, gpu.agent)?;
    copies(&client, &functions, gpu.agent, (host, device))?;
    report("wake", waking::waiter(&client)?);
    report("handler", waking::handler(&client)?);
    report("agent_get_info", agent_info(&client, gpu.agent) / 1e3);
    report("code_load", code_load(&client, gpu.agent, code_for(&gpu.name)?)?);
    call!(client, hsa_shut_down_fn())
}

fn report(name: &str, microseconds: f64) {
    println!("{name} {microseconds}");
}

fn times(count: usize, mut once: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut taken = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        once()?;
        taken.push(start.elapsed());
    }
    Ok(median_us(taken))
}

fn signals(client: &Client) -> Result<()> {
    const COUNT: u32 = 1_000_000;
    let core = &client.core;
    let mut signal = hsa_signal_t { handle: 0 };
    call!(client, hsa_signal_create_fn(1, 0, null(), &raw mut signal))?;
    let pair = best_ns(COUNT / 8, || {
        let mut made = hsa_signal_t { handle: 0 };
        // SAFETY: `made` is a variable of the right type.
        unsafe { (core.hsa_signal_create_fn)(1, 0, null(), &raw mut made) };
        // SAFETY: a live signal.
        unsafe { (core.hsa_signal_destroy_fn)(made) };
    });
    report("signal_create", pair / 1e3);
    let load = best_ns(COUNT, || {
        // SAFETY: a live signal.
        black_box(unsafe { (core.hsa_signal_load_relaxed_fn)(signal) });
    });
    let store = best_ns(COUNT, || {
        // SAFETY: a live signal.
        unsafe { (core.hsa_signal_store_relaxed_fn)(signal, 1) };
    });
    let add = best_ns(COUNT, || {
        // SAFETY: a live signal.
        unsafe { (core.hsa_signal_add_relaxed_fn)(signal, 1) };
    });
    report("signal_load", load / 1e3);
    report("signal_store", store / 1e3);
    report("signal_add", add / 1e3);
    call!(client, hsa_signal_destroy_fn(signal))
}

fn queue_create(client: &Client, agent: hsa_agent_t) -> Result<f64> {
    let once = || -> Result<()> {
        let mut queue = null_mut();
        let kind = hsa_queue_type_t::MULTI.0;
        call!(
            client,
            hsa_queue_create_fn(
                agent,
                1024,
                kind,
                None,
                null_mut(),
                u32::MAX,
                u32::MAX,
                &raw mut queue
            )
        )?;
        call!(client, hsa_queue_destroy_fn(queue))
    };
    once()?;
    times(15, once)
}

/// A barrier packet there and back, seen by a host that looks; and how long after its end a host that sleeps is awake.
fn round_trips(client: &Client, agent: hsa_agent_t) -> Result<()> {
    let queue = client.queue(agent)?;
    let wait = |state| {
        let forever = u64::MAX;
        // SAFETY: a live signal.
        while unsafe {
            (client.core.hsa_signal_wait_scacquire_fn)(
                queue.done,
                hsa_signal_condition_t::LT,
                1,
                forever,
                state,
            )
        } >= 1
        {}
    };
    let trip = || {
        queue.barrier();
        wait(hsa_wait_state_t::ACTIVE);
        Ok(())
    };
    trip()?;
    report("round_trip", times(2001, trip)?);
    report("wake_up", woken(client, &queue, &wait, |_| 20_000)?);
    // Between 8 and 32 ms, as a fixed sequence has it.
    let irregular = |turn: u32| 8_000 + u64::from(turn.wrapping_mul(2_654_435_761) % 24_000);
    report("wake_up_irregular", woken(client, &queue, &wait, irregular)?);
    Ok(())
}

/// The time from the end of a packet, as the device writes it into its signal, to when a host that sleeps is awake. The
/// packet waits for a gate that another thread opens after so many microseconds.
fn woken(
    client: &Client,
    queue: &Queue<'_>,
    wait: &impl Fn(hsa_wait_state_t),
    pause: impl Fn(u32) -> u64,
) -> Result<f64> {
    let open = client.core.hsa_signal_store_screlease_fn;
    let (order, orders) = channel::<(hsa_signal_t, u64)>();
    std::thread::scope(|threads| {
        threads.spawn(move || {
            for (gate, pause) in orders {
                std::thread::sleep(Duration::from_micros(pause));
                // SAFETY: a live signal.
                unsafe { open(gate, 0) };
            }
        });
        let mut woken = Vec::new();
        for turn in 0..61 {
            let mut gate = hsa_signal_t { handle: 0 };
            call!(client, hsa_signal_create_fn(1, 0, null(), &raw mut gate))?;
            queue.barrier_after(gate);
            order.send((gate, pause(turn))).map_err(|e| e.to_string())?;
            wait(hsa_wait_state_t::BLOCKED);
            woken.push(since(ended(queue.done)));
            call!(client, hsa_signal_destroy_fn(gate))?;
        }
        drop(order);
        Ok(median_us(woken))
    })
}

/// When the packet that a signal completes ended, in ticks of the virtual device: 10 ns of the monotonic clock
/// (`amd_signal_t::end_ts`, `amd_hsa_signal.h`).
fn ended(signal: hsa_signal_t) -> u64 {
    const END: u64 = 40;
    let place = usize::try_from(signal.handle + END).unwrap_or(0);
    // SAFETY: a live signal's handle is the address of its `amd_signal_t`.
    unsafe { std::ptr::with_exposed_provenance::<u64>(place).read_volatile() }
}

/// How long ago a tick was.
fn since(tick: u64) -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a variable of the right type.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    let now = Duration::new(part(now.tv_sec), 0) + Duration::from_nanos(part(now.tv_nsec));
    now.saturating_sub(Duration::from_nanos(tick * 10))
}

fn copies(
    client: &Client,
    functions: &Functions,
    gpu: hsa_agent_t,
    (host, device): (hsa_region_t, hsa_region_t),
) -> Result<()> {
    // SAFETY: the types are those of AMD's header.
    let copy = unsafe { client.function::<Copy>(c"hsa_amd_memory_async_copy") }?;
    // SAFETY: as above.
    let allow = unsafe { client.function::<Allow>(c"hsa_amd_agents_allow_access") }?;
    let cpu = client.agents()?[0];
    let near = functions.allocate(pool(host), LARGE)?;
    let far = functions.allocate(pool(device), LARGE)?;
    // SAFETY: a live allocation and a list of one agent.
    let status = unsafe { allow(1, &raw const gpu, null(), near) };
    good(status, "hsa_amd_agents_allow_access")?;
    // SAFETY: as many bytes as were allocated.
    unsafe { near.write_bytes(1, LARGE) };
    let mut done = hsa_signal_t { handle: 0 };
    call!(client, hsa_signal_create_fn(1, 0, null(), &raw mut done))?;
    let once = |(to, to_agent), (from, from_agent), bytes| -> Result<()> {
        // SAFETY: a live signal.
        unsafe { (client.core.hsa_signal_store_relaxed_fn)(done, 1) };
        // SAFETY: live allocations of at least so many bytes, and their agents.
        let status = unsafe { copy(to, to_agent, from, from_agent, bytes, 0, null(), done) };
        good(status, "hsa_amd_memory_async_copy")?;
        let (less, blocked) = (hsa_signal_condition_t::LT, hsa_wait_state_t::BLOCKED);
        // SAFETY: a live signal.
        while unsafe { (client.core.hsa_signal_wait_scacquire_fn)(done, less, 1, u64::MAX, blocked) } >= 1 {}
        Ok(())
    };
    once((far, gpu), (near, cpu), LARGE)?;
    once((near, cpu), (far, gpu), LARGE)?;
    let four_kib = 4 << 10;
    report(
        "copy_4k_to",
        times(501, || once((far, gpu), (near, cpu), four_kib))?,
    );
    report(
        "copy_4k_from",
        times(501, || once((near, cpu), (far, gpu), four_kib))?,
    );
    report("copy_64m_to", times(7, || once((far, gpu), (near, cpu), LARGE))?);
    report(
        "copy_64m_from",
        times(7, || once((near, cpu), (far, gpu), LARGE))?,
    );
    report(
        "pointer_info",
        functions.info_ns(200_000, || far.wrapping_byte_add(4096)) / 1e3,
    );
    functions.free(near)?;
    functions.free(far)?;
    call!(client, hsa_signal_destroy_fn(done))
}

fn agent_info(client: &Client, agent: hsa_agent_t) -> f64 {
    best_ns(1_000_000, || {
        let mut value = 0u32;
        let place = (&raw mut value).cast();
        // SAFETY: a live agent and a variable of the right type.
        unsafe { (client.core.hsa_agent_get_info_fn)(agent, hsa_agent_info_t::WAVEFRONT_SIZE, place) };
        black_box(value);
    })
}

fn code_load(client: &Client, agent: hsa_agent_t, code: &'static [u8]) -> Result<f64> {
    let once = || {
        let executable = client.load_code(agent, code)?;
        call!(client, hsa_executable_destroy_fn(executable))
    };
    once()?;
    times(31, once)
}
