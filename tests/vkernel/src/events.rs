//! Events: set, reset, wait.
//!
//! Setting an auto-reset event wakes every waiter that is there and leaves it lowered; without a waiter it stays
//! raised for the first who comes. Each setting makes the event one older, and a waiter that names an older age does
//! not sleep.

use crate::Errno;
use hansa_kfd::uapi::event as uapi;
use hansa_plugin_api::sync::Condvar;
use std::collections::BTreeMap;
use std::sync::Arc;

/// First number of events that are not of signals.
const FIRST_OTHER: u32 = 0x8000;

/// An event.
#[derive(Debug, Default)]
pub struct Event {
    /// Kind.
    pub kind: u32,
    /// One wait takes it.
    pub auto_reset: bool,
    /// It is raised.
    pub raised: bool,
    /// How often it was raised, from 1.
    pub age: u64,
    /// Where those sleep who wait.
    waiters: Vec<Arc<Condvar>>,
    /// What it reports.
    pub payload: [u32; 8],
}

impl Event {
    /// How many wait for it.
    #[must_use]
    pub fn waiters(&self) -> usize {
        self.waiters.len()
    }
}

/// Where those sleep whom a change concerns. They look again when they are woken, after the events are free for them.
#[derive(Debug, Default)]
#[must_use = "who sleeps is not woken yet"]
pub struct Woken(Vec<Arc<Condvar>>);

impl Woken {
    /// Wakes them.
    pub fn wake(self) {
        for sleeper in self.0 {
            sleeper.notify_all();
        }
    }
}

/// The events of a process.
#[derive(Debug, Default)]
pub struct Events {
    table: BTreeMap<u32, Event>,
}

impl Events {
    /// Makes an event; answers its number, and its slot if it is of a signal. `slots` is how many there are.
    ///
    /// # Errors
    ///
    /// [`Errno::NOSPC`] when there are no more, [`Errno::INVAL`] for a kind that is none.
    pub fn create(&mut self, kind: u32, auto_reset: bool, slots: u32) -> Result<(u32, Option<u32>), Errno> {
        let signal = matches!(kind, uapi::EVENT_SIGNAL | 5);
        if kind > uapi::EVENT_MEMORY {
            return Err(Errno::INVAL);
        }
        let mut numbers = if signal {
            0..slots
        } else {
            FIRST_OTHER..FIRST_OTHER + 4096
        };
        let id = numbers
            .find(|id| !self.table.contains_key(id))
            .ok_or(Errno::NOSPC)?;
        let event = Event {
            kind,
            auto_reset,
            age: 1,
            ..Event::default()
        };
        self.table.insert(id, event);
        Ok((id, signal.then_some(id)))
    }

    /// An event by its number.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`].
    pub fn get(&mut self, id: u32) -> Result<&mut Event, Errno> {
        self.table.get_mut(&id).ok_or(Errno::INVAL)
    }

    /// Destroys an event.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`].
    pub fn destroy(&mut self, id: u32) -> Result<Woken, Errno> {
        let event = self.table.remove(&id).ok_or(Errno::INVAL)?;
        Ok(Woken(event.waiters))
    }

    /// Raises an event.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`].
    pub fn raise(&mut self, id: u32) -> Result<Woken, Errno> {
        let event = self.get(id)?;
        event.age += 1;
        event.raised = !event.auto_reset || event.waiters.is_empty();
        Ok(Woken(event.waiters.clone()))
    }

    /// Raises all events of a kind, with what they report; nothing when there is none.
    pub fn report(&mut self, kind: u32, payload: [u32; 8]) -> Option<Woken> {
        let mut woken = None;
        for event in self.table.values_mut().filter(|event| event.kind == kind) {
            event.payload = payload;
            event.age += 1;
            event.raised = true;
            let Woken(sleepers) = woken.get_or_insert_default();
            sleepers.extend_from_slice(&event.waiters);
        }
        woken
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table.len()
    }
}

