//! Global wave sync resources: counters of the device with which all work-groups of a cooperative dispatch meet.
//! One queue at a time has them, as on hardware.

use crate::chip::GWS_COUNT;
use hansa_plugin_api::{Error, ErrorCode};
use parking_lot::Mutex;

/// Who has the resources of a device.
#[derive(Debug, Default)]
pub(crate) struct Gws {
    owner: Mutex<Option<u64>>,
}

impl Gws {
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
}
