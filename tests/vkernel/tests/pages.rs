//! Pages of 4, 16 and 64 KiB (case T31): the kernel's numbers are whole pages, and so is whatever the driver maps.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::sys::{MapAccess, System};
use hansa_plugin_api::{Attribute, Driver, QueueKind, QueuePriority};
use hansa_vkernel::{GpuSpec, Machine, Options};
use support::{register, request_memory, Rig, READ_INDEX, WRITE_INDEX};

const PAGES: [u64; 3] = [4096, 16384, 65536];
/// One of each way to make a queue: a ring seen twice, one in plain memory, indices in memory of the kernel.
const PROCESSORS: [&str; 4] = ["gfx803", "gfx900", "gfx90a", "gfx1100"];

fn rig(processor: &str, page: u64) -> Rig {
    let options = Options {
        page,
        ..Options::default()
    };
    let spec = GpuSpec {
        // As wide as the host's: what is registered here may be anywhere.
        address_bits: 47,
        ..GpuSpec::named(processor).unwrap()
    };
    Rig::new(Machine::with_gpus(&[spec]), options)
}

/// Whole pages of this process, at a place that a kernel with such pages gives.
fn host_pages(rig: &Rig, bytes: u64) -> u64 {
    let access = MapAccess {
        read: true,
        write: true,
        execute: false,
    };
    let bytes = usize::try_from(bytes).unwrap();
    // SAFETY: a new mapping.
    let at = unsafe { rig.system.mmap(std::ptr::null_mut(), bytes, access, None, 0) };
    at.unwrap().expose_provenance() as u64
}

/// Nothing is left but the page of events, which may stay, and nobody asked for a part of a page.
fn assert_ended(rig: &Rig) {
    let left = rig.kernel().books();
    assert!(
        left.queues == 0 && left.events == 0 && left.buffers <= 1,
        "{left:?}"
    );
    rig.assert_no_complaints();
}

#[test]
fn what_is_described_and_allocated_is_whole_pages() {
    for page in PAGES {
        let rig = rig("gfx900", page);
        rig.driver.open().unwrap();
        let description = rig.driver.describe().unwrap();
        let node = &description.nodes[0];
        assert_eq!(u64::from(node.min_queue_packets), (page / 64).max(64));
        assert!(node.banks.iter().all(|bank| bank.granule == page), "{page}");
        // Kernels with larger pages do not show registers.
        assert_eq!(
            node.attribute(Attribute::HDP_FLUSH_ADDRESS).is_some(),
            page == 4096
        );
        for bytes in [1, page - 1, page, page + 1, 5 * page] {
            let made = rig.driver.allocate(&request_memory(0, bytes)).unwrap();
            assert_eq!(made.device_address % page, 0);
            rig.driver.free(made.handle).unwrap();
        }
        rig.driver.close().unwrap();
        assert_ended(&rig);
    }
}

#[test]
fn queues_are_made_on_pages_of_every_size() {
    for (processor, page) in PROCESSORS.iter().flat_map(|p| PAGES.map(|page| (p, page))) {
        let rig = rig(processor, page);
        rig.driver.open().unwrap();
        let packets = u64::from(rig.driver.describe().unwrap().nodes[0].min_queue_packets);
        let (slots, ring) = (host_pages(&rig, 4 * page), host_pages(&rig, packets * 64));
        let shown = [(slots, 4 * page), (ring, packets * 64)]
            .map(|(address, bytes)| register(&rig, address, bytes, &[0]).unwrap().handle);
        let before = rig.kernel().books();
        for slot in [1, 2] {
            let descriptor = slots + slot * page;
            let request = api::QueueRequest {
                node: 0,
                kind: QueueKind::AQL,
                priority: QueuePriority::NORMAL,
                engine: u32::MAX,
                ring_address: ring,
                ring_bytes: packets * 64,
                descriptor_address: descriptor,
                write_index_address: descriptor + WRITE_INDEX,
                read_index_address: descriptor + READ_INDEX,
                exception_address: 0,
                event: 0,
                percent: 100,
            };
            let queue = rig
                .driver
                .create_queue(&request)
                .unwrap_or_else(|error| panic!("{processor}, pages of {page}: {error}"));
            rig.driver.destroy_queue(queue.queue).unwrap();
        }
        for handle in shown {
            rig.driver.deregister_host(handle).unwrap();
        }
        assert!(
            rig.kernel().books().buffers <= before.buffers,
            "{processor} {page}"
        );
        rig.driver.close().unwrap();
        assert_ended(&rig);
    }
}

/// The kernel wants a ring to be all of its buffer.
#[test]
fn a_ring_smaller_than_a_page_is_the_kernels_to_refuse() {
    let rig = rig("gfx900", 65536);
    rig.driver.open().unwrap();
    let (slots, ring) = (host_pages(&rig, 65536), host_pages(&rig, 65536));
    for address in [slots, ring] {
        register(&rig, address, 65536, &[0]).unwrap();
    }
    let request = |ring_bytes| api::QueueRequest {
        node: 0,
        kind: QueueKind::AQL,
        priority: QueuePriority::NORMAL,
        engine: u32::MAX,
        ring_address: ring,
        ring_bytes,
        descriptor_address: slots,
        write_index_address: slots + WRITE_INDEX,
        read_index_address: slots + READ_INDEX,
        exception_address: 0,
        event: 0,
        percent: 100,
    };
    assert!(rig.driver.create_queue(&request(4096)).is_err());
    assert!(rig.driver.create_queue(&request(65536)).is_ok());
    rig.driver.close().unwrap();
}