/// One wait, event by event.
#[derive(Debug)]
pub struct Waiter {
    ids: Vec<u32>,
    /// Age at the beginning, and whether it was found raised then.
    seen: Vec<(u64, bool)>,
    /// Whether the waiter named an age, and is told the new one.
    tracked: Vec<bool>,
    /// Where it sleeps.
    sleep: Arc<Condvar>,
}

/// How a wait stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// All that it waits for is raised.
    Complete,
    /// Not yet.
    Waiting,
    /// An event is gone.
    Gone,
}

impl Waiter {
    /// Begins to wait. `ages` are what the waiter saw last, 0 for no matter.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`] for an event that is none.
    pub fn begin(events: &mut Events, ids: Vec<u32>, ages: &[u64]) -> Result<Self, Errno> {
        for id in &ids {
            events.get(*id)?;
        }
        let sleep = Arc::new(Condvar::new());
        let mut seen = Vec::with_capacity(ids.len());
        let tracked = (0..ids.len())
            .map(|i| ages.get(i).is_some_and(|age| *age != 0))
            .collect();
        for (i, id) in ids.iter().enumerate() {
            let event = events.get(*id)?;
            let last = ages.get(i).copied().unwrap_or(0);
            let older = event.kind == uapi::EVENT_SIGNAL && last != 0 && last != event.age;
            seen.push((event.age, event.raised || older));
            event.raised &= !event.auto_reset;
            event.waiters.push(Arc::clone(&sleep));
        }
        Ok(Self {
            ids,
            seen,
            tracked,
            sleep,
        })
    }

    /// Where it sleeps: whoever changes one of its events wakes that.
    #[must_use]
    pub fn sleep(&self) -> &Condvar {
        &self.sleep
    }

    fn is_raised(&self, events: &mut Events, i: usize) -> Option<bool> {
        let event = events.get(self.ids[i]).ok()?;
        let (age, raised) = self.seen[i];
        Some(raised || event.age != age)
    }

    /// How it stands.
    pub fn standing(&self, events: &mut Events, all: bool) -> Standing {
        let mut raised = 0;
        for i in 0..self.ids.len() {
            match self.is_raised(events, i) {
                None => return Standing::Gone,
                Some(true) => raised += 1,
                Some(false) => {}
            }
        }
        if raised == self.ids.len() || (!all && raised > 0) {
            Standing::Complete
        } else {
            Standing::Waiting
        }
    }

    /// What the events report that are raised; `None` for others.
    pub fn reports(&self, events: &mut Events) -> Vec<Option<[u32; 8]>> {
        (0..self.ids.len())
            .map(|i| {
                if self.is_raised(events, i) != Some(true) {
                    return None;
                }
                let event = events.get(self.ids[i]).ok()?;
                let mut payload = event.payload;
                if event.kind == uapi::EVENT_SIGNAL {
                    if !self.tracked[i] {
                        return None;
                    }
                    let [low, high] = hansa_kfd::event::halves(event.age);
                    payload[uapi::signal::AGE_LOW] = low;
                    payload[uapi::signal::AGE_HIGH] = high;
                }
                Some(payload)
            })
            .collect()
    }

