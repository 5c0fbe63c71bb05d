//! The compute units: a pool of threads that run the work-groups of all dispatches of all devices.
//!
//! Packets are not read here but by whoever has news for a queue ([`queue`](crate::queue)): the thread that rings
//! the doorbell, or the thread whose work-group was the last. So a barrier packet costs no thread switch, nor does a small
//! kernel while the pool sleeps (`here`).
//!
//! At most one idle thread searches for work (it spins for some microseconds and then sleeps); whoever brings work
//! wakes one only if nobody searches. A thread that found work and sees more wakes the next.

mod here;
mod job;
mod pool;
mod sleep;
mod work;
mod worker;

pub(crate) use here::{Here, MOST_WAVES};
pub(crate) use job::Job;
pub(crate) use pool::Pool;
