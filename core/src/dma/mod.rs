//! Copies: now, or later on a thread of the runtime when their dependencies are met.
//!
//! A copy is done by the driver of a device that takes part, by a copy engine or the compute units of one, or by the host
//! (`route`). A small copy whose dependencies are met is done at once on the calling thread; waking another thread would
//! take longer.

mod carrier;
mod engine;
mod kernels;
mod packets;
mod route;
mod steps;

pub use steps::{Gate, Step, Word};

use crate::agent::DeviceRef;
use crate::clock;
use crate::error::{Error, Result};
use crate::log::{self, Topic};
use crate::memory::AllocationKind;
use crate::runtime::Runtime;
use crate::signal::{pool, wait, Block};
use crate::trace;
use crate::words::halves;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

/// Threads that copy, at most; each stands for a copy engine.
const THREADS: usize = 2;
/// Copies up to this size are done on the calling thread.
const AT_ONCE: u64 = 64 << 10;
/// Nanoseconds until words of memory are looked at again that jobs wait for.
const NEXT_LOOK: u64 = 500_000;

/// A copy or fill, with the agents it is between.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// What is to be copied; the node is filled in when it runs.
    pub request: api::CopyRequest,
    /// Index of the agent that is written.
    pub destination_agent: usize,
    /// Index of the agent that is read.
    pub source_agent: usize,
}

impl Copy {
    fn bytes(&self) -> u64 {
        bytes_of(&self.request)
    }
}

fn bytes_of(request: &api::CopyRequest) -> u64 {
    request
        .row_bytes
        .saturating_mul(request.rows)
        .saturating_mul(request.slices)
}

/// Destination and source of each row; the source of a fill is its value.
fn rows(request: &api::CopyRequest) -> impl Iterator<Item = (u64, u64)> + '_ {
    let at = |base: u64, (slice, slice_pitch): (u64, u64), (row, row_pitch): (u64, u64)| {
        base.wrapping_add(slice.wrapping_mul(slice_pitch))
            .wrapping_add(row.wrapping_mul(row_pitch))
    };
    let fills = request.flags.contains(api::CopyFlags::FILL);
    (0..request.slices).flat_map(move |slice| {
        (0..request.rows).map(move |row| {
            let destination = at(
                request.destination,
                (slice, request.destination_slice_pitch),
                (row, request.destination_row_pitch),
            );
            let source = if fills {
                request.source
            } else {
                at(
                    request.source,
                    (slice, request.source_slice_pitch),
                    (row, request.source_row_pitch),
                )
            };
            (destination, source)
        })
    })
}

/// The word that a fill writes.
fn fill_word(request: &api::CopyRequest) -> u32 {
    halves(request.source)[0]
}

#[derive(Debug)]
struct Job {
    steps: Vec<Step>,
    dependencies: Vec<&'static Block>,
    gate: Gate,
    completion: Option<&'static Block>,
}

impl Job {
    fn is_ready(&self) -> bool {
        let met = |signal: &&Block| signal.value.load(Ordering::Acquire) == 0;
        self.dependencies.iter().all(met) && self.gate.is_open()
    }
}

#[derive(Debug, Default)]
struct Shared {
    jobs: Mutex<VecDeque<Job>>,
    arrived: Condvar,
    stopping: AtomicBool,
    /// Jobs that threads are at.
    busy: AtomicU64,
}

/// The copy threads of a runtime.
#[derive(Debug, Default)]
pub struct Dma {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Whether completion signals get timestamps.
    pub profiling: AtomicBool,
    carriers: route::Carriers,
}

