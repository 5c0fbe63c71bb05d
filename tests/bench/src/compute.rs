//! Kernels: this runtime's GPU beside PoCL on the same machine, from the same text, in the same run. Both use every
//! processor that the machine gives. What they compute is compared as well.

use crate::call;
use crate::client::{halves, Client, Gpu, Kernel, Queue, Result};
use crate::kernels::{COMPUTE, COMPUTE_SOURCE, COMPUTE_TARGET};
use crate::opencl::OpenCl;
use crate::report::Row;
use hansa_plugin_api::hsa::*;
use std::ffi::CStr;
use std::time::Instant;

/// A kernel with what it works on.
struct Work {
    row: &'static str,
    kernel: &'static CStr,
    /// The buffers; the last ones are results.
    buffers: Vec<Vec<u32>>,
    results: usize,
    numbers: &'static [u32],
    grid: [u32; 2],
    group: [u32; 2],
    /// The most that our time may be of PoCL's.
    most: f64,
    goal: &'static str,
}

/// Numbers between 0 and 8, all of them exact.
fn ramp(count: usize) -> Vec<u32> {
    (0..count)
        .map(|i| ((i % 97) as f32 / 16.0 + 0.125).to_bits())
        .collect()
}

fn zeroes(count: usize) -> Vec<u32> {
    vec![0; count]
}

const SIDE: usize = 512;
const MANY: usize = 1 << 24;

/// The matrix product, which the scaling row uses as well.
fn multiply() -> Work {
    Work {
        row: "matrix product 512, naive",
        kernel: c"multiply",
        buffers: vec![ramp(SIDE * SIDE), ramp(SIDE * SIDE), zeroes(SIDE * SIDE)],
        results: 1,
        numbers: &[512],
        grid: [512, 512],
        group: [16, 16],
        most: 1.0,
        goal: "at most 1.0",
    }
}

/// Everything that is compared. Made one by one: the larger ones have 200 MiB.
const WORKS: [fn() -> Work; 7] = [
    multiply,
    || Work {
        row: "matrix product 512, tiled",
        kernel: c"multiply_tiled",
        most: 2.0,
        goal: "at most 2.0",
        ..multiply()
    },
    || Work {
        row: "mandelbrot 1024 x 1024",
        kernel: c"mandelbrot",
        buffers: vec![zeroes(1 << 20)],
        results: 1,
        numbers: &[1024, 256],
        grid: [1024, 1024],
        group: [16, 16],
        most: 1.2,
        goal: "at most 1.2",
    },
    || Work {
        row: "vector sum 2^24",
        kernel: c"add",
        buffers: vec![ramp(MANY), ramp(MANY), zeroes(MANY)],
        results: 1,
        numbers: &[],
        grid: [1 << 24, 1],
        group: [256, 1],
        most: 3.0,
        goal: "at most 3.0",
    },
    || Work {
        row: "reduction in LDS 2^24",
        kernel: c"reduce",
        buffers: vec![ramp(MANY), zeroes(MANY / 256)],
        results: 1,
        numbers: &[],
        grid: [1 << 24, 1],
        group: [256, 1],
        most: 1.0,
        goal: "at most 1.0",
    },
    || Work {
        row: "Black-Scholes 2^22",
        kernel: c"black_scholes",
        buffers: vec![ramp(1 << 22), ramp(1 << 22), zeroes(1 << 22), zeroes(1 << 22)],
        results: 2,
        numbers: &[],
        grid: [1 << 22, 1],
        group: [256, 1],
        most: 2.0,
        goal: "at most 2.0",
    },
    || Work {
        row: "empty dispatch",
        kernel: c"nothing",
        buffers: Vec::new(),
        results: 0,
        numbers: &[],
        grid: [64, 1],
        group: [64, 1],
        most: 1.0,
        goal: "at most 1.0",
    },
];

/// Milliseconds of the best of some runs: as many as fill half a second, at least five.
fn best_ms(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    run()?;
    let (begun, mut best, mut runs) = (Instant::now(), f64::INFINITY, 0);
    while runs < 5 || (begun.elapsed().as_secs_f64() < 0.5 && runs < 1000) {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        runs += 1;
    }
    Ok(best)
}

