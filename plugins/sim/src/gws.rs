//! Global wave sync resources: counters of the device with which all work-groups of a cooperative dispatch meet.
//! One queue at a time has them, as on hardware.

use crate::chip::GWS_COUNT;
use crate::exec::{Sync, SyncAnswer, SyncOp};
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{Error, ErrorCode};

/// The resources of a device.
#[derive(Debug)]
pub struct Gws {
    /// The queue that has them.
    owner: Mutex<Option<u64>>,
    resources: Mutex<Vec<Resource>>,
}

impl Default for Gws {
    fn default() -> Self {
        Self {
            owner: Mutex::default(),
            resources: Mutex::new(vec![Resource::default(); GWS_COUNT as usize]),
        }
    }
}

/// A barrier or a semaphore.
#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    /// What it was made with.
    count: u32,
    /// Waves that are at the barrier.
    arrived: u32,
    /// What can be taken from the semaphore.
    tokens: u32,
    /// Counts how often everybody was let go: a wave that waits since an earlier time is free.
    time: u64,
}

impl Resource {
    fn answer(&mut self, sync: &Sync) -> SyncAnswer {
        if sync.ticket.is_some_and(|since| since != self.time) {
            return SyncAnswer::Go;
        }
        match sync.op {
            SyncOp::Init => {
                *self = Self {
                    count: sync.count,
                    arrived: 0,
                    tokens: sync.count,
                    time: self.time + 1,
                };
            }
            // The kernel that makes the barrier, or each wave that comes to it, says how many come besides.
            SyncOp::Barrier => {
                if sync.ticket.is_some() {
                    return SyncAnswer::Wait(self.time);
                }
                self.arrived += 1;
                if self.arrived <= self.count.max(sync.count) {
                    return SyncAnswer::Wait(self.time);
                }
                self.arrived = 0;
                self.time += 1;
            }
            SyncOp::SemaV => self.tokens = self.tokens.saturating_add(1),
            SyncOp::SemaBr => self.tokens = self.tokens.saturating_add(sync.count),
            SyncOp::SemaP => match self.tokens.checked_sub(1) {
                Some(left) => self.tokens = left,
                None => return SyncAnswer::Wait(self.time),
            },
            SyncOp::SemaReleaseAll => self.time += 1,
        }
        SyncAnswer::Go
    }
}

impl Gws {
    /// A wave uses a resource.
    pub fn use_resource(&self, sync: &Sync) -> SyncAnswer {
        self.resources
            .lock()
            .get_mut(sync.resource as usize)
            .map_or(SyncAnswer::Absent, |resource| resource.answer(sync))
    }

    /// Gives a queue resources, or takes them back when `count` is 0. Answers the first one's number.
    pub(crate) fn allocate(&self, queue: u64, count: u32) -> Result<u32, Error> {
        if count > GWS_COUNT {
            let message =
                format!("{count} global wave sync resources were asked for and there are {GWS_COUNT}");
            return Err(Error::new(ErrorCode::OUT_OF_RESOURCES, message));
        }
        let mut owner = self.owner.lock();
        match *owner {
            Some(other) if other != queue => Err(Error::new(
                ErrorCode::BUSY,
                format!("Queue {other} has the device's global wave sync resources"),
            )),
            _ => {
                *owner = (count > 0).then_some(queue);
                Ok(0)
            }
        }
    }

    /// Takes back what a queue has.
    pub(crate) fn release(&self, queue: u64) {
        let mut owner = self.owner.lock();
        if *owner == Some(queue) {
            *owner = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_queue_at_a_time_has_the_resources() {
        let gws = Gws::default();
        assert_eq!(gws.allocate(1, 64), Ok(0));
        assert_eq!(gws.allocate(2, 1).unwrap_err().code, ErrorCode::BUSY);
        gws.release(2);
        assert_eq!(gws.allocate(1, 64), Ok(0));
        gws.release(1);
        assert_eq!(gws.allocate(2, 1), Ok(0));
        assert_eq!(gws.allocate(2, 65).unwrap_err().code, ErrorCode::OUT_OF_RESOURCES);
    }

    fn sync(op: SyncOp, count: u32, ticket: Option<u64>) -> Sync {
        Sync {
            op,
            resource: 3,
            count,
            ticket,
        }
    }

    #[test]
    fn a_barrier_lets_all_go_when_the_last_has_come() {
        let gws = Gws::default();
        gws.use_resource(&sync(SyncOp::Init, 2, None));
        for _ in 0..3 {
            let SyncAnswer::Wait(first) = gws.use_resource(&sync(SyncOp::Barrier, 0, None)) else {
                panic!("the first one waits");
            };
            let second = gws.use_resource(&sync(SyncOp::Barrier, 2, None));
            assert_eq!(second, SyncAnswer::Wait(first));
            let again = sync(SyncOp::Barrier, 0, Some(first));
            assert_eq!(gws.use_resource(&again), SyncAnswer::Wait(first));
            assert_eq!(gws.use_resource(&sync(SyncOp::Barrier, 0, None)), SyncAnswer::Go);
            assert_eq!(gws.use_resource(&again), SyncAnswer::Go);
        }
    }

    #[test]
    fn a_semaphore_gives_what_it_was_given() {
        let gws = Gws::default();
        gws.use_resource(&sync(SyncOp::Init, 1, None));
        assert_eq!(gws.use_resource(&sync(SyncOp::SemaP, 0, None)), SyncAnswer::Go);
        let SyncAnswer::Wait(since) = gws.use_resource(&sync(SyncOp::SemaP, 0, None)) else {
            panic!("nothing is left");
        };
        gws.use_resource(&sync(SyncOp::SemaBr, 2, None));
        assert_eq!(
            gws.use_resource(&sync(SyncOp::SemaP, 0, Some(since))),
            SyncAnswer::Go
        );
        gws.use_resource(&sync(SyncOp::SemaV, 0, None));
        assert_eq!(gws.use_resource(&sync(SyncOp::SemaP, 0, None)), SyncAnswer::Go);
        assert_eq!(gws.use_resource(&sync(SyncOp::SemaP, 0, None)), SyncAnswer::Go);
        assert_eq!(
            gws.use_resource(&sync(SyncOp::SemaP, 0, None)),
            SyncAnswer::Wait(since)
        );
        gws.use_resource(&sync(SyncOp::SemaReleaseAll, 0, None));
        assert_eq!(
            gws.use_resource(&sync(SyncOp::SemaP, 0, Some(since))),
            SyncAnswer::Go
        );
    }
}
