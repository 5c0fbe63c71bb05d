//! Looking at kernels while they run: a trace of their instructions, and counters of each kernel.
//!
//! | variable | what it does |
//! |---|---|
//! | `HANSA_SIM_TRACE=FILE[,FILTER...]` | writes a line for each instruction of a wave ([`options`]) |
//! | `HANSA_SIM_STATS=FILE` | writes counters of each kernel as JSON when the driver closes or the process ends |
//! | `HANSA_SIM_STATS=+FILE` | writes them behind what is in the file |
//!
//! `%p` in the name of a file stands for the number of the process. A program that runs with more rights than its
//! caller does not look at them. A dispatch that nobody asked about has no [`Watch`], and costs nothing.

mod name;
mod options;
mod record;
mod report;
mod trace;
mod traffic;

use crate::device::Outside;
use crate::exec::{self, AddressSpace, KernelDescriptor, Step, Sync, SyncAnswer};
use crate::isa::Target;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{HostRef, LogLevel, RStr};
pub(crate) use name::kernel_name;
use options::{Filter, Options, Output};
use record::Record;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once, Weak};
use trace::Trace;

/// Watchers whose counters are still to be written when the process ends.
static LIVE: Lock<Vec<Weak<Watcher>>> = Lock::new(Vec::new());

/// What looks at the kernels of a driver.
#[derive(Debug)]
pub(crate) struct Watcher {
    trace: Option<(Trace, Filter)>,
    stats: Option<Output>,
    kernels: Mutex<Vec<Arc<Record>>>,
}

/// A dispatch, as the watcher is told of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    /// The device's instruction set.
    pub(crate) target: Target,
    /// Address of the kernel descriptor.
    pub(crate) object: u64,
    /// The descriptor.
    pub(crate) descriptor: &'a KernelDescriptor,
    /// Number of work-groups.
    pub(crate) groups: u64,
    /// Waves of a work-group.
    pub(crate) waves: u64,
}

impl Watcher {
    /// The one that the environment asks for, if it does.
    pub(crate) fn new(host: HostRef<'static>) -> Option<Arc<Self>> {
        let (options, problems) = Options::of_environment();
        // An error, for what was asked for will not be there.
        let warn = |message: &str| {
            // A log that fails has nowhere to say so.
            let _ = host.log(LogLevel::ERROR, RStr::from_str(message));
        };
        problems.iter().for_each(|problem| warn(problem));
        let trace = options.trace.and_then(|(file, filter)| match Trace::to(&file) {
            Ok(trace) => Some((trace, filter)),
            Err(error) => {
                warn(&format!(
                    "{}: cannot write the trace of kernels to {}: {error}",
                    options::TRACE,
                    file.display()
                ));
                None
            }
        });
        if trace.is_none() && options.stats.is_none() {
            return None;
        }
        let watcher = Arc::new(Self {
            trace,
            stats: options.stats,
            kernels: Mutex::default(),
        });
        LIVE.lock().push(Arc::downgrade(&watcher));
        write_at_exit();
        Some(watcher)
    }

    /// Looks at a dispatch, if it is one that somebody asked about.
    pub(crate) fn watch(
        self: &Arc<Self>,
        outside: &Arc<Outside>,
        space: &AddressSpace,
        seen: Seen<'_>,
    ) -> Option<Box<Watch>> {
        let record = self.record(space, seen)?;
        record.dispatches.fetch_add(1, Ordering::Relaxed);
        record.groups.fetch_add(seen.groups, Ordering::Relaxed);
        record
            .waves
            .fetch_add(seen.groups * seen.waves, Ordering::Relaxed);
        let traced = self
            .trace
            .as_ref()
            .is_some_and(|(_, filter)| filter.has_kernel(&record.name));
        (traced || self.stats.is_some()).then(|| {
            Box::new(Watch {
                watcher: Arc::clone(self),
                outside: Arc::clone(outside),
                record,
                traced,
            })
        })
    }

    /// The record of a kernel: the one from before, unless other code lies there now.
    fn record(&self, space: &AddressSpace, seen: Seen<'_>) -> Option<Arc<Record>> {
        let entry = seen.object.wrapping_add_signed(seen.descriptor.entry_offset);
        let mut kernels = self.kernels.lock();
        if let Some(known) = kernels
            .iter()
            .rev()
            .find(|record| record.entry == entry && record.target == seen.target)
        {
            if known.is_still_there() {
                return Some(Arc::clone(known));
            }
        }
        let name = kernel_name(space, seen.object).unwrap_or_else(|| format!("{:#x}", seen.object));
        let record = Arc::new(Record::new(space, seen.target, name, entry)?);
        kernels.push(Arc::clone(&record));
        Some(record)
    }

    /// Writes what there is to write.
    pub(crate) fn write(&self) {
        if let Some((trace, _)) = &self.trace {
            trace.flush();
        }
        let Some(output) = &self.stats else {
            return;
        };
        let report = report::of(&self.kernels.lock());
        if let Err(error) = output.write(&report) {
            // There may be no runtime any more to log it.
            eprintln!(
                "hansa: cannot write counters of kernels to {}: {error}",
                output.file.display()
            );
        }
    }
}

/// Programs end without closing their drivers.
fn write_at_exit() {
    extern "C" fn write_all() {
        let live = std::mem::take(&mut *LIVE.lock());
        for watcher in live.iter().filter_map(Weak::upgrade) {
            watcher.write();
        }
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function has the right type. It is refused only when memory is at its end, and then nothing is
        // written at the end.
        unsafe { libc::atexit(write_all) };
    });
}

/// What looks at one dispatch: the outside of its kernel, with a look at each instruction.
#[derive(Debug)]
pub(crate) struct Watch {
    watcher: Arc<Watcher>,
    outside: Arc<Outside>,
    record: Arc<Record>,
    traced: bool,
}

impl exec::Host for Watch {
    fn message(&self, immediate: u16, m0: u32) {
        self.outside.message(immediate, m0);
    }

    fn sync(&self, sync: &Sync) -> SyncAnswer {
        self.outside.sync(sync)
    }

    fn checks_group_memory(&self) -> bool {
        self.outside.checks_group_memory()
    }

    fn observes(&self) -> bool {
        true
    }

    fn step(&self, step: &Step<'_>) {
        self.record.count(step.pc, step.exec);
        if let (true, Some((trace, filter))) = (self.traced, &self.watcher.trace) {
            let offset = step.pc.wrapping_sub(self.record.entry);
            if filter.has_step(offset, step.group, step.wave) {
                trace.line(&self.record, step);
            }
        }
    }
}
