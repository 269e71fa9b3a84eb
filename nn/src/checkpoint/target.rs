//! Where a checkpoint is written, and by what: a temporary file that takes the target's place.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use crate::regular;

/// Links that are followed from a path to its file; as many as Linux follows.
const LINKS_MAX: u32 = 40;
/// Temporary names that are tried: one for each save that this process is doing in the folder at
/// the same time, or that was killed in the middle.
const ATTEMPTS_MAX: u32 = 1000;

/// The file that a path names once its links are followed: a regular file, or none yet.
pub(super) struct Target {
    path: PathBuf,
    folder: PathBuf,
    /// Those of the file that is there.
    permissions: Option<Permissions>,
}

impl Target {
    /// Follows links, of which the last may lead to a file that does not exist yet, and refuses
    /// whatever is no regular file: a device or a FIFO is not replaced by a file.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let path = followed(path)?;
        let permissions = match fs::metadata(&path) {
            Ok(found) => {
                regular::check(&found)?;
                Some(found.permissions())
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
            Err(cause) => return Err(cause),
        };
        // `a/` and `a/.` have the file name `a`, but name a folder.
        let name = path.file_name().map(|name| name.as_encoded_bytes());
        if !name.is_some_and(|name| path.as_os_str().as_encoded_bytes().ends_with(name)) {
            let text = "it does not end in the name of a file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(Target { folder: folder_of(&path), path, permissions })
    }

    /// Makes and removes the temporary file of a save.
    pub(super) fn try_out(&self) -> io::Result<()> {
        let (file, path) = temporary(&self.folder)?;
        drop(file);
        fs::remove_file(path)
    }

    /// Makes the target the file that `write` fills, with the permissions of the one it replaces,
    /// or leaves everything as it was.
    pub(super) fn replace(
        &self,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut file, temporary) = temporary(&self.folder)?;
        // Before anything is in it: what only its owner could read, nobody else ever can.
        let permitted = match &self.permissions {
            Some(permissions) => file.set_permissions(permissions.clone()),
            None => Ok(()),
        };
        let outcome = permitted.and_then(|()| write(&mut file)).and_then(|()| file.sync_all());
        drop(file);
        if let Err(cause) = outcome.and_then(|()| fs::rename(&temporary, &self.path)) {
            // The first cause is the one to tell; should the removal fail too, nothing can be done.
            let _ = fs::remove_file(&temporary);
            return Err(cause);
        }
        // The new name reaches the disk with its folder. Some systems cannot sync a folder; the
        // file is complete under its name either way, so this is no failure of the save.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                path = folder_of(&path).join(fs::read_link(&path)?);
            }
            Ok(_) => return Ok(path),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(path),
            Err(cause) => return Err(cause),
        }
    }
    Err(io::Error::other(format!("it leads over more than {LINKS_MAX} links")))
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
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
    use std::io::Write;

    use super::*;

    fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        Target::of(path)?.replace(write)
    }

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
