//! C functions have no object to hang state on: the extension that was made last, and still lives, serves them.

use arc_swap::ArcSwapOption;
use hansa_plugin_api::{HostRef, LogLevel, RStr, RuntimeServicesRef};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// What serves the functions: the extension of one runtime.
pub trait Serves {
    /// The host, for the log.
    fn host(&self) -> HostRef<'static>;

    /// The runtime's services.
    fn runtime(&self) -> RuntimeServicesRef<'static>;

    /// Writes a line to the runtime's log.
    fn log(&self, level: LogLevel, message: &str) {
        // A log that cannot be written changes nothing for the program.
        let _ = self.host().log(level, RStr::from(message));
    }
}

/// Where the functions of an extension find who serves them.
pub trait Source {
    /// What serves.
    type Served: Serves;

    /// The one that serves.
    fn served(&self) -> Option<Self::Served>;
}

impl<S: Serves> Serves for Arc<S> {
    fn host(&self) -> HostRef<'static> {
        (**self).host()
    }

    fn runtime(&self) -> RuntimeServicesRef<'static> {
        (**self).runtime()
    }
}

/// The extensions that live, in the order in which they were made: a static of the plugin. Every function asks it, from
/// any thread and also in a forked child, so it has no lock.
#[derive(Debug)]
pub struct Serving<S> {
    extensions: ArcSwapOption<Vec<(u64, S)>>,
    next: AtomicU64,
}

impl<S: Clone> Serving<S> {
    /// Nobody serves.
    #[expect(
        clippy::new_without_default,
        reason = "for statics, whose values are constants"
    )]
    pub const fn new() -> Self {
        Self {
            extensions: ArcSwapOption::const_empty(),
            next: AtomicU64::new(0),
        }
    }

    /// Lets `extension` serve for as long as the answer lives.
    pub fn install(&'static self, extension: S) -> Installed<S> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.change(|extensions| extensions.push((id, extension.clone())));
        Installed { serving: self, id }
    }

    /// The one that serves.
    pub fn last(&self) -> Option<S> {
        let extensions = self.extensions.load();
        extensions
            .as_ref()?
            .last()
            .map(|(_, extension)| extension.clone())
    }

    fn change(&self, with: impl Fn(&mut Vec<(u64, S)>)) {
        self.extensions.rcu(|extensions| {
            let mut extensions = extensions.as_deref().cloned().unwrap_or_default();
            with(&mut extensions);
            Some(Arc::new(extensions))
        });
    }
}

impl<S: Serves + Clone> Source for Serving<S> {
    type Served = S;

    fn served(&self) -> Option<S> {
        self.last()
    }
}

/// That an extension serves; it stops when this goes.
#[derive(Debug)]
pub struct Installed<S: Clone + 'static> {
    serving: &'static Serving<S>,
    id: u64,
}

impl<S: Clone> Drop for Installed<S> {
    fn drop(&mut self) {
        self.serving
            .change(|extensions| extensions.retain(|(id, _)| *id != self.id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_lives_serves() {
        static SERVING: Serving<char> = Serving::new();
        assert_eq!(SERVING.last(), None);
        let a = SERVING.install('a');
        let b = SERVING.install('b');
        let c = SERVING.install('c');
        assert_eq!(SERVING.last(), Some('c'));
        drop(b);
        assert_eq!(SERVING.last(), Some('c'));
        drop(c);
        assert_eq!(SERVING.last(), Some('a'));
        drop(a);
        assert_eq!(SERVING.last(), None);
    }
}
