//! Checkpoints: every bit comes back, other programs read them, and damage is refused.

use std::fs;
use std::path::PathBuf;

use kernels::DType;
use proptest::prelude::*;
use ringgrad_nn::checkpoint::{Array, Checkpoint, Error, Problem, Values, check_names, load, save};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use tempfile::TempDir;

fn array(name: &str, shape: &[usize], values: Values) -> Array {
    Array { name: name.into(), shape: shape.to_vec(), values }
}

/// Every type, an odd number of four-byte elements, and values that are easily lost.
fn arrays() -> Vec<Array> {
    let odd = [f32::from_bits(0x7fc0_1234), -0.0, f32::MIN_POSITIVE / 8.0, f32::NEG_INFINITY];
    let odd = [&odd[..], &[1.5, 2.5]].concat();
    vec![
        array("layers.0.weight", &[3, 2], Values::F32(odd)),
        array("layers.0.bias", &[3], Values::F32(vec![0.1, -0.2, 0.3])),
        array("layers.10.\"quoted\"\u{e9}", &[2, 1], Values::F64(vec![f64::EPSILON, -0.0])),
        array("count", &[], Values::I64(vec![i64::MIN + 1])),
        array("nothing", &[0, 5], Values::F32(Vec::new())),
    ]
}

fn metadata() -> Vec<(&'static str, String)> {
    vec![("format", "pt".into()), ("shards", "8".into()), ("note", "a \"b\"\n\u{3bb}".into())]
}

fn saved(arrays: &[Array], metadata: &[(&str, String)]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.safetensors");
    save(&path, arrays, metadata).unwrap();
    (dir, path)
}

/// Names, shapes and bits; `==` on floats would call a NaN different and −0 equal to 0.
fn bits(arrays: &[Array]) -> Vec<(String, Vec<usize>, DType, Vec<u64>)> {
    let of = |array: &Array| match &array.values {
        Values::F32(values) => values.iter().map(|x| u64::from(x.to_bits())).collect(),
        Values::F64(values) => values.iter().map(|x| x.to_bits()).collect(),
        Values::I64(values) => values.iter().map(|&x| x as u64).collect(),
    };
    arrays.iter().map(|a| (a.name.clone(), a.shape.clone(), a.values.dtype(), of(a))).collect()
}

fn sorted(mut arrays: Vec<Array>) -> Vec<Array> {
    arrays.sort_by(|a, b| a.name.cmp(&b.name));
    arrays
}

fn load_bytes(dir: &TempDir, bytes: &[u8]) -> Result<Checkpoint, Error> {
    let path = dir.path().join("other.safetensors");
    fs::write(&path, bytes).unwrap();
    let outcome = load(&path);
    if let Err(error) = &outcome {
        let message = error.to_string();
        assert!(message.contains("other.safetensors"), "{message}");
        assert!(message.split_once("; ").is_some_and(|(_, rest)| rest.contains(": ")), "{message}");
    }
    outcome
}

#[test]
fn every_bit_comes_back_sorted_by_name() {
    let (_dir, path) = saved(&arrays(), &metadata());
    let loaded = load(&path).unwrap();
    assert_eq!(bits(&loaded.arrays), bits(&sorted(arrays())));
    let notes = metadata().into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    assert_eq!(loaded.metadata, notes);
    let (_dir, empty) = saved(&[], &[]);
    assert_eq!(load(&empty).unwrap(), Checkpoint { arrays: vec![], metadata: [].into() });
}

#[test]
fn arrays_longer_than_a_block_come_back() {
    for len in [8191, 8192, 8193, 20_011] {
        let values = Values::F32((0..len).map(|k| k as f32 / 3.0).collect());
        let array = array("long", &[len], values);
        let (_dir, path) = saved(std::slice::from_ref(&array), &[]);
        assert_eq!(load(&path).unwrap().arrays, [array]);
    }
}

#[test]
fn equal_content_makes_equal_bytes_in_any_order() {
    let (_a, first) = saved(&arrays(), &metadata());
    let reversed: Vec<Array> = arrays().into_iter().rev().collect();
    let notes: Vec<(&str, String)> = metadata().into_iter().rev().collect();
    let (_b, second) = saved(&reversed, &notes);
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());
    let mut other = arrays();
    other[1].values = Values::F32(vec![0.1, -0.2, 0.300_000_04]);
    save(&second, &other, &metadata()).unwrap();
    assert_ne!(fs::read(first).unwrap(), fs::read(second).unwrap());
}

#[test]
fn another_reader_finds_the_same_arrays_aligned() {
    let (_dir, path) = saved(&arrays(), &metadata());
    let bytes = fs::read(path).unwrap();
    let found = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(found.len(), arrays().len());
    let weight = found.tensor("layers.0.weight").unwrap();
    assert_eq!((weight.dtype(), weight.shape()), (Dtype::F32, &[3, 2][..]));
    assert_eq!(weight.data()[..4], 0x7fc0_1234u32.to_le_bytes());
    assert_eq!(found.tensor("count").unwrap().data(), (i64::MIN + 1).to_le_bytes());
    for (name, view) in found.iter() {
        let offset = view.data().as_ptr() as usize - bytes.as_ptr() as usize;
        assert_eq!(offset % (view.dtype().bitsize() / 8), 0, "{name} lies at byte {offset}");
    }
}