/// A work's kernel and memory on the GPU.
struct Ours<'a> {
    client: &'a Client,
    queue: Queue<'a>,
    kernel: Kernel,
    memory: Vec<(*mut u32, usize)>,
    arguments: *mut c_void,
    executable: hsa_executable_t,
}

impl<'a> Ours<'a> {
    fn new(client: &'a Client, gpu: &Gpu, work: &Work) -> Result<Self> {
        let executable = client.load_code(gpu.agent, COMPUTE)?;
        let symbol = [work.kernel.to_bytes(), b".kd\0"].concat();
        let symbol = CStr::from_bytes_with_nul(&symbol).map_err(|e| e.to_string())?;
        let kernel = client.kernel(executable, gpu.agent, symbol)?;
        let region = client.host_region()?;
        let mut memory = Vec::new();
        for contents in &work.buffers {
            let address = client.allocate(region, size_of_val(&contents[..]))?.cast::<u32>();
            // SAFETY: an allocation of that many dwords that the host can write.
            unsafe { address.copy_from_nonoverlapping(contents.as_ptr(), contents.len()) };
            memory.push((address, contents.len()));
        }
        let mut words: Vec<u32> = memory
            .iter()
            .flat_map(|(address, _)| halves(address.expose_provenance() as u64))
            .chain(work.numbers.iter().copied())
            .collect();
        // The hidden arguments that follow are zero: the grid begins at 0.
        words.resize(words.len().max(kernel.kernarg_bytes as usize / 4) + 1, 0);
        let arguments = client.allocate(region, size_of_val(&words[..]))?;
        // SAFETY: an allocation of that many dwords that the host can write.
        unsafe {
            arguments
                .cast::<u32>()
                .copy_from_nonoverlapping(words.as_ptr(), words.len());
        };
        Ok(Self {
            client,
            queue: client.queue(gpu.agent)?,
            kernel,
            memory,
            arguments,
            executable,
        })
    }

    fn run(&self, work: &Work) -> Result<()> {
        self.queue
            .dispatch_2d(&self.kernel, work.grid, work.group, self.arguments);
        if self.queue.wait() {
            Ok(())
        } else {
            Err(format!("{} did not end within ten seconds", work.row))
        }
    }

    /// What the last buffers hold.
    fn results(&self, work: &Work) -> Vec<Vec<u32>> {
        self.memory[self.memory.len() - work.results..]
            .iter()
            // SAFETY: an allocation of that many dwords that no kernel uses now.
            .map(|(address, count)| unsafe { std::slice::from_raw_parts(*address, *count) }.to_vec())
            .collect()
    }

    fn free(self) -> Result<()> {
        for (address, _) in &self.memory {
            call!(self.client, hsa_memory_free_fn(address.cast()))?;
        }
        call!(self.client, hsa_memory_free_fn(self.arguments))?;
        drop(self.queue);
        call!(self.client, hsa_executable_destroy_fn(self.executable))
    }
}

/// PoCL's time and results.
fn theirs(opencl: &OpenCl, work: &Work) -> Result<(f64, Vec<Vec<u32>>)> {
    let buffers: Vec<_> = work
        .buffers
        .iter()
        .map(|contents| opencl.buffer(contents))
        .collect::<Result<_>>()?;
    let kernel = opencl.kernel(work.kernel, &buffers, work.numbers)?;
    let time = best_ms(|| kernel.run(work.grid, work.group))?;
    let mut results = work.buffers[buffers.len() - work.results..].to_vec();
    for (buffer, result) in buffers[buffers.len() - work.results..].iter().zip(&mut results) {
        buffer.read(result)?;
    }
    Ok((time, results))
}

/// Refuses results that differ by more than rounding and the contraction of products and sums, which both may do
/// their own way, explain: few elements may differ.
fn compare(work: &Work, ours: &[Vec<u32>], theirs: &[Vec<u32>]) -> Result<()> {
    let whole = work.kernel == c"mandelbrot";
    let same = |a: u32, b: u32| {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        a == b || (!whole && (x - y).abs() <= 1e-3 * x.abs().max(y.abs()).max(0.1))
    };
    for (ours, theirs) in ours.iter().zip(theirs) {
        let different = ours.iter().zip(theirs).filter(|(a, b)| !same(**a, **b)).count();
        if different > ours.len() / 100 {
            return Err(format!(
                "{}: {different} of {} results differ from PoCL's",
                work.row,
                ours.len()
            ));
        }
    }
    Ok(())
}