    /// Ends it.
    pub fn end(self, events: &mut Events) {
        for id in self.ids {
            if let Ok(event) = events.get(id) {
                event.waiters.retain(|sleep| !Arc::ptr_eq(sleep, &self.sleep));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(auto_reset: bool) -> (Events, u32) {
        let mut events = Events::default();
        let (id, _) = events.create(uapi::EVENT_SIGNAL, auto_reset, 16).unwrap();
        (events, id)
    }

    #[test]
    fn an_auto_reset_event_wakes_every_waiter_that_is_there() {
        let (mut events, id) = one(true);
        let a = Waiter::begin(&mut events, vec![id], &[]).unwrap();
        let b = Waiter::begin(&mut events, vec![id], &[]).unwrap();
        events.raise(id).unwrap().wake();
        let late = Waiter::begin(&mut events, vec![id], &[]).unwrap();
        assert_eq!(a.standing(&mut events, true), Standing::Complete);
        assert_eq!(b.standing(&mut events, true), Standing::Complete);
        assert_eq!(late.standing(&mut events, true), Standing::Waiting);
    }

    #[test]
    fn without_a_waiter_it_stays_raised_for_the_first_who_comes() {
        let (mut events, id) = one(true);
        events.raise(id).unwrap().wake();
        let a = Waiter::begin(&mut events, vec![id], &[]).unwrap();
        assert_eq!(a.standing(&mut events, true), Standing::Complete);
        a.end(&mut events);
        let b = Waiter::begin(&mut events, vec![id], &[]).unwrap();
        assert_eq!(b.standing(&mut events, true), Standing::Waiting);
    }

    #[test]
    fn a_waiter_with_an_older_age_does_not_sleep() {
        let (mut events, id) = one(true);
        events.raise(id).unwrap().wake();
        Waiter::begin(&mut events, vec![id], &[])
            .unwrap()
            .end(&mut events);
        let old = Waiter::begin(&mut events, vec![id], &[1]).unwrap();
        assert_eq!(old.standing(&mut events, true), Standing::Complete);
        let new = Waiter::begin(&mut events, vec![id], &[2]).unwrap();
        assert_eq!(new.standing(&mut events, true), Standing::Waiting);
    }

    #[test]
    fn who_names_no_age_is_told_none() {
        let (mut events, id) = one(true);
        events.raise(id).unwrap().wake();
        for (age, told) in [(0, None), (1, Some(3))] {
            let waiter = Waiter::begin(&mut events, vec![id], &[age]).unwrap();
            let reports = waiter.reports(&mut events);
            assert_eq!(reports[0].map(|payload| payload[uapi::signal::AGE_LOW]), told);
            waiter.end(&mut events);
            events.raise(id).unwrap().wake();
        }
    }

    #[test]
    fn only_who_waits_for_an_event_is_woken() {
        let (mut events, id) = one(true);
        let (other, _) = events.create(uapi::EVENT_SIGNAL, true, 16).unwrap();
        let (memory, _) = events.create(uapi::EVENT_MEMORY, false, 16).unwrap();
        let a = Waiter::begin(&mut events, vec![id, memory], &[]).unwrap();
        let b = Waiter::begin(&mut events, vec![other], &[]).unwrap();
        let of =
            |woken: Woken, waiter: &Waiter| woken.0.iter().any(|sleep| Arc::ptr_eq(sleep, &waiter.sleep));
        let both = |woken: Woken, again: Woken| (of(woken, &a), of(again, &b));
        let mut raised = |id| (events.raise(id).unwrap(), events.raise(id).unwrap());
        let (first, again) = raised(id);
        assert_eq!(both(first, again), (true, false));
        let (first, again) = raised(other);
        assert_eq!(both(first, again), (false, true));
        let reported = events.report(uapi::EVENT_MEMORY, [0; 8]).unwrap();
        assert!(of(reported, &a));
        assert!(events.report(uapi::EVENT_HW_EXCEPTION, [0; 8]).is_none());
        assert!(of(events.destroy(other).unwrap(), &b));
        a.end(&mut events);
        assert!(events.raise(id).unwrap().0.is_empty());
    }

    #[test]
    fn slots_run_out_and_come_back() {
        let mut events = Events::default();
        for _ in 0..16 {
            events.create(uapi::EVENT_SIGNAL, true, 16).unwrap();
        }
        assert_eq!(events.create(uapi::EVENT_SIGNAL, true, 16), Err(Errno::NOSPC));
        events.create(uapi::EVENT_MEMORY, false, 16).unwrap();
        events.destroy(7).unwrap().wake();
        assert_eq!(events.create(uapi::EVENT_SIGNAL, true, 16).unwrap(), (7, Some(7)));
    }
}
