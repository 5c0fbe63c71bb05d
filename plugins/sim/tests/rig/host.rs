//! What the driver sees of the runtime.

use hansa_plugin_api::{DeviceEvent, Error, ErrorCode, Host, LogLevel, RStr, RString, Result, ThreadEntry};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A runtime that writes down what it is told.
#[derive(Debug, Default)]
pub struct Notes {
    configuration: String,
    threads: u32,
    pub logs: Mutex<Vec<(LogLevel, String)>>,
    pub events: Mutex<Vec<DeviceEvent>>,
    pub raised: Mutex<Vec<u32>>,
    pub changed: AtomicU64,
    /// Address of the signal that changed last.
    pub last_changed: AtomicU64,
    pub spawned: AtomicU32,
    pub running: Arc<AtomicU32>,
    /// Threads that may be started; the rest is refused.
    pub may_spawn: AtomicU32,
}

/// A runtime that outlives every test.
#[derive(Clone, Copy, Debug)]
pub struct FakeHost(&'static Notes);

impl std::ops::Deref for FakeHost {
    type Target = Notes;

    fn deref(&self) -> &Notes {
        self.0
    }
}

impl FakeHost {
    /// A runtime with a configuration and a wish for threads.
    pub fn leaked(configuration: &str, threads: u32) -> Self {
        Self(Box::leak(Box::new(Notes {
            configuration: configuration.to_owned(),
            threads,
            may_spawn: AtomicU32::new(u32::MAX),
            ..Notes::default()
        })))
    }

    /// Texts that were logged at a level.
    pub fn logged(&self, level: LogLevel) -> Vec<String> {
        locked(&self.logs)
            .iter()
            .filter(|(of, _)| *of == level)
            .map(|(_, text)| text.clone())
            .collect()
    }
}

/// A list, even after a test that held it failed.
pub fn locked<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The clock of the tests, which is the system's.
pub fn clock() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl Host for FakeHost {
    fn log(&self, level: LogLevel, message: RStr<'_>) -> Result<()> {
        locked(&self.logs).push((level, message.as_str().to_owned()));
        Ok(())
    }

    fn now(&self) -> Result<u64> {
        Ok(clock())
    }

    fn configuration(&self) -> Result<RString> {
        Ok(self.0.configuration.as_str().into())
    }

    fn spawn(&self, name: RStr<'_>, entry: ThreadEntry) -> Result<()> {
        let granted = self
            .may_spawn
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if granted.is_err() {
            return Err(Error::new(
                ErrorCode::OUT_OF_RESOURCES,
                "No more threads in this test",
            ));
        }
        self.spawned.fetch_add(1, Ordering::SeqCst);
        self.running.fetch_add(1, Ordering::SeqCst);
        let running = Arc::clone(&self.running);
        let body = move || {
            (entry.run)(entry.argument);
            running.fetch_sub(1, Ordering::SeqCst);
        };
        std::thread::Builder::new()
            .name(name.as_str().to_owned())
            .spawn(body)
            .map(drop)
            .map_err(|error| Error::new(ErrorCode::OUT_OF_RESOURCES, error.to_string()))
    }

    fn signal_changed(&self, signal: u64) -> Result<()> {
        self.last_changed.store(signal, Ordering::SeqCst);
        self.changed.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn event_raised(&self, event: u32) -> Result<()> {
        locked(&self.raised).push(event);
        Ok(())
    }

    fn device_event(&self, event: &DeviceEvent) -> Result<()> {
        locked(&self.events).push(event.clone());
        Ok(())
    }

    fn worker_threads(&self) -> Result<u32> {
        Ok(self.0.threads)
    }
}