/// Every kernel on both. Without code for the GPU there is no row; without PoCL the rows say so.
pub(crate) fn kernels(client: &Client) -> Result<Vec<Row>> {
    let Some(gpu) = client.gpu()?.filter(|gpu| gpu.name == COMPUTE_TARGET) else {
        return Ok(Vec::new());
    };
    let opencl = OpenCl::build(COMPUTE_SOURCE);
    let mut rows = Vec::new();
    for make in WORKS {
        let work = make();
        let ours = Ours::new(client, &gpu, &work)?;
        let time = best_ms(|| ours.run(&work))?;
        let results = ours.results(&work);
        ours.free()?;
        let (unit, scale) = if time < 1.0 { ("us", 1e3) } else { ("ms", 1.0) };
        rows.push(match &opencl {
            Ok(opencl) => {
                let (pocl, expected) = theirs(opencl, &work)?;
                compare(&work, &results, &expected)?;
                let peer = ("PoCL", pocl * scale);
                Row::against(work.row, time * scale, unit, peer, work.most, work.goal)
            }
            Err(reason) => {
                let why = format!("no PoCL: {reason}");
                Row::alone(work.row, time * scale, unit, work.goal, &why)
            }
        });
    }
    Ok(rows)
}

/// The matrix product on all processors, beside the same on one. The runtime is not initialized, before and after.
pub(crate) fn scaling(client: &Client) -> Result<Option<Row>> {
    let timed = || -> Result<Option<f64>> {
        call!(client, hsa_init_fn())?;
        let time = match client.gpu()?.filter(|gpu| gpu.name == COMPUTE_TARGET) {
            Some(gpu) => {
                let work = multiply();
                let ours = Ours::new(client, &gpu, &work)?;
                let time = best_ms(|| ours.run(&work))?;
                ours.free()?;
                Some(time)
            }
            None => None,
        };
        call!(client, hsa_shut_down_fn())?;
        Ok(time)
    };
    let all = Processors::of_this_thread()?;
    if all.count() < 2 {
        return Ok(None);
    }
    // The runtime's threads inherit what the thread that starts them may use.
    all.first(2).apply()?;
    let two = timed()?;
    all.first(1).apply()?;
    let one = timed();
    all.apply()?;
    Ok(two
        .zip(one?)
        .map(|(two, one)| Row::above("two processors against one", one / two, "x", 1.7, "at least 1.7")))
}

/// A set of processors.
#[derive(Clone, Copy)]
struct Processors(libc::cpu_set_t);

impl Processors {
    fn of_this_thread() -> Result<Self> {
        // SAFETY: all zeroes are an empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: a set of that size.
        let status = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
        if status == 0 {
            Ok(Self(set))
        } else {
            Err(std::io::Error::last_os_error().to_string())
        }
    }

    fn has(&self, processor: usize) -> bool {
        // SAFETY: the number is below the size of a set.
        unsafe { libc::CPU_ISSET(processor, &self.0) }
    }

    fn count(&self) -> usize {
        (0..SETSIZE).filter(|processor| self.has(*processor)).count()
    }

    /// The first `count` of these.
    fn first(&self, count: usize) -> Self {
        // SAFETY: all zeroes are an empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        for processor in (0..SETSIZE).filter(|processor| self.has(*processor)).take(count) {
            // SAFETY: the number is below the size of a set.
            unsafe { libc::CPU_SET(processor, &mut set) };
        }
        Self(set)
    }

    /// Lets this thread, and threads that it starts, use these alone.
    fn apply(&self) -> Result<()> {
        // SAFETY: a set of that size.
        let status = unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &raw const self.0) };
        if status == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error().to_string())
        }
    }
}

const SETSIZE: usize = 8 * size_of::<libc::cpu_set_t>();
