//! Signals and their handlers.

use super::Group;
use crate::error::Error;
use crate::signal::block::flag;
use crate::signal::{self, wait, Block, Condition};
use crate::{clock, trace};
use hansa_plugin_api as api;
use std::sync::atomic::Ordering;

#[derive(Debug)]
pub(super) struct Signals(pub(super) Group);

/// `hsa_amd_signal_attribute_t`.
const GPU_ONLY: u64 = 1;
const IPC: u64 = 2;

/// The condition of a number; `None` for one that is never met.
fn condition(number: u32) -> Option<Condition> {
    [Condition::Eq, Condition::Ne, Condition::Lt, Condition::Gte]
        .get(usize::try_from(number).ok()?)
        .copied()
}

/// Something to wait for; `None` for a signal or condition that is none.
type Wanted = Option<(&'static Block, Condition, i64)>;

fn wanted(list: &api::WaitList<'_>) -> Vec<Wanted> {
    list.signals
        .iter()
        .zip(list.conditions.iter())
        .zip(list.values.iter())
        .map(|((&signal, &number), &value)| Some((Block::of(signal)?, condition(number)?, value)))
        .collect()
}

fn blocks(wanted: &[Wanted]) -> Vec<&'static Block> {
    wanted.iter().flatten().map(|(block, ..)| *block).collect()
}

fn met((block, condition, compare): &(&Block, Condition, i64)) -> Option<i64> {
    let value = block.value.load(Ordering::Acquire);
    condition.holds(value, *compare).then_some(value)
}

/// Tells the trace of a wait on several signals, when there was one at the start.
fn report_wait(what: &str, signals: usize, start: Option<u64>) {
    if let Some(start) = start {
        let details = [("signals", signals.to_string())];
        trace::span(trace::Place::Wait, what, &details, start, clock::now());
    }
}

impl api::SignalServices for Signals {
    fn create(&self, initial: i64, consumers: api::RSlice<'_, u64>, attributes: u64) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        for (index, consumer) in consumers.iter().enumerate() {
            if consumers[..index].contains(consumer) {
                return Err(Error::InvalidArgument("a consumer is named twice").into());
            }
        }
        // Consumers that are devices only need no way to wake the host.
        let host_waits = consumers.is_empty()
            || consumers
                .iter()
                .any(|&c| runtime.agent(c).map_or(true, crate::agent::Agent::is_cpu));
        let mut flags = 0;
        if attributes & GPU_ONLY != 0 {
            flags |= flag::GPU_ONLY;
        }
        if flags == 0 && host_waits {
            flags = flag::SLEEPS;
        }
        if attributes & IPC != 0 {
            return Ok(signal::ipc::create(&runtime, initial, flags)?);
        }
        Ok(signal::create(initial, flags)?)
    }

    fn value_address(&self, signal: u64) -> api::Result<u64> {
        let block = signal::checked(signal)?;
        if !block.has(flag::GPU_ONLY) && !block.is_shared() {
            return Err(
                Error::InvalidArgument("the signal is neither GPU only nor for other processes").into(),
            );
        }
        Ok(std::ptr::from_ref(&block.value).expose_provenance() as u64)
    }

    fn event_id(&self, signal: u64) -> api::Result<u32> {
        let block = signal::checked(signal).map_err(|_| Error::InvalidArgument("not a signal"))?;
        Ok(block.event_id.load(Ordering::Relaxed))
    }

    fn on_condition(
        &self,
        signal: u64,
        number: u32,
        value: i64,
        handler: api::SignalHandler,
    ) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let block = signal::checked(signal)?;
        if block.is_doorbell() {
            return Err(Error::InvalidSignal.into());
        }
        let Some(condition) = condition(number) else {
            // A condition that is never met: registered, and never called.
            return Ok(());
        };
        let callback = move |seen: i64| {
            let handler: api::SignalHandler = handler;
            // SAFETY: the program gave this function for exactly this call.
            unsafe { (handler.function)(seen, handler.argument) }
        };
        Ok(runtime
            .handlers
            .register(block, condition, value, Box::new(callback))?)
    }

    fn run_async(&self, function: api::AsyncFunction) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let run = move || {
            let function: api::AsyncFunction = function;
            // SAFETY: the program gave this function for exactly this call.
            unsafe { (function.function)(function.argument) };
        };
        Ok(runtime.handlers.run(run)?)
    }

    fn wait_any(&self, list: &api::WaitList<'_>) -> api::Result<api::WaitAny> {
        self.0.runtime()?;
        let wanted = wanted(list);
        let mut result = api::WaitAny {
            index: u32::MAX,
            reserved: 0,
            value: 0,
        };
        let start = trace::on().then(clock::now);
        wait::wait_group(&blocks(&wanted), list.timeout, || {
            for (index, one) in wanted.iter().enumerate() {
                if let Some(value) = one.as_ref().and_then(met) {
                    result.index = u32::try_from(index).unwrap_or(u32::MAX);
                    result.value = value;
                    return true;
                }
            }
            false
        });
        report_wait("wait for any", wanted.len(), start);
        Ok(result)
    }

    fn wait_all(&self, list: &api::WaitList<'_>) -> api::Result<api::WaitAll> {
        self.0.runtime()?;
        let wanted = wanted(list);
        let mut values = vec![0; wanted.len()];
        if wanted.iter().any(Option::is_none) {
            // What is no signal never meets a condition.
            return Ok(api::WaitAll {
                met: false,
                values: api::RVec::new(),
            });
        }
        let mut open: Vec<usize> = (0..wanted.len()).collect();
        let start = trace::on().then(clock::now);
        let all = wait::wait_group(&blocks(&wanted), list.timeout, || {
            open.retain(|&index| match wanted[index].as_ref().and_then(met) {
                Some(value) => {
                    values[index] = value;
                    false
                }
                None => true,
            });
            open.is_empty()
        });
        report_wait("wait for all", wanted.len(), start);
        Ok(api::WaitAll {
            met: all,
            values: if all { values.into() } else { api::RVec::new() },
        })
    }

    fn ipc_export(&self, signal: u64) -> api::Result<api::IpcName> {
        let runtime = self.0.runtime()?;
        let words = signal::ipc::export(&runtime, signal::checked(signal)?)?;
        Ok(api::IpcName { words })
    }

    fn ipc_attach(&self, name: api::IpcName) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        Ok(signal::ipc::attach(&runtime, name.words)?)
    }
}
