//! Designs for the array: images and control code, made here from the register references.

/// Words of the published passthrough.
pub(crate) const PASSTHROUGH_WORDS: usize = 4096;

/// The control code that mlir-aie publishes for `programming_examples/basic/passthrough_dmas` (commit 4fe0c68): argument 2 becomes
/// argument 0, 4096 words.
pub(crate) const PASSTHROUGH: [u32; 68] = {
    let mut code = [0; 68];
    let words: [(usize, u32); 30] = [
        (0, 0x0603_0100),
        (1, 0x0000_0105),
        (2, 7),
        (3, 0x110),
        // Descriptor 0.
        (4, 1),
        (6, 0x1_d000),
        (7, 0x30),
        (8, 0x1000),
        (12, 0x8000_0000),
        (15, 0x0200_0000),
        (16, 0x81),
        (17, 0x30),
        (22, 0x1_d004),
        (24, 2),
        // To memory from descriptor 0, with a token.
        (30, 0x1_d204),
        (32, 0x8000_0000),
        (33, 0x18),
        // Descriptor 1.
        (34, 1),
        (36, 0x1_d020),
        (37, 0x30),
        (38, 0x1000),
        (42, 0x8000_0000),
        (45, 0x0200_0000),
        (46, 0x81),
        (47, 0x30),
        (52, 0x1_d024),
        // From memory with descriptor 1.
        (60, 0x1_d214),
        (62, 1),
        (63, 0x18),
        (64, 0x80),
    ];
    let mut at = 0;
    while at < words.len() {
        code[words[at].0] = words[at].1;
        at += 1;
    }
    code[65] = 0x10;
    code[67] = 0x0001_0100;
    code
};

/// A configuration that writes registers.
pub(crate) fn image(writes: &[(u32, u32)]) -> Vec<u32> {
    let mut body: Vec<u32> = writes
        .iter()
        .flat_map(|&(at, value)| [0x103 | 2 << 16, at, value])
        .collect();
    body.push(0x100);
    let header = [4, 0x004f_4443, 0x200, u32::try_from(body.len()).unwrap()];
    let sum = header.iter().fold(0_u32, |sum, word| sum.wrapping_add(*word));
    // A container before it, as a real one has.
    let mut words = vec![0xdead_beef; 4];
    words.extend(header);
    words.push(!sum);
    words.extend(body);
    words
}

const ON: u32 = 1 << 31;

/// Streams from the shim tile's first mover through the memory tile to the core tile above, and back.
fn there_and_back() -> Vec<(u32, u32)> {
    vec![
        (0x23_f004, ON | 5),
        (0x23_f114, ON),
        (0x23_f014, ON | 1),
        (0x23_f104, ON),
        (0x1b_002c, ON | 7),
        (0x1b_011c, ON),
        (0x1b_001c, ON | 13),
        (0x1b_0134, ON),
        (0x3_f030, ON | 5),
        (0x3_f114, ON),
        (0x3_f010, ON | 14),
        (0x3_f138, ON),
        (0x1_f000, 0x400),
        (0x1_f004, 0x10),
    ]
}

/// The configuration for [`PASSTHROUGH`]: two buffers of 1024 words in the core tile, filled and emptied in turn.
pub(crate) fn passthrough() -> Vec<u32> {
    let mut writes = there_and_back();
    let base = 0x20_0000;
    for (descriptor, first, last) in [
        (0, 0x0040_0400, 0x0e04_3fe0_u32),
        (1, 0x0400_0400, 0x0604_3fe0),
        (2, 0x0040_0400, 0x1e04_1fe1),
        (3, 0x0400_0400, 0x1604_1fe1),
    ] {
        let at = base + 0x1_d000 + 0x20 * descriptor;
        writes.extend([(at, first), (at + 0x14, last)]);
    }
    writes.extend([
        (base + 0x1_f000, 2),
        (base + 0x1_f010, 0),
        (base + 0x1_de04, 0),
        (base + 0x1_de14, 2),
    ]);
    image(&writes)
}

/// A configuration in which words that leave the shim tile come back to it at once.
pub(crate) fn loopback() -> Vec<u32> {
    image(&[
        (0x3_f010, ON | 5),
        (0x3_f114, ON),
        (0x1_f000, 0x400),
        (0x1_f004, 0x10),
    ])
}

/// Control code, in the long encoding (version 0.1) or the short one (1.0).
#[derive(Debug)]
pub(crate) struct Code {
    generation: u32,
    short: bool,
    operations: u32,
    words: Vec<u32>,
}

impl Code {
    pub(crate) fn new(generation: u32, short: bool) -> Self {
        Self {
            generation,
            short,
            operations: 0,
            words: Vec::new(),
        }
    }

    fn add(mut self, long: &[u32], short: &[u32]) -> Self {
        self.words.extend(if self.short { short } else { long });
        self.operations += 1;
        self
    }

    pub(crate) fn write(self, at: u32, value: u32) -> Self {
        self.add(&[0, 0, at, 0, value, 24], &[0, at, value])
    }

    pub(crate) fn block(self, at: u32, values: &[u32]) -> Self {
        let bytes = |words: usize| u32::try_from(4 * (words + values.len())).unwrap();
        let long = [&[1, 0, at, bytes(4)], values].concat();
        let short = [&[1, at, bytes(3)], values].concat();
        self.add(&long, &short)
    }

    pub(crate) fn poll(self, at: u32, value: u32, mask: u32) -> Self {
        self.add(&[4, 0, at, 0, value, mask, 28], &[4, at, value, mask])
    }

    /// Adds an argument's address to the one in a descriptor.
    pub(crate) fn patch(self, at: u32, argument: u32, plus: u32) -> Self {
        self.add(
            &[0x81, 48, 0, 0, 0, 0, at, 0, argument, 0, plus, 0],
            &[0x81, 24, at, argument, plus, 0],
        )
    }

    /// Waits for the token of the first mover to memory of column 0, row 0.
    pub(crate) fn wait(self) -> Self {
        let words = [0x80, 16, 0, 0x0001_0100];
        self.add(&words, &words)
    }

    /// An operation that there is not.
    pub(crate) fn unknown(self) -> Self {
        self.add(&[77], &[77])
    }

    /// A descriptor of the shim tile, with the address of an argument.
    pub(crate) fn descriptor(self, number: u32, words: [u32; 8], argument: u32, plus: u32) -> Self {
        let at = 0x1_d000 + 0x20 * number;
        self.block(at, &words).patch(at + 4, argument, plus)
    }

    /// Copies words of the first argument to the second through the loop of [`loopback`].
    pub(crate) fn copy(self, words: u32, from: u32, to: u32) -> Self {
        let linear = [words, 0, 0, 0, 0, 0, 0, 1 << 25];
        self.descriptor(0, linear, to, 0)
            .write(0x1_d204, 1 << 31)
            .descriptor(1, linear, from, 0)
            .write(0x1_d214, 1)
            .wait()
    }

    pub(crate) fn finish(self) -> Vec<u32> {
        let version = if self.short { 0x0001 } else { 0x0100 };
        let bytes = u32::try_from(16 + 4 * self.words.len()).unwrap();
        let header = [
            6 << 24 | self.generation << 16 | version,
            0x105,
            self.operations,
            bytes,
        ];
        [&header[..], &self.words].concat()
    }
}
