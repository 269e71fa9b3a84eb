//! Regular files only: a FIFO never ends, a device swallows or makes up what it is given.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// Opens the regular file that `path` is or links to. Anything else is refused before it is
/// opened, because opening a FIFO already waits for its other side.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    check(&fs::metadata(path)?)?;
    File::open(path)
}

/// Refuses what is there and is no regular file.
pub(crate) fn check(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let kind = if found.is_dir() { "a folder" } else { "a device, FIFO or socket" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {kind}, not a regular file")))
}
