//! Writes checkpoints: to a temporary file beside the target, which then takes its place.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use kernels::DType;
use serde_json::json;

use super::error::{Error, Result};
use super::{Array, CHECKSUM_NAME, METADATA_NAME, Values, checksum};

/// Temporary names that are tried: one for each save that this process is doing in the folder at
/// the same time, or that was killed in the middle.
const ATTEMPTS_MAX: u32 = 1000;

/// Writes `arrays` and `metadata` to the safetensors file `path`, replacing what is there. The
/// bytes depend on the arguments alone, and not on the order of the arrays.
///
/// The content is on disk before the file gets its name: whoever looks, also after a crash, sees
/// the old file or the new one, each complete.
///
/// # Errors
/// Two arrays or two metadata entries of one name, or of a name that is reserved; an array that
/// does not fill its shape; or a file that cannot be written. What was at `path` is then intact,
/// and no temporary file remains.
pub fn save(path: &Path, arrays: &[Array], metadata: &[(&str, String)]) -> Result<()> {
    let mut entries = BTreeMap::new();
    for (key, value) in metadata {
        let taken = entries.insert((*key).to_owned(), value.clone()).is_some();
        if taken || *key == CHECKSUM_NAME {
            return Err(Error::Name { name: (*key).to_owned() });
        }
    }
    let sorted = checked(arrays)?;
    entries.insert(CHECKSUM_NAME.to_owned(), checksum(sorted.values().copied(), &entries));
    let (header, in_file_order) = layout(&sorted, &entries);
    replace(path, |file| {
        let mut out = BufWriter::new(file);
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for array in in_file_order {
            array.values.for_each_block(&mut |bytes| out.write_all(bytes))?;
        }
        out.flush()
    })
    .map_err(|cause| Error::Write { file: path.to_owned(), cause })
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

/// Makes `path` the file that `write` fills, or leaves everything as it was.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (mut file, temporary) = temporary(folder)?;
    let outcome = write(&mut file).and_then(|()| file.sync_all());
    drop(file);
    if let Err(cause) = outcome.and_then(|()| fs::rename(&temporary, path)) {
        // The first cause is the one to tell; should the removal fail too, nothing can be done.
        let _ = fs::remove_file(&temporary);
        return Err(cause);
    }
    // The new name reaches the disk with its folder. Some systems cannot sync a folder; the file
    // is complete under its name either way, so this is no failure of the save.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A new file in `folder` that no other save uses.
fn temporary(folder: &Path) -> io::Result<(File, PathBuf)> {
    let process = std::process::id();
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..ATTEMPTS_MAX {
        let path = folder.join(format!(".ringgrad-{process}-{attempt}.tmp"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => taken = cause,
            Err(cause) => return Err(cause),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        replace(&path, |file| file.write_all(b"old content")).unwrap();
        let refused = replace(&path, |file| {
            file.write_all(b"half of the new")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old content");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        replace(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn saves_in_one_folder_at_one_time_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let (_first, first) = temporary(folder.path()).unwrap();
        let (_second, second) = temporary(folder.path()).unwrap();
        assert_ne!(first, second);
    }
}
