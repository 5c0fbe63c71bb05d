//! The side that answers: what this process has named, and the thread that tells.

use super::offer::{Name, Offer, Thing};
use super::{socket_name, PATIENCE};
use crate::error::{Error, Result};
use hansa_plugin_api::sync::Mutex;
use rustix::net::sockopt::{set_socket_timeout, socket_peercred, Timeout};
use rustix::net::{
    accept_with, bind, listen, recv, sendmsg, shutdown, socket_with, AddressFamily, RecvFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType,
};
use std::collections::HashMap;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// The socket that this process listens on, or -1: a forked child closes it, for else the parent's names would seem
/// to be answered for as long as the child lives.
static LISTENER: AtomicI32 = AtomicI32::new(-1);

/// Something that has a name.
#[derive(Debug)]
pub struct Export {
    /// Its address in this process, by which it is withdrawn.
    pub address: u64,
    /// What whoever asks is told.
    pub offer: Offer,
    /// What whoever asks gets.
    pub descriptor: Option<OwnedFd>,
}

/// The names that a runtime has given.
#[derive(Debug, Default)]
pub struct Exchange {
    shared: Arc<Shared>,
    thread: Mutex<Option<Listening>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// By secret.
    exports: Mutex<HashMap<u64, Export>>,
    /// How many there are, to be looked at without the lock.
    count: AtomicUsize,
}

#[derive(Debug)]
struct Listening {
    server: u64,
    socket: Arc<OwnedFd>,
    thread: JoinHandle<()>,
}

/// A number that nobody guesses.
fn secret() -> Result<u64> {
    let mut bytes = [0; 8];
    // SAFETY: the buffer is ours, and its length is given.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if usize::try_from(got) == Ok(bytes.len()) {
        Ok(u64::from_le_bytes(bytes))
    } else {
        Err(Error::OutOfResources("random numbers"))
    }
}

impl Exchange {
    /// Names something for other processes; the same thing keeps its name.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when there is no socket or no thread to be had.
    pub fn name(
        &self,
        thing: Thing,
        address: u64,
        export: impl FnOnce() -> Result<Export>,
    ) -> Result<[u32; 8]> {
        let server = self.listen()?;
        let mut exports = self.shared.exports.lock();
        let known = exports
            .iter()
            .find(|(_, known)| known.offer.thing == thing && known.address == address)
            .map(|(&secret, _)| secret);
        let secret = match known {
            Some(secret) => secret,
            None => {
                let secret = secret()?;
                exports.insert(secret, export()?);
                self.shared.count.store(exports.len(), Ordering::Release);
                secret
            }
        };
        Ok(Name {
            thing,
            server,
            secret,
        }
        .words())
    }

    /// Whether nothing has a name.
    pub fn is_empty(&self) -> bool {
        self.shared.count.load(Ordering::Acquire) == 0
    }

    /// Makes the name of something stale, if it has one.
    pub fn withdraw(&self, thing: Thing, address: u64) {
        if self.is_empty() {
            return;
        }
        let mut exports = self.shared.exports.lock();
        exports.retain(|_, known| known.offer.thing != thing || known.address != address);
        self.shared.count.store(exports.len(), Ordering::Release);
    }

