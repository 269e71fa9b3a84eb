//! Parameters in files: safetensors, under the names that PyTorch gives the same layers
//! (`layers.0.weight` of shape `[out, in]`).
//!
//! A file is written whole or not at all, and the same arrays make the same bytes. It carries a
//! checksum in its metadata, which other programs ignore, and a second entry that demands it: a
//! change to the name of either is damage. A file with neither, written by them, is read as well.

mod error;
mod names;
mod read;
mod target;
mod write;

use std::collections::BTreeMap;

use kernels::DType;

pub use error::{Error, Problem, Result};
pub use names::check_names;
pub use read::load;
pub use write::{check_writable, save};

/// The key that the format keeps for its metadata; no array can have this name.
const METADATA_NAME: &str = "__metadata__";
/// The metadata entry with the checksum of everything else, as 8 hexadecimal digits.
const CHECKSUM_NAME: &str = "ringgrad.crc32";
/// The metadata entry that says that there is a checksum, and its value. Both are there or neither.
const CHECKSUM_MARK: (&str, &str) = ("ringgrad.checksum", "crc32");

/// A named array.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The path in the model.
    pub name: String,
    /// Length of each axis; `[]` for a single number.
    pub shape: Vec<usize>,
    /// The elements, row-major: as many as the product of the shape.
    pub values: Values,
}

/// The elements of an [`Array`].
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Of type f32.
    F32(Vec<f32>),
    /// Of type f64.
    F64(Vec<f64>),
    /// Of type i64.
    I64(Vec<i64>),
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The arrays, sorted by name.
    pub arrays: Vec<Array>,
    /// What the writer noted beside them.
    pub metadata: BTreeMap<String, String>,
}

impl Values {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::I64(values) => values.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        match self {
            Values::F32(_) => DType::F32,
            Values::F64(_) => DType::F64,
            Values::I64(_) => DType::I64,
        }
    }

    /// Hands the elements, little endian, to `sink` in blocks.
    fn for_each_block<E>(&self, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Values::F32(values) => blocks(values, |value| value.to_le_bytes(), sink),
            Values::F64(values) => blocks(values, |value| value.to_le_bytes(), sink),
            Values::I64(values) => blocks(values, |value| value.to_le_bytes(), sink),
        }
    }
}

/// Elements in a block of bytes: enough that the work per block does not count.
const BLOCK_LEN: usize = 8192;

fn blocks<T: Copy, const N: usize, E>(
    values: &[T],
    bytes_of: impl Fn(T) -> [u8; N],
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut bytes = Vec::with_capacity(BLOCK_LEN.min(values.len()) * N);
    for block in values.chunks(BLOCK_LEN) {
        bytes.clear();
        bytes.extend(block.iter().flat_map(|&value| bytes_of(value)));
        sink(&bytes)?;
    }
    Ok(())
}

/// The CRC-32 of names, types, shapes, elements and metadata, each text and list after its length,
/// so that nothing can move from one to the next unnoticed. `arrays` come sorted by name.
fn checksum<'a>(
    arrays: impl Iterator<Item = &'a Array>,
    metadata: &BTreeMap<String, String>,
) -> String {
    let mut crc = flate2::Crc::new();
    let number = |crc: &mut flate2::Crc, n: usize| crc.update(&(n as u64).to_le_bytes());
    let text = |crc: &mut flate2::Crc, text: &str| {
        number(crc, text.len());
        crc.update(text.as_bytes());
    };
    number(&mut crc, metadata.len());
    for (key, value) in metadata {
        text(&mut crc, key);
        text(&mut crc, value);
    }
    for array in arrays {
        text(&mut crc, &array.name);
        text(&mut crc, array.values.dtype().name());
        number(&mut crc, array.shape.len());
        array.shape.iter().for_each(|&len| number(&mut crc, len));
        let Ok(()) = array.values.for_each_block::<std::convert::Infallible>(&mut |bytes| {
            crc.update(bytes);
            Ok(())
        });
    }
    format!("{:08x}", crc.sum())
}