#[test]
fn a_file_of_another_writer_is_read_without_a_checksum() {
    let data: Vec<u8> = [2.0f32, -3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F32, vec![2], &data).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let bytes = safetensors::serialize([("0.bias", view)], None).unwrap();
    let loaded = load_bytes(&dir, &bytes).unwrap();
    assert_eq!(loaded.arrays, [array("0.bias", &[2], Values::F32(vec![2.0, -3.0]))]);
    assert!(loaded.metadata.is_empty());
    let half = TensorView::new(Dtype::F16, vec![4], &data).unwrap();
    let bytes = safetensors::serialize([("half", half)], None).unwrap();
    let error = load_bytes(&dir, &bytes).unwrap_err();
    assert!(matches!(&error, Error::DType { name, found: Dtype::F16, .. } if name == "half"));
}

#[test]
fn every_cut_and_every_longer_file_is_refused() {
    let (dir, path) = saved(&arrays(), &metadata());
    let bytes = fs::read(path).unwrap();
    assert!(load_bytes(&dir, &bytes).is_ok());
    for len in 0..bytes.len() {
        let refused = load_bytes(&dir, &bytes[..len]);
        assert!(matches!(refused, Err(Error::Format { bytes, .. }) if bytes == len), "{len}");
    }
    assert!(load_bytes(&dir, &[&bytes[..], &[0]].concat()).is_err());
}

/// Flips every `stride`-th bit of the file that these arrays and metadata make.
fn assert_flips_are_noticed(arrays: Vec<Array>, metadata: &[(&str, String)], stride: usize) {
    let (dir, path) = saved(&arrays, metadata);
    let bytes = fs::read(&path).unwrap();
    let header = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let notes = load(&path).unwrap().metadata;
    let want = bits(&sorted(arrays));
    for bit in (0..8 * bytes.len()).step_by(stride) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match load_bytes(&dir, &flipped) {
            Ok(loaded) => {
                assert!(bit / 8 < header, "bit {bit} of an element");
                assert_eq!((bits(&loaded.arrays), &loaded.metadata), (want.clone(), &notes));
            }
            Err(Error::Checksum { found, recorded, .. }) => assert_ne!(found, recorded),
            // What holds the checksum, and what gives the rest its meaning, is in the header.
            Err(error) => assert!(bit / 8 < header, "bit {bit}: {error}"),
        }
    }
}

#[test]
fn no_flipped_bit_changes_an_array_or_a_note_unnoticed() {
    let small = vec![array("w", &[1], Values::F32(vec![1.5]))];
    assert_flips_are_noticed(small, &[], 1);
    assert_flips_are_noticed(arrays(), &metadata(), 29);
}

#[test]
fn a_changed_name_of_the_checksum_does_not_switch_it_off() {
    let (dir, path) = saved(&arrays(), &metadata());
    let bytes = fs::read(path).unwrap();
    let renamed = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        load_bytes(&dir, &changed)
    };
    for (from, to) in [
        ("ringgrad.crc32", "ringgrad.crc33"),
        ("ringgrad.crc32", "xinggrad.crc32"),
        ("ringgrad.checksum", "Ringgrad.checksum"),
        ("\"crc32\"", "\"crc31\""),
    ] {
        assert!(matches!(renamed(from, to), Err(Error::ChecksumEntries { .. })), "{from} as {to}");
    }
    assert!(renamed("shards", "shards").is_ok());
}

#[test]
fn foreign_files_and_impossible_headers_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let with_header = |header: &str, data: usize| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(vec![0; data]);
        bytes
    };
    let entry = |shape: &str, end: usize| {
        format!("{{\"a\":{{\"dtype\":\"F32\",\"shape\":{shape},\"data_offsets\":[0,{end}]}}}}")
    };
    assert!(load_bytes(&dir, &with_header(&entry("[2]", 8), 8)).is_ok());
    let max = u64::MAX;
    for bytes in [
        b"\x89PNG\r\n\x1a\n and more".to_vec(),
        b"PK\x03\x04 a pickled model".to_vec(),
        vec![0xff; 64],
        with_header("[]", 0),
        with_header("{\"a\":1}", 0),
        with_header(&"[".repeat(100_000), 0),
        with_header(&entry("[3]", 8), 8),
        with_header(&entry("[2]", 8), 4),
        with_header(&entry(&format!("[{max},{max}]"), 8), 8),
        with_header(&entry("[-1]", 8), 8),
        with_header(&entry("[2]", 8).replace("[0,", "[4,"), 8),
        with_header(&entry("[2]", 8).replace("F32", "F33"), 8),
    ] {
        assert!(matches!(load_bytes(&dir, &bytes), Err(Error::Format { .. })));
    }
    for path in [dir.path().join("none"), dir.path().to_owned()] {
        assert!(matches!(load(&path), Err(Error::Read { .. })));
    }
}

