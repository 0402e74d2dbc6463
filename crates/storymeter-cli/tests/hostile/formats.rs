//! Files of binary formats that are written byte by byte, because no honest writer makes them.

use flate2::Crc;

/// The most that one block of Zstandard unpacks to.
pub const BLOCK: usize = 128 << 10;

/// A file of Zstandard whose blocks are copied, or repeat one byte. Four bytes of it unpack to
/// 128 KiB.
pub struct Zstandard(Vec<u8>);

impl Zstandard {
    pub fn new() -> Self {
        // The magic number, no optional fields, and a window of 128 KiB.
        Self(vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38])
    }

    fn header(&mut self, last: bool, kind: u32, size: usize) {
        let header = u32::from(last) | kind << 1 | (size as u32) << 3;
        self.0.extend(&header.to_le_bytes()[..3]);
    }

    pub fn copied(&mut self, bytes: &[u8]) {
        for block in bytes.chunks(BLOCK) {
            self.header(false, 0, block.len());
            self.0.extend(block);
        }
    }

    /// So many blocks of one byte.
    pub fn repeated(&mut self, byte: u8, blocks: usize) {
        for _ in 0..blocks {
            self.header(false, 1, BLOCK);
            self.0.push(byte);
        }
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.header(true, 0, 0);
        self.0
    }
}

/// A zip file whose members are not compressed, as PyTorch writes it.
pub fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let start = file.len() as u32;
        let mut crc = Crc::new();
        crc.update(content);
        let size = (content.len() as u32).to_le_bytes();
        let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        facts.extend(crc.sum().to_le_bytes());
        facts.extend([size, size].concat());
        facts.extend((name.len() as u16).to_le_bytes());
        facts.extend([0, 0]);
        file.extend([b"PK\x03\x04", &facts[..], name.as_bytes(), content].concat());
        directory
            .extend([b"PK\x01\x02\x14\0", &facts[..], &[0; 10], &start.to_le_bytes()].concat());
        directory.extend(name.bytes());
    }
    let (count, start) = ((members.len() as u16).to_le_bytes(), file.len() as u32);
    file.extend(&directory);
    file.extend([&b"PK\x05\x06\0\0\0\0"[..], &count, &count].concat());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}

/// A Parquet file without rows, with a column `story` and one that lies in so many groups.
pub fn deep_parquet(depth: usize) -> Vec<u8> {
    // Field 1 of the footer is the version, field 2 the list of the schema's elements.
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    varint(&mut footer, depth as u64 + 3);
    group(&mut footer, b"root", 2);
    leaf(&mut footer, b"story");
    (0..depth).for_each(|_| group(&mut footer, b"g", 1));
    leaf(&mut footer, b"end");
    // Fields 3 and 4: no rows, and an empty list of row groups.
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", &footer[..], &length, b"PAR1"].concat()
}

/// A group of a schema: fields 3 (optional), 4 (its name) and 5 (the number of its children).
fn group(footer: &mut Vec<u8>, name: &[u8], children: u8) {
    footer.extend([0x35, 2, 0x18, name.len() as u8]);
    footer.extend(name);
    footer.extend([0x15, 2 * children, 0]);
}

/// A column of a schema: fields 1 (bytes), 3 (optional) and 4 (its name).
fn leaf(footer: &mut Vec<u8>, name: &[u8]) {
    footer.extend([0x15, 12, 0x25, 2, 0x18, name.len() as u8]);
    footer.extend(name);
    footer.push(0);
}

fn varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A GGUF file in which a tensor has no dimensions.
pub fn without_dimensions(mut gguf: Vec<u8>, tensor: &str) -> Vec<u8> {
    let name = tensor.as_bytes();
    let at = gguf.windows(name.len()).position(|bytes| bytes == name);
    let Some(at) = at.map(|at| at + name.len()) else { return gguf };
    let dimensions = usize::from(gguf[at]);
    gguf.splice(at..at + 4 + 8 * dimensions, [0; 4]);
    gguf
}

/// A checkpoint of PyTorch whose pickle asks for the same long text again and again.
pub fn long_key_pickle(length: usize, times: usize) -> Vec<u8> {
    let mut pickle = b"\x80\x02X".to_vec();
    pickle.extend((length as u32).to_le_bytes());
    pickle.extend(vec![b'k'; length]);
    pickle.extend(b"q\x000");
    pickle.extend(b"h\0Q0".repeat(times));
    checkpoint(pickle)
}

/// A checkpoint of PyTorch whose pickle calls a function with the same long tuple again and again.
pub fn long_call_pickle(length: usize, times: usize) -> Vec<u8> {
    let mut pickle = b"\x80\x02(".to_vec();
    pickle.extend(b"K\x01".repeat(length));
    pickle.extend(b"tq\x000ccollections\nOrderedDict\nq\x010");
    pickle.extend(b"h\x01h\0R0".repeat(times));
    checkpoint(pickle)
}

fn checkpoint(mut pickle: Vec<u8>) -> Vec<u8> {
    // An empty dictionary is the result.
    pickle.extend(b"}.");
    zip(&[("archive/data.pkl", &pickle), ("archive/version", b"3\n")])
}