impl Dma {
    /// Copies when all dependencies are 0, then takes one from the completion signal.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when no thread can start.
    pub fn submit(
        &self,
        runtime: &Arc<Runtime>,
        copies: Vec<Copy>,
        dependencies: &[&'static Block],
        completion: Option<&'static Block>,
    ) -> Result<()> {
        let steps = copies.into_iter().map(Step::Copy).collect();
        self.submit_steps(runtime, steps, dependencies, Gate::default(), completion)
    }

    /// [`Dma::submit`] of other steps, between words of memory.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when no thread can start.
    pub fn submit_steps(
        &self,
        runtime: &Arc<Runtime>,
        steps: Vec<Step>,
        dependencies: &[&'static Block],
        gate: Gate,
        completion: Option<&'static Block>,
    ) -> Result<()> {
        let job = Job {
            steps,
            dependencies: dependencies.to_vec(),
            gate,
            completion,
        };
        let bytes = job
            .steps
            .iter()
            .fold(0, |sum: u64, step| sum.saturating_add(step.bytes()));
        let small = bytes <= AT_ONCE;
        if small && job.is_ready() {
            run(runtime, &job);
            return Ok(());
        }
        self.start(runtime)?;
        for signal in job.dependencies.iter().copied().chain(job.completion) {
            pool::retain(signal);
        }
        self.shared.jobs.lock().push_back(job);
        self.shared.arrived.notify_one();
        wait::wake_groups();
        Ok(())
    }

    fn start(&self, runtime: &Arc<Runtime>) -> Result<()> {
        let mut threads = self.threads.lock();
        while threads.len() < THREADS {
            let shared = Arc::clone(&self.shared);
            let runtime = Arc::downgrade(runtime);
            let started = std::thread::Builder::new()
                .name(format!("hansa-copy-{}", threads.len()))
                .spawn(move || serve(&shared, &runtime))
                .map_err(|_| Error::OutOfResources("a thread for copies"))?;
            threads.push(started);
        }
        Ok(())
    }

    /// Whether a copy thread is free.
    #[must_use]
    pub fn has_idle(&self) -> bool {
        self.shared.busy.load(Ordering::Relaxed) < THREADS as u64
    }

    /// A device reported an error: copies of its engines that are under way may never end.
    pub(crate) fn fail(&self, device: DeviceRef) {
        self.carriers.fail(device);
    }

    /// Stops the threads and takes the engines down; copies that wait are dropped.
    pub fn stop(&self, runtime: &Runtime) {
        {
            let _jobs = self.shared.jobs.lock();
            self.shared.stopping.store(true, Ordering::Release);
        }
        self.shared.arrived.notify_all();
        wait::wake_groups();
        for thread in self.threads.lock().drain(..) {
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
        self.shared.jobs.lock().drain(..).for_each(|job| release(&job));
        self.carriers.stop(runtime);
    }
}

fn release(job: &Job) {
    for signal in job.dependencies.iter().copied().chain(job.completion) {
        pool::release(signal);
    }
}

fn serve(shared: &Shared, runtime: &Weak<Runtime>) {
    loop {
        let mut jobs = shared.jobs.lock();
        if shared.stopping.load(Ordering::Acquire) {
            return;
        }
        if let Some(index) = jobs.iter().position(Job::is_ready) {
            let job = jobs.remove(index);
            shared.busy.fetch_add(1, Ordering::Relaxed);
            drop(jobs);
            if let (Some(job), Some(runtime)) = (job, runtime.upgrade()) {
                run(&runtime, &job);
                release(&job);
            }
            shared.busy.fetch_sub(1, Ordering::Relaxed);
        } else if jobs.is_empty() {
            shared.arrived.wait(&mut jobs);
        } else {
            let dependencies: Vec<&Block> =
                jobs.iter().flat_map(|j| j.dependencies.iter().copied()).collect();
            let seen = jobs.len();
            let most = if jobs.iter().any(|job| job.gate.is_watched()) {
                NEXT_LOOK
            } else {
                u64::MAX
            };
            drop(jobs);
            wait::wait_group(&dependencies, most, || {
                let jobs = shared.jobs.lock();
                shared.stopping.load(Ordering::Acquire)
                    || jobs.len() != seen
                    || jobs.iter().any(Job::is_ready)
            });
        }
    }
}

/// Does a job and completes its signal.
fn run(runtime: &Arc<Runtime>, job: &Job) {
    let start = clock::now();
    let failed = job.steps.iter().find_map(|step| runtime.step_now(step).err());
    if failed.is_none() {
        job.gate.pass();
    }
    let Some(completion) = job.completion else { return };
    if let Some(error) = failed {
        eprintln!("hansa: an asynchronous copy failed: {error}");
        // A negative value is how AMD's runtime tells waiters of a failed copy.
        completion.value.store(-1, Ordering::Release);
    } else {
        if runtime.dma.profiling.load(Ordering::Relaxed) {
            completion.copy_start.store(start, Ordering::Relaxed);
            completion
                .copy_end
                .store(clock::now().max(start + 1), Ordering::Relaxed);
        }
        completion.value.fetch_sub(1, Ordering::AcqRel);
    }
    wait::changed(completion);
}

impl Runtime {
    /// Copies now.
    ///
    /// # Errors
    ///
    /// What the driver says: usually an address that is not mapped.
    pub fn copy_now(self: &Arc<Self>, copy: &Copy) -> Result<()> {
        if !trace::on() && !log::on(Topic::Memory) {
            return self.copy_unwatched(copy);
        }
        let start = clock::now();
        let done = self.copy_unwatched(copy);
        if log::on(Topic::Memory) {
            let api::CopyRequest {
                source, destination, ..
            } = copy.request;
            let took = (clock::now() - start) / 1000;
            let bytes = copy.bytes();
            let how = done
                .as_ref()
                .map_or_else(ToString::to_string, |()| "copied".to_owned());
            log::line(
                Topic::Memory,
                format_args!("memory: {bytes} bytes from {source:#x} to {destination:#x}: {how}, {took} us"),
            );
        }
        if trace::on() {
            let agent = |index: usize| format!("{index}: {}", self.agents[index].name());
            report(
                &copy.request,
                start,
                agent(copy.source_agent),
                agent(copy.destination_agent),
            );
        }
        done
    }

    fn copy_unwatched(self: &Arc<Self>, copy: &Copy) -> Result<()> {
        if let Some(DeviceRef { driver, node }) = self.copier(copy, api::DriverGroups::COPY) {
            let request = api::CopyRequest { node, ..copy.request };
            self.drivers[driver].object.copy(&request)?;
            return Ok(());
        }
        self.copy_by_route(copy)
    }

    /// Copies on the host, which sees locked memory where the program has it.
    fn host_copy(&self, request: &api::CopyRequest) {
        let is_value = request.flags.contains(api::CopyFlags::FILL);
        host_copy(&api::CopyRequest {
            destination: self.on_host(request.destination),
            source: if is_value {
                request.source
            } else {
                self.on_host(request.source)
            },
            ..*request
        });
    }

    /// Copies bytes between any two addresses (`hsa_memory_copy`).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a range that begins in an allocation and goes beyond it, and what the driver says.
    pub fn copy(self: &Arc<Self>, destination: u64, source: u64, bytes: u64) -> Result<()> {
        self.stays_inside(destination, bytes)?;
        self.stays_inside(source, bytes)?;
        let agent_of = |address| {
            self.memory
                .find(address)
                .map_or(0, |a| self.regions[a.region].agent)
        };
        let (visible, fed) = self.sight(destination);
        let (source_visible, source_fed) = self.sight(source);
        let request = api::CopyRequest::linear(0, destination, source, bytes);
        if visible && source_visible && !fed && !source_fed {
            let start = trace::on().then(clock::now);
            self.host_copy(&request);
            if let Some(start) = start {
                report(&request, start, "host".to_owned(), "host".to_owned());
            }
            return Ok(());
        }
        self.copy_now(&Copy {
            request,
            destination_agent: agent_of(destination),
            source_agent: agent_of(source),
        })
    }

    /// Whether the host sees an address, and whether it is memory of a device with engines to choose.
    fn sight(&self, address: u64) -> (bool, bool) {
        self.memory.find(address).map_or((true, false), |allocation| {
            let fed = match allocation.kind {
                AllocationKind::Device { driver, .. } => self.drivers[driver]
                    .description
                    .groups
                    .contains(api::DriverGroups::DMA_ENGINES),
                _ => false,
            };
            (allocation.host_base != 0, fed)
        })
    }

    /// Refuses a range that begins in an allocation of ours and goes beyond it. What begins elsewhere is
    /// the program's own memory, of which nothing is known; so is what it locked, which may be a part of more.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`].
    pub(crate) fn stays_inside(&self, address: u64, bytes: u64) -> Result<()> {
        let beyond = Error::InvalidArgument("the range goes beyond the allocation");
        let Some(end) = address.checked_add(bytes) else {
            return Err(beyond);
        };
        let Some(first) = self.memory.find(address) else {
            return Ok(());
        };
        if first.kind.is_allocated() {
            return if end <= first.base + first.bytes {
                Ok(())
            } else {
                Err(beyond)
            };
        }
        // Mappings at reserved addresses may follow each other.
        let mut at = address;
        while at < end && first.kind == AllocationKind::Virtual {
            let next = self
                .memory
                .find(at)
                .filter(|next| next.kind == AllocationKind::Virtual);
            at = next
                .map(|next| next.base + next.bytes)
                .ok_or(Error::InvalidArgument("the range goes beyond what is mapped"))?;
        }
        Ok(())
    }

    /// Fills 32-bit words of an allocation (`hsa_amd_memory_fill`).
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub fn fill(self: &Arc<Self>, address: u64, value: u32, words: u64) -> Result<()> {
        let agent = self
            .memory
            .find(address)
            .map_or(0, |a| self.regions[a.region].agent);
        let request = api::CopyRequest {
            flags: api::CopyFlags::FILL,
            ..api::CopyRequest::linear(0, address, u64::from(value), words * 4)
        };
        self.copy_now(&Copy {
            request,
            destination_agent: agent,
            source_agent: agent,
        })
    }
}

/// Tells the trace of a copy or fill.
fn report(request: &api::CopyRequest, start: u64, from: String, to: String) {
    let fill = request.flags.contains(api::CopyFlags::FILL);
    let bytes = bytes_of(request);
    let details = [
        ("bytes", bytes.to_string()),
        ("from", from),
        ("to", to),
        ("source", format!("{:#x}", request.source)),
        ("destination", format!("{:#x}", request.destination)),
    ];
    let name = if fill { "fill" } else { "copy" };
    trace::span(trace::Place::Copy, name, &details, start, clock::now());
}

fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

/// Copies or fills on the host; the program vouches for the addresses, as with `memcpy`.
fn host_copy(request: &api::CopyRequest) {
    let bytes = usize::try_from(request.row_bytes).unwrap_or(0);
    for (destination, source) in rows(request) {
        if request.flags.contains(api::CopyFlags::FILL) {
            // SAFETY: the program says that the range is its memory.
            let range = unsafe { std::slice::from_raw_parts_mut(pointer(destination), bytes & !3) };
            for place in range.chunks_exact_mut(4) {
                place.copy_from_slice(&fill_word(request).to_ne_bytes());
            }
        } else {
            // SAFETY: the program says that both ranges are its memory; they may overlap.
            unsafe { std::ptr::copy(pointer(source), pointer(destination), bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_copy_have_two_pitches_and_of_a_fill_one_value() {
        let copy = api::CopyRequest {
            rows: 2,
            slices: 2,
            destination_row_pitch: 0x10,
            destination_slice_pitch: 0x100,
            source_row_pitch: 0x20,
            source_slice_pitch: 0x200,
            ..api::CopyRequest::linear(0, 0x1000, 0x8000, 8)
        };
        assert!(rows(&copy).eq([
            (0x1000, 0x8000),
            (0x1010, 0x8020),
            (0x1100, 0x8200),
            (0x1110, 0x8220)
        ]));
        let fill = api::CopyRequest {
            flags: api::CopyFlags::FILL,
            ..copy
        };
        assert!(rows(&fill).eq([0x1000, 0x1010, 0x1100, 0x1110].map(|to| (to, 0x8000))));
    }
}
