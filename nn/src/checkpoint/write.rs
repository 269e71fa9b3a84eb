//! Writes checkpoints: to a temporary file beside the target, which then takes its place.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use kernels::DType;
use serde_json::json;

use super::error::{Error, Result};
use super::target::Target;
use super::{Array, CHECKSUM_MARK, CHECKSUM_NAME, METADATA_NAME, Values, checksum};

/// Writes `arrays` and `metadata` to the safetensors file `path`, replacing the regular file that
/// is there or that a link there leads to; the new one has the old one's permissions. The bytes
/// depend on the arguments alone, and not on the order of the arrays.
///
/// The content is on disk before the file gets its name: whoever looks, also after a crash, sees
/// the old file or the new one, each complete.
///
/// # Errors
/// Two arrays or two metadata entries of one name, or of a name that is reserved; an array that
/// does not fill its shape; or a file that cannot be written, such as a folder, a device or a
/// FIFO. What was at `path` is then intact, and no temporary file remains.
pub fn save(path: &Path, arrays: &[Array], metadata: &[(&str, String)]) -> Result<()> {
    let mut entries = BTreeMap::new();
    for (key, value) in metadata {
        let taken = entries.insert((*key).to_owned(), value.clone()).is_some();
        if taken || [CHECKSUM_NAME, CHECKSUM_MARK.0].contains(key) {
            return Err(Error::Name { name: (*key).to_owned() });
        }
    }
    let sorted = checked(arrays)?;
    let (mark, method) = CHECKSUM_MARK;
    let sum = checksum(sorted.values().copied(), &entries);
    entries.extend([(CHECKSUM_NAME.to_owned(), sum), (mark.to_owned(), method.to_owned())]);
    let (header, in_file_order) = layout(&sorted, &entries);
    let refused = |cause| Error::Write { file: path.to_owned(), cause };
    let target = Target::of(path).map_err(refused)?;
    let written = target.replace(|file| {
        let mut out = BufWriter::new(file);
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for array in in_file_order {
            array.values.for_each_block(&mut |bytes| out.write_all(bytes))?;
        }
        out.flush()
    });
    written.map_err(refused)
}

/// Whether [`save`] can write `path`, as far as can be told before: a file is made beside the
/// target and removed again. What is at `path` stays as it is.
///
/// # Errors
/// A file that cannot be written.
pub fn check_writable(path: &Path) -> Result<()> {
    let tried = Target::of(path).and_then(|target| target.try_out());
    tried.map_err(|cause| Error::Write { file: path.to_owned(), cause })
}

/// The arrays by name.
fn checked(arrays: &[Array]) -> Result<BTreeMap<&str, &Array>> {
    let mut sorted = BTreeMap::new();
    for array in arrays {
        let Array { name, shape, values } = array;
        let numel = shape.iter().try_fold(1usize, |n, &len| n.checked_mul(len));
        if numel != Some(values.len()) {
            let (name, shape) = (name.clone(), shape.clone());
            return Err(Error::Shape { name, shape, values: values.len() });
        }
        if sorted.insert(name.as_str(), array).is_some() || name == METADATA_NAME {
            return Err(Error::Name { name: name.clone() });
        }
    }
    Ok(sorted)
}

/// The header, and the arrays in the order of their bytes: eight-byte elements first, so that
/// every array is aligned to its elements, then by name.
fn layout<'a>(
    sorted: &BTreeMap<&str, &'a Array>,
    metadata: &BTreeMap<String, String>,
) -> (String, Vec<&'a Array>) {
    let mut arrays: Vec<&Array> = sorted.values().copied().collect();
    arrays.sort_by_key(|array| std::cmp::Reverse(array.values.dtype().size_bytes()));
    let mut header = format!("{{{}:{}", json!(METADATA_NAME), json!(metadata));
    let mut begin = 0;
    for Array { name, shape, values } in &arrays {
        let end = begin + values.len() * values.dtype().size_bytes();
        let dtype = match values {
            Values::F32(_) => "F32",
            Values::F64(_) => "F64",
            Values::I64(_) => "I64",
        };
        let info = json!({ "dtype": dtype, "shape": shape, "data_offsets": [begin, end] });
        header += &format!(",{}:{info}", json!(name));
        begin = end;
    }
    header.push('}');
    // The data starts at a multiple of eight bytes; the format pads its header with spaces.
    let padded = header.len().next_multiple_of(DType::F64.size_bytes());
    header.extend(std::iter::repeat_n(' ', padded - header.len()));
    (header, arrays)
}
