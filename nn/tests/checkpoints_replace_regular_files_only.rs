//! What a save may replace: a regular file, also at the end of links, and nothing else; and what is
//! no regular file is not read either.

use std::fs;
use std::path::Path;
use std::process::Command;

use ringgrad_nn::checkpoint::{Array, Error, Values, check_writable, load, save};

fn one() -> Array {
    Array { name: "w".into(), shape: vec![3], values: Values::F32(vec![0.5, -0.0, 7.0]) }
}

#[test]
fn a_save_that_fails_is_foreseen_and_leaves_no_file_behind() {
    let dir = tempfile::tempdir().unwrap();
    let occupied = dir.path().join("folder");
    fs::create_dir_all(occupied.join("inside")).unwrap();
    let not_there = |path: &str| dir.path().join(path);
    let long = not_there(&"x".repeat(300));
    for path in [
        &occupied,
        &long,
        &not_there("none/model.safetensors"),
        &not_there("new/"),
        &not_there("folder/new/."),
        &not_there("folder/.."),
        Path::new("/"),
        Path::new(""),
        Path::new("/proc/model.safetensors"),
    ] {
        for error in [save(path, &[one()], &[]), check_writable(path)].map(Result::unwrap_err) {
            assert!(matches!(error, Error::Write { .. }));
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        }
    }
    assert!(check_writable(&not_there("new")).is_ok());
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["folder"]);
}

#[cfg(unix)]
#[test]
fn devices_fifos_and_sockets_are_neither_replaced_nor_read() {
    use std::os::unix::fs::FileTypeExt;
    let dir = tempfile::tempdir().unwrap();
    let (fifo, link) = (dir.path().join("fifo"), dir.path().join("link"));
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    std::os::unix::fs::symlink(&fifo, &link).unwrap();
    for path in [&fifo, &link, Path::new("/dev/full"), Path::new("/dev/zero")] {
        assert!(matches!(save(path, &[one()], &[]), Err(Error::Write { .. })), "{path:?}");
        assert!(matches!(check_writable(path), Err(Error::Write { .. })), "{path:?}");
        let error = load(path).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_file_keeps_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("far")).unwrap();
    fs::write(at("far/old"), "old").unwrap();
    for (link, target) in [("a", "far/old"), ("b", "a"), ("new", "far/new"), ("lost", "no/x")] {
        symlink(target, at(link)).unwrap();
    }
    symlink("loop", at("loop")).unwrap();
    for mode in [0o600, 0o644, 0o755] {
        fs::set_permissions(at("far/old"), fs::Permissions::from_mode(mode)).unwrap();
        for name in ["b", "a", "far/old"] {
            save(&at(name), &[one()], &[("mode", mode.to_string())]).unwrap();
            assert_eq!(fs::metadata(at("far/old")).unwrap().permissions().mode() & 0o777, mode);
            assert_eq!(load(&at("b")).unwrap().metadata["mode"], mode.to_string());
        }
    }
    save(&at("new"), &[one()], &[]).unwrap();
    assert_eq!(load(&at("far/new")).unwrap().arrays, [one()]);
    assert!(["a", "b", "new"].iter().all(|name| at(name).is_symlink()));
    assert!(save(&at("lost"), &[one()], &[]).is_err() && save(&at("loop"), &[], &[]).is_err());
    assert_eq!(fs::read_dir(at("far")).unwrap().count(), 2);
}
