//! Packets, copies and memory of a GPU.

use crate::call;
use crate::client::{Client, Queue, Result};
use crate::kernels::{code_for, GROUP};
use crate::report::{median_us, Row};
use std::process::Command;
use std::time::{Duration, Instant};

/// Doorbell to signal, as a waiting host sees it.
pub(crate) fn latency(client: &Client) -> Result<Vec<Row>> {
    let Some(gpu) = client.gpu()? else {
        return Ok(Vec::new());
    };
    let executable = client.load_code(gpu.agent, code_for(&gpu.name)?)?;
    let empty = client.kernel(executable, gpu.agent, c"empty.kd")?;
    let queue = client.queue(gpu.agent)?;
    let barrier = |queue: &Queue<'_>| queue.barrier();
    let kernel = |queue: &Queue<'_>| queue.dispatch(&empty, GROUP, GROUP, std::ptr::null_mut());
    let rows = vec![
        Row::below(
            "barrier packet, back to back",
            trips(&queue, 20_000, None, barrier)?,
            "us",
            2.0,
            "under 2 us",
        ),
        Row::below(
            "empty kernel, back to back",
            trips(&queue, 20_000, None, kernel)?,
            "us",
            3.0,
            "under 3 us",
        ),
        Row::below(
            "barrier packet after 100 ms",
            trips(&queue, 20, IDLE, barrier)?,
            "us",
            60.0,
            "under 60 us",
        ),
        Row::below(
            "empty kernel after 100 ms",
            trips(&queue, 20, IDLE, kernel)?,
            "us",
            60.0,
            "under 60 us",
        ),
        Row::below("processor time while idle", idle_percent(), "%", 0.5, "none"),
    ];
    drop(queue);
    call!(client, hsa_executable_destroy_fn(executable))?;
    Ok(rows)
}

const IDLE: Option<Duration> = Some(Duration::from_millis(100));

/// The median time of a round trip, in microseconds.
fn trips(
    queue: &Queue<'_>,
    count: usize,
    pause: Option<Duration>,
    submit: impl Fn(&Queue<'_>),
) -> Result<f64> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        if let Some(pause) = pause {
            std::thread::sleep(pause);
        }
        let start = Instant::now();
        submit(queue);
        if !queue.wait() {
            return Err("a packet did not complete within ten seconds".to_owned());
        }
        times.push(start.elapsed());
    }
    Ok(median_us(times))
}

fn processor_time() -> Duration {
    // SAFETY: an all-zero `rusage` is a value of its type.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a variable of the right type.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let part = |t: libc::timeval| {
        Duration::from_secs(u64::try_from(t.tv_sec).unwrap_or(0))
            + Duration::from_micros(u64::try_from(t.tv_usec).unwrap_or(0))
    };
    part(usage.ru_utime) + part(usage.ru_stime)
}

/// Processor time of the whole process over half a second in which nothing happens, in percent of one core.
fn idle_percent() -> f64 {
    std::thread::sleep(Duration::from_millis(100));
    let (before, start) = (processor_time(), Instant::now());
    std::thread::sleep(Duration::from_millis(500));
    (processor_time() - before).as_secs_f64() / start.elapsed().as_secs_f64() * 100.0
}

/// 64 MiB between host and device memory, beside `memcpy` of as much.
pub(crate) fn copies(client: &Client) -> Result<Vec<Row>> {
    const BYTES: usize = 64 << 20;
    let Some(gpu) = client.gpu()? else {
        return Ok(Vec::new());
    };
    let Some(device_region) = client.region(gpu.agent, 4)? else {
        return Ok(Vec::new());
    };
    let host = client.host_region()?;
    let (a, b, device) = (
        client.allocate(host, BYTES)?,
        client.allocate(host, BYTES)?,
        client.allocate(device_region, BYTES)?,
    );
    for memory in [a, b, device] {
        // SAFETY: an allocation of that many bytes that the host can write.
        unsafe { std::ptr::write_bytes(memory.cast::<u8>(), 1, BYTES) };
    }
    let rate = |copy: &dyn Fn() -> Result<()>| -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..7 {
            let start = Instant::now();
            copy()?;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(best)
    };
    let memcpy = rate(&|| {
        // SAFETY: two allocations of that many bytes.
        unsafe { std::ptr::copy_nonoverlapping(a.cast::<u8>(), b.cast::<u8>(), BYTES) };
        Ok(())
    })?;
    let up = rate(&|| call!(client, hsa_memory_copy_fn(device, a, BYTES)))?;
    let down = rate(&|| call!(client, hsa_memory_copy_fn(b, device, BYTES)))?;
    for memory in [a, b, device] {
        call!(client, hsa_memory_free_fn(memory))?;
    }
    let goal = "0.8 of its speed";
    Ok(vec![
        Row::against(
            "copy 64 MiB to the device",
            up,
            "ms",
            ("memcpy", memcpy),
            1.25,
            goal,
        ),
        Row::against(
            "copy 64 MiB from the device",
            down,
            "ms",
            ("memcpy", memcpy),
            1.25,
            goal,
        ),
    ])
}

/// Peak memory of the vector sum of the demo, in a process of its own.
pub(crate) fn memory(demo: &[&str]) -> Result<Row> {
    const COUNT: usize = 8_000_000;
    let [program, arguments @ ..] = demo else {
        return Err("no command for the vector sum".to_owned());
    };
    let output = Command::new(program)
        .args(arguments)
        .arg(COUNT.to_string())
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!(
            "the demo failed: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    // SAFETY: an all-zero `rusage` is a value of its type.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a variable of the right type.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    let peak = f64::from(u32::try_from(usage.ru_maxrss).unwrap_or(u32::MAX)) / 1024.0;
    let data = (COUNT * 3 * size_of::<f32>()) as f64 / f64::from(1 << 20);
    Ok(Row::below(
        "peak memory of a vector sum (92 MiB)",
        peak,
        "MiB",
        3.0 * data + 64.0,
        "under 3x its data + 64 MiB",
    ))
}
