//! Asking another process for what a name stands for.

use super::offer::{Name, Offer};
use super::{socket_name, PATIENCE};
use crate::error::{Error, Result};
use rustix::net::sockopt::{set_socket_timeout, Timeout};
use rustix::net::{
    connect, recvmsg, send, socket_with, AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// What a name stands for, and its descriptor if it has one.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a name that nobody answers to (any more), and for an answer that makes no sense;
/// [`Error::OutOfResources`] when there is no descriptor left.
pub fn ask(name: Name) -> Result<(Offer, Option<OwnedFd>)> {
    let stale = |_| Error::InvalidArgument("nobody answers to the name");
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|_| Error::OutOfResources("a socket"))?;
    for side in [Timeout::Send, Timeout::Recv] {
        set_socket_timeout(&socket, side, Some(PATIENCE)).map_err(stale)?;
    }
    let address = SocketAddrUnix::new_abstract_name(socket_name(name.server).as_bytes()).map_err(stale)?;
    connect(&socket, &address).map_err(stale)?;
    let mut question = [0; 32];
    for (place, word) in question.chunks_exact_mut(4).zip(name.words()) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    send(&socket, &question, SendFlags::NOSIGNAL).map_err(stale)?;

    let mut answer = [0; Offer::BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(
        &socket,
        &mut [IoSliceMut::new(&mut answer)],
        &mut beside,
        RecvFlags::CMSG_CLOEXEC,
    )
    .map_err(stale)?;
    let mut descriptors = beside.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let descriptor = descriptors.by_ref().flatten().next();
    let offer = answer.get(..got.bytes).and_then(Offer::decode);
    let offer = offer
        .filter(|offer| offer.thing == name.thing)
        .ok_or(Error::InvalidArgument("the name stands for nothing (any more)"))?;
    Ok((offer, descriptor))
}