    /// Starts to answer, if it has not yet. Answers where.
    fn listen(&self) -> Result<u64> {
        let mut thread = self.thread.lock();
        if let Some(listening) = thread.as_ref() {
            return Ok(listening.server);
        }
        let refused = |_| Error::OutOfResources("a socket for other processes");
        let server = secret()?;
        let socket = socket_with(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(refused)?;
        let address = SocketAddrUnix::new_abstract_name(socket_name(server).as_bytes()).map_err(refused)?;
        bind(&socket, &address).map_err(refused)?;
        listen(&socket, 64).map_err(refused)?;
        let socket = Arc::new(socket);
        let (listener, shared) = (Arc::clone(&socket), Arc::clone(&self.shared));
        let started = std::thread::Builder::new()
            .name("hansa-ipc".into())
            .spawn(move || serve(&listener, &shared))
            .map_err(|_| Error::OutOfResources("a thread for other processes"))?;
        LISTENER.store(socket.as_raw_fd(), Ordering::Release);
        *thread = Some(Listening {
            server,
            socket,
            thread: started,
        });
        Ok(server)
    }

    /// Ends the thread; all names are stale.
    pub fn stop(&self) {
        if let Some(listening) = self.thread.lock().take() {
            LISTENER.store(-1, Ordering::Release);
            // Wakes the thread out of its wait; it cannot fail for a socket that listens.
            let _ = shutdown(&listening.socket, Shutdown::Both);
            let _ = listening.thread.join();
        }
        self.shared.exports.lock().clear();
        self.shared.count.store(0, Ordering::Release);
    }
}

/// Closes a forked child's copy of the socket that its parent listens on. Only makes a system call.
pub(crate) fn after_fork() {
    let socket = LISTENER.swap(-1, Ordering::AcqRel);
    if socket >= 0 {
        // SAFETY: the descriptor is the child's copy; its owner is in what the child leaves as it is.
        unsafe { libc::close(socket) };
    }
}

fn serve(listener: &OwnedFd, shared: &Shared) {
    loop {
        match accept_with(listener, SocketFlags::CLOEXEC) {
            // Whoever asks and goes away meanwhile gets nothing, and that is all.
            Ok(peer) => drop(answer(&peer, shared)),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => {}
            Err(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE | rustix::io::Errno::NOMEM) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            Err(_) => return,
        }
    }
}

/// Answers one question, or nothing when it is none or comes from another user.
fn answer(peer: &OwnedFd, shared: &Shared) -> rustix::io::Result<()> {
    let who = socket_peercred(peer)?;
    if who.uid != rustix::process::geteuid() && !who.uid.is_root() {
        return Ok(());
    }
    for side in [Timeout::Send, Timeout::Recv] {
        set_socket_timeout(peer, side, Some(PATIENCE))?;
    }
    let mut question = [0; 32];
    let (_, length) = recv(peer, &mut question[..], RecvFlags::empty())?;
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(question.chunks_exact(4)) {
        *word = bytes.try_into().map_or(0, u32::from_le_bytes);
    }
    let Some(name) = Name::of_words(words).filter(|_| length == question.len()) else {
        return Ok(());
    };
    let exports = shared.exports.lock();
    let Some(export) = exports
        .get(&name.secret)
        .filter(|export| export.offer.thing == name.thing)
    else {
        return Ok(());
    };
    let Some(offer) = export.offer.encode() else {
        return Ok(());
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    let descriptors = export.descriptor.as_ref().map(|one| [one.as_fd()]);
    if let Some(descriptors) = &descriptors {
        beside.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    // The peer's buffer is empty and larger than an answer: this does not wait while the lock is held.
    sendmsg(peer, &[IoSlice::new(&offer)], &mut beside, SendFlags::NOSIGNAL)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::ask;
    use super::*;

    fn file() -> OwnedFd {
        super::super::MemoryFile::new("hansa-exchange", 4096)
            .unwrap()
            .into()
    }

    fn export(address: u64) -> Result<Export> {
        Ok(Export {
            address,
            offer: Offer::signal(4096),
            descriptor: Some(file()),
        })
    }

    #[test]
    fn whoever_has_the_name_gets_the_thing_until_it_is_withdrawn() {
        let exchange = Exchange::default();
        let words = exchange.name(Thing::Signal, 7, || export(7)).unwrap();
        assert_eq!(
            words,
            exchange
                .name(Thing::Signal, 7, || unreachable!("it has a name"))
                .unwrap()
        );
        let name = Name::of_words(words).unwrap();
        let (offer, descriptor) = ask(name).unwrap();
        assert_eq!(offer, Offer::signal(4096));
        assert_eq!(
            super::super::MemoryFile::of(descriptor.unwrap()).unwrap().bytes(),
            4096
        );
        exchange.withdraw(Thing::Signal, 7);
        assert!(matches!(ask(name), Err(Error::InvalidArgument(_))));
        exchange.stop();
    }

    #[test]
    fn made_up_and_stale_names_are_refused() {
        let exchange = Exchange::default();
        let name = Name::of_words(exchange.name(Thing::Signal, 7, || export(7)).unwrap()).unwrap();
        for wrong in [
            Name {
                secret: name.secret ^ 1,
                ..name
            },
            Name {
                server: name.server ^ 1,
                ..name
            },
            Name {
                thing: Thing::Memory,
                ..name
            },
        ] {
            assert!(matches!(ask(wrong), Err(Error::InvalidArgument(_))), "{wrong:?}");
        }
        exchange.stop();
        assert!(matches!(ask(name), Err(Error::InvalidArgument(_))));
    }

    #[test]
    fn a_peer_that_says_nothing_or_nonsense_does_not_end_the_service() {
        let exchange = Exchange::default();
        let name = Name::of_words(exchange.name(Thing::Signal, 7, || export(7)).unwrap()).unwrap();
        let address = SocketAddrUnix::new_abstract_name(socket_name(name.server).as_bytes()).unwrap();
        for question in [&[][..], &[1; 3], &[0xff; 32], &[0; 100]] {
            let socket = socket_with(
                AddressFamily::UNIX,
                SocketType::SEQPACKET,
                SocketFlags::CLOEXEC,
                None,
            )
            .unwrap();
            rustix::net::connect(&socket, &address).unwrap();
            rustix::net::send(&socket, question, SendFlags::NOSIGNAL).unwrap();
        }
        assert!(ask(name).is_ok());
        exchange.stop();
    }

    #[test]
    fn a_stopped_exchange_can_name_again() {
        let exchange = Exchange::default();
        let first = exchange.name(Thing::Signal, 7, || export(7)).unwrap();
        exchange.stop();
        let second = exchange.name(Thing::Signal, 7, || export(7)).unwrap();
        assert_ne!(first, second);
        assert!(ask(Name::of_words(second).unwrap()).is_ok());
        exchange.stop();
    }
}
