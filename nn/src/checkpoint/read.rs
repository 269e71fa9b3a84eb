//! Reads checkpoints, trusting nothing in them.

use std::io::Read;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use super::error::{Error, Result};
use super::{Array, CHECKSUM_MARK, CHECKSUM_NAME, Checkpoint, Values, checksum};
use crate::regular;

/// The most bytes of a checkpoint: two billion f32.
const CHECKPOINT_BYTES_MAX: u64 = 1 << 33;

/// What the safetensors file `path` holds.
///
/// # Errors
/// A file that cannot be read or is not a regular one; that is cut off, altered or no safetensors
/// file; or that has an array of another type than f32, f64 and i64 (named).
pub fn load(path: &Path) -> Result<Checkpoint> {
    decode(path, &content(path, CHECKPOINT_BYTES_MAX)?)
}

/// The bytes of `path`, which may be at most `max`.
fn content(path: &Path, max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular::open(path)
        .and_then(|file| file.take(max + 1).read_to_end(&mut bytes))
        .map_err(|cause| Error::Read { file: path.to_owned(), cause })?;
    if bytes.len() as u64 > max {
        return Err(Error::Size { file: path.to_owned(), max });
    }
    Ok(bytes)
}

fn decode(path: &Path, bytes: &[u8]) -> Result<Checkpoint> {
    let refused = |cause| Error::Format { file: path.to_owned(), bytes: bytes.len(), cause };
    // Bounds the header, multiplies shapes with an eye on overflow, and checks that the arrays
    // cover the rest of the file without gaps: so the ranges below exist and fit their shapes.
    let (header_len, header) = SafeTensors::read_metadata(bytes).map_err(refused)?;
    let data = &bytes[size_of::<u64>() + header_len..];
    let mut arrays = Vec::new();
    for (name, info) in header.tensors() {
        let (begin, end) = info.data_offsets;
        let Some(values) = values(info.dtype, &data[begin..end]) else {
            return Err(Error::DType { file: path.to_owned(), name, found: info.dtype });
        };
        arrays.push(Array { name, shape: info.shape.clone(), values });
    }
    arrays.sort_by(|a, b| a.name.cmp(&b.name));
    let metadata = header.metadata().clone().unwrap_or_default();
    let mut checkpoint = Checkpoint { arrays, metadata: metadata.into_iter().collect() };
    verify(path, &mut checkpoint)?;
    Ok(checkpoint)
}

/// Takes the checksum and its mark out of the metadata, and compares it with the content. A file
/// with one of the two was altered: a changed name must not switch the check off.
fn verify(path: &Path, checkpoint: &mut Checkpoint) -> Result<()> {
    let recorded = checkpoint.metadata.remove(CHECKSUM_NAME);
    let mark = checkpoint.metadata.remove(CHECKSUM_MARK.0);
    if recorded.is_none() && mark.as_deref() != Some(CHECKSUM_MARK.1) {
        checkpoint.metadata.extend(mark.map(|mark| (CHECKSUM_MARK.0.to_owned(), mark)));
        return Ok(());
    }
    let file = path.to_owned();
    let Some(recorded) = recorded.filter(|_| mark.as_deref() == Some(CHECKSUM_MARK.1)) else {
        return Err(Error::ChecksumEntries { file });
    };
    let found = checksum(checkpoint.arrays.iter(), &checkpoint.metadata);
    if found == recorded { Ok(()) } else { Err(Error::Checksum { file, found, recorded }) }
}

fn values(dtype: Dtype, bytes: &[u8]) -> Option<Values> {
    Some(match dtype {
        Dtype::F32 => Values::F32(elements(bytes, f32::from_le_bytes)),
        Dtype::F64 => Values::F64(elements(bytes, f64::from_le_bytes)),
        Dtype::I64 => Values::I64(elements(bytes, i64::from_le_bytes)),
        _ => return None,
    })
}

fn elements<T, const N: usize>(bytes: &[u8], from_bytes: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| from_bytes(bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_fill_the_limit_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        std::fs::write(&path, [7; 11]).unwrap();
        assert_eq!(content(&path, 11).unwrap().len(), 11);
        assert!(matches!(content(&path, 10), Err(Error::Size { max: 10, .. })));
    }
}