#[test]
fn arrays_that_the_format_cannot_hold_are_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.safetensors");
    let one = |name: &str| array(name, &[1], Values::F32(vec![1.0]));
    let note = |key| vec![(key, "x".to_owned())];
    for (arrays, notes) in [
        (vec![one("a"), one("b"), one("a")], vec![]),
        (vec![one("__metadata__")], vec![]),
        (vec![one("a")], note("ringgrad.crc32")),
        (vec![one("a")], note("ringgrad.checksum")),
        (vec![one("a")], [note("k"), note("k")].concat()),
    ] {
        assert!(matches!(save(&path, &arrays, &notes), Err(Error::Name { .. })));
    }
    for shape in [&[3][..], &[], &[1, 2, 2], &[usize::MAX, 2]] {
        let misshapen = array("a", shape, Values::F64(vec![1.0, 2.0]));
        let refused = save(&path, &[misshapen], &[]);
        assert!(matches!(refused, Err(Error::Shape { values: 2, .. })), "{shape:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn names_in_messages_are_printable_and_on_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join("a\nb\u{1b}[2J");
    let entry = |dtype: &str| {
        let header =
            format!("{{\"a\\nb\":{{\"dtype\":\"{dtype}\",\"shape\":[1],\"data_offsets\":[0,4]}}}}");
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 4]].concat()
    };
    let mut messages = vec![load(&odd).unwrap_err(), save(&odd.join("x"), &[], &[]).unwrap_err()];
    for dtype in ["F32\\n\\u001b", "F64", "I32"] {
        fs::write(&odd, entry(dtype)).unwrap();
        messages.push(load(&odd).unwrap_err());
    }
    fs::write(&odd, entry("F32")).unwrap();
    let wanted = [("c\nd".to_owned(), vec![2], DType::F32)];
    messages.push(check_names(&load(&odd).unwrap().arrays, &wanted).unwrap_err());
    messages.push(save(&odd, &[array("a\n", &[1], Values::F32(vec![]))], &[]).unwrap_err());
    for message in messages.iter().map(Error::to_string) {
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

#[test]
fn all_differences_from_the_model_are_listed_at_once() {
    let want = |name: &str, shape: &[usize], dtype| (name.to_owned(), shape.to_vec(), dtype);
    let wanted = [
        want("layers.0.weight", &[2, 3], DType::F32),
        want("layers.1.weight", &[4, 3], DType::F32),
        want("layers.0.bias", &[3], DType::F64),
        want("count", &[1], DType::F32),
        want("nothing", &[0, 5], DType::F32),
    ];
    let error = check_names(&arrays(), &wanted).unwrap_err();
    let message = error.to_string();
    let Error::Mismatch { problems } = error else { panic!("{error}") };
    let quoted = "layers.10.\"quoted\"\u{e9}".to_owned();
    let shape = |name: &str, found: &[usize], wanted: &[usize]| Problem::Shape {
        name: name.into(),
        found: found.to_vec(),
        wanted: wanted.to_vec(),
    };
    let dtype = |name: &str, found, wanted| Problem::DType { name: name.into(), found, wanted };
    let missing = ("layers.1.weight".to_owned(), vec![4, 3], DType::F32);
    let expected = [
        shape("layers.0.weight", &[3, 2], &[2, 3]),
        Problem::Missing { name: missing.0, shape: missing.1, dtype: missing.2 },
        dtype("layers.0.bias", DType::F32, DType::F64),
        shape("count", &[], &[1]),
        dtype("count", DType::I64, DType::F32),
        Problem::Extra { name: quoted, shape: vec![2, 1] },
    ];
    assert_eq!(problems, expected);
    assert!(expected.iter().all(|problem| message.contains(&problem.to_string())), "{message}");
    let own = |a: &Array| (a.name.clone(), a.shape.clone(), a.values.dtype());
    let own: Vec<_> = arrays().iter().rev().map(own).collect();
    assert!(check_names(&arrays(), &own).is_ok());
    assert!(check_names(&[], &[]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_bytes_make_the_reader_panic(
        noise in proptest::collection::vec(any::<u8>(), 0..120),
        header in "\\{\"(a|__metadata__)\":\\{(\"dtype\":\"[FI](32|64|16)\",\
                   \"shape\":\\[[0-9,]{0,4}\\],\
                   \"data_offsets\":\\[0,[0-9]{1,2}\\])?\\}\\} {0,3}",
        data in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let _ = load_bytes(&dir, &noise);
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        if let Ok(loaded) = load_bytes(&dir, &bytes) {
            for array in loaded.arrays {
                prop_assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
            }
        }
    }
}
