//! Data files: what is whole is read to the value, and what is not is refused with its place.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use ringgrad_nn::data::{self, CsvFault, Dataset, Error, IdxFault, Split};
use tempfile::TempDir;

const FILES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

fn idx_bytes(magic: u32, lens: &[u32], content: &[u8]) -> Vec<u8> {
    let words = [&[magic], lens].concat();
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.extend(content);
    bytes
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Three training and two test images of 2×3 pixels, whose pixels and labels all differ.
fn whole() -> [Vec<u8>; 4] {
    [
        idx_bytes(0x803, &[3, 2, 3], &(0..18).collect::<Vec<u8>>()),
        idx_bytes(0x801, &[3], &[4, 0, 6]),
        idx_bytes(0x803, &[2, 2, 3], &(244..=255).collect::<Vec<u8>>()),
        idx_bytes(0x801, &[2], &[1, 5]),
    ]
}

fn folder(files: &[Vec<u8>; 4]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in FILES.iter().zip(files) {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

/// Reads a folder of whole files but for `FILES[which]`.
fn read_with(which: usize, bytes: Vec<u8>) -> Result<Split, Error> {
    let mut files = whole();
    files[which] = bytes;
    data::idx(folder(&files).path())
}

/// What happened; the rule: what to do.
fn has_three_parts(message: &str) -> bool {
    message.split_once("; ").is_some_and(|(what, rest)| !what.is_empty() && rest.contains(": "))
}

fn idx_fault(which: usize, bytes: Vec<u8>) -> IdxFault {
    let error = read_with(which, bytes).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(FILES[which]) && has_three_parts(&message), "{message}");
    match error {
        Error::Idx { fault, .. } => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn whole_files_are_read_plain_and_gzipped() {
    let dir = folder(&whole());
    for (gzip, name) in FILES.iter().enumerate() {
        let split = data::idx(dir.path()).unwrap();
        let (train, test) = (&split.train, &split.test);
        assert_eq!((train.len(), test.len()), (3, 2));
        assert_eq!((train.sample_shape(), test.sample_shape()), (&[6][..], &[6][..]));
        assert_eq!((train.labels(), test.labels()), (&[4, 0, 6][..], &[1, 5][..]));
        assert_eq!((train.classes(), test.classes()), (7, 7));
        let pixels: Vec<f32> = (0..18).map(|pixel| pixel as f32 / 255.0).collect();
        assert_eq!(train.features(), pixels);
        assert_eq!(test.features()[11], 1.0);
        let plain = dir.path().join(name);
        let packed = gzipped(&fs::read(&plain).unwrap());
        // Every second one keeps its name: the content tells.
        let name = if gzip % 2 == 0 { format!("{name}.gz") } else { name.to_string() };
        fs::remove_file(plain).unwrap();
        fs::write(dir.path().join(name), packed).unwrap();
    }
    assert!(data::idx(dir.path()).is_ok());
}

#[test]
fn every_cut_and_every_longer_idx_file_is_refused_with_both_lengths() {
    for (which, name) in FILES.iter().enumerate() {
        let file = whole()[which].clone();
        let (len, header) = (file.len() as u64, if which % 2 == 0 { 16 } else { 8 });
        for cut in 0..file.len() {
            let found = cut as u64;
            let expected = if found < header { header } else { len };
            let fault = idx_fault(which, file[..cut].to_vec());
            assert_eq!(fault, IdxFault::Truncated { expected, found }, "{name}");
        }
        let longer = [&file[..], &[7]].concat();
        assert_eq!(idx_fault(which, longer.clone()), IdxFault::Trailing { expected: len });
        assert_eq!(idx_fault(which, gzipped(&longer)), IdxFault::Trailing { expected: len });
        let packed = gzipped(&file);
        let damaged = read_with(which, packed[..packed.len() - 3].to_vec()).unwrap_err();
        assert!(matches!(damaged, Error::Gzip { offset, .. } if offset == len), "{damaged}");
        assert!(has_three_parts(&damaged.to_string()), "{damaged}");
    }
}

#[test]
fn a_wrong_magic_is_told_in_hexadecimal() {
    let labels = whole()[1].clone();
    assert_eq!(idx_fault(0, labels), IdxFault::Magic { found: 0x801, wanted: 0x803 });
    let images = whole()[0].clone();
    assert_eq!(idx_fault(1, images), IdxFault::Magic { found: 0x803, wanted: 0x801 });
    let message = IdxFault::Magic { found: 0x801, wanted: 0x803 }.to_string();
    assert!(message.contains("0x00000801") && message.contains("0x00000803"), "{message}");
    let page = b"<!DOCTYPE html>".to_vec();
    assert_eq!(idx_fault(2, page), IdxFault::Magic { found: 0x3c21_444f, wanted: 0x803 });
}

#[test]
fn a_header_is_not_believed() {
    let max = u32::MAX;
    for lens in [[max, max, max], [1 << 30, 2, 1], [0, 28, 28], [3, 0, 3], [1 << 16, 1 << 16, 1]] {
        let fault = idx_fault(0, idx_bytes(0x803, &lens, &[1, 2, 3]));
        assert!(matches!(fault, IdxFault::Size { .. }), "{lens:?}: {fault}");
    }
    // Within the limit, but not there: refused for what was found, without allocating a gigabyte.
    let fault = idx_fault(0, idx_bytes(0x803, &[1 << 20, 32, 32], &[1, 2, 3]));
    assert_eq!(fault, IdxFault::Truncated { expected: (1 << 30) + 16, found: 19 });
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let fault = idx_fault(1, idx_bytes(0x801, &[2], &[4, 0]));
    assert!(matches!(fault, IdxFault::Labels { labels: 2, images: 3, .. }));
    let fault = idx_fault(2, idx_bytes(0x803, &[2, 3, 2], &[9; 12]));
    let (test_rows, test_cols, train_rows, train_cols) = (3, 2, 2, 3);
    let wanted = IdxFault::ImageSize { test_rows, test_cols, train_rows, train_cols };
    assert_eq!(fault, wanted);
}

#[test]
fn missing_files_and_folders_are_named() {
    for (which, name) in FILES.iter().enumerate() {
        let dir = folder(&whole());
        fs::remove_file(dir.path().join(name)).unwrap();
        let message = data::idx(dir.path()).unwrap_err().to_string();
        assert!(message.contains(FILES[which]) && has_three_parts(&message), "{message}");
    }
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().join("no.csv"), dir.path().to_owned()] {
        let error = data::csv(&path).unwrap_err();
        assert!(matches!(error, Error::Read { .. }) && has_three_parts(&error.to_string()));
        assert!(error.to_string().contains(path.to_str().unwrap()));
    }
    fs::create_dir(dir.path().join(FILES[0])).unwrap();
    assert!(data::idx(dir.path()).is_err());
}

fn csv_file(dir: &TempDir, text: impl AsRef<[u8]>) -> PathBuf {
    let file = dir.path().join("table.csv");
    fs::write(&file, text).unwrap();
    file
}

fn read_csv(text: impl AsRef<[u8]>) -> Result<Dataset, Error> {
    data::csv(&csv_file(&tempfile::tempdir().unwrap(), text))
}

#[test]
fn tables_are_read_with_and_without_a_header_and_in_every_line_format() {
    let rows = "0.5,-2e1,1\n.25, 7 ,0\n";
    for text in [
        rows.to_owned(),
        rows.trim_end().to_owned(),
        rows.replace('\n', "\r\n"),
        format!("{rows}\n \r\n\n"),
        format!("\u{feff}{rows}"),
        format!("\u{feff}width,height,kind\r\n{rows}"),
        format!(",height,kind\n{rows}"),
        format!("0x,1st,kind\n{rows}"),
        rows.replace(",1\n", ",1.0\n"),
    ] {
        let table = read_csv(&text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!((table.sample_shape(), table.classes()), (&[2][..], 2), "{text:?}");
        assert_eq!(table.features(), [0.5, -20.0, 0.25, 7.0]);
        assert_eq!(table.labels(), [1, 0]);
        assert_eq!(read_csv(gzipped(text.as_bytes())).unwrap().features(), table.features());
    }
    let counted = read_csv(format!("2,2,red,green,blue\n{rows}")).unwrap();
    assert_eq!((counted.len(), counted.classes()), (2, 3));
}

#[test]
fn a_bad_line_is_refused_with_its_number_and_column() {
    let field = |column, text: &str| CsvFault::Field { column, text: text.into() };
    let not_finite = |column, text: &str| CsvFault::NotFinite { column, text: text.into() };
    let class = |text: &str, classes| CsvFault::Class { column: 3, text: text.into(), classes };
    let columns = |found, expected| CsvFault::Columns { found, expected };
    for (text, line, fault) in [
        ("", 1, CsvFault::Empty),
        ("\r\n \n", 1, CsvFault::Empty),
        ("a,b,c\n\n", 2, CsvFault::Empty),
        ("1,2,0\n3,4\n", 2, columns(2, 3)),
        ("1,2,0\r\n3,4,1\r\n5,6,7,1\r\n", 3, columns(4, 3)),
        ("1,2,0\n\n3,4,1\n", 2, columns(0, 3)),
        ("a,b\n1,2,0\n", 1, columns(2, 3)),
        ("5\n6\n", 1, CsvFault::Narrow { found: 1 }),
        ("1;2;0\n3;4;1\n", 2, CsvFault::Narrow { found: 1 }),
        ("1,2,0\n3,x4,1\n", 2, field(2, "x4")),
        ("1,x,0\n2,3,1\n", 1, field(2, "x")),
        ("x,1,0\n2,3,1\n", 1, field(1, "x")),
        ("1,3,red\n2,3,1\n", 1, field(3, "red")),
        ("0,1,kind\n1,2,0\n", 1, field(3, "kind")),
        ("1,2\nx,1\n", 2, field(1, "x")),
        ("a,,1\n2,3,1\n", 1, field(1, "a")),
        ("1,2,x,0\n1,2,3,0\n", 1, field(3, "x")),
        ("1,2,3,red\n1,2,3,0\n", 1, field(4, "red")),
        ("1,,0\n", 1, field(2, "")),
        ("1,2,0\n3,4,red\n", 2, field(3, "red")),
        ("1,2,0\n3,nan,1\n", 2, not_finite(2, "nan")),
        ("-inf,2,0\n", 1, not_finite(1, "-inf")),
        ("1,2,0\n1e39,4,1\n", 2, not_finite(1, "1e39")),
        ("1,2,0\n3,4,-1\n", 2, class("-1", 1_000_000)),
        ("1,2,0.5\n", 1, class("0.5", 1_000_000)),
        ("1,2,nan\n", 1, class("nan", 1_000_000)),
        ("1,2,1000000\n", 1, class("1000000", 1_000_000)),
        ("1,2,1e300\n", 1, class("1e300", 1_000_000)),
        ("2,2,red,green\n1,2,0\n3,4,2\n", 3, class("2", 2)),
        ("3,2,red,green\n1,2,0\n3,4,1\n", 1, CsvFault::Rows { declared: 3, found: 2 }),
        ("1,2,kind\n1,2,0\n3,4,0\n", 1, CsvFault::Rows { declared: 1, found: 2 }),
        ("2,3,red,green\n1,2,0\n3,4,1\n", 1, CsvFault::Features { declared: 3, found: 2 }),
    ] {
        let error = read_csv(text).unwrap_err();
        let message = error.to_string();
        let place = format!("table.csv\", line {line}: ");
        assert!(message.contains(&place) && has_three_parts(&message), "{text:?}: {message}");
        assert!(matches!(&error, Error::Csv { fault: found, .. } if *found == fault), "{error:?}");
    }
    assert_eq!(read_csv("1,2,999999\n").unwrap().classes(), 1_000_000);
}

#[test]
fn a_quoted_field_is_short_and_printable() {
    let long = [&b"1,2,0\n3,"[..], &b"\xffabc\x1b[2J".repeat(1000), b",1\n"].concat();
    let message = read_csv(long).unwrap_err().to_string();
    assert!(message.len() < 600 && message.chars().all(|c| !c.is_control()), "{message}");
}

#[cfg(unix)]
#[test]
fn fifos_and_devices_are_refused_and_never_waited_for() {
    let dir = folder(&whole());
    let fifo = dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for path in [&fifo, Path::new("/dev/zero")] {
        let message = data::csv(path).unwrap_err().to_string();
        assert!(message.contains("not a regular file") && has_three_parts(&message), "{message}");
        for name in FILES {
            let file = dir.path().join(name);
            let whole = fs::read(&file).unwrap();
            fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink(path, &file).unwrap();
            let message = data::idx(dir.path()).unwrap_err().to_string();
            assert!(message.contains(name) && message.contains("not a regular"), "{message}");
            fs::remove_file(&file).unwrap();
            fs::write(file, whole).unwrap();
        }
    }
    assert!(data::idx(dir.path()).is_ok());
}

#[test]
fn a_path_in_a_message_stays_on_one_line() {
    let message = data::csv(Path::new("a\nb\u{1b}[2J")).unwrap_err().to_string();
    assert!(!message.chars().any(char::is_control), "{message:?}");
    let made = Dataset::new("a\nb", vec![1.0], &[1], vec![7], 2).unwrap_err().to_string();
    assert!(!made.chars().any(char::is_control), "{made:?}");
}

#[test]
fn the_message_check_misses_no_missing_part() {
    assert!(has_three_parts("x: 3 of 4; there must be 4: add one"));
    for bad in ["", "x: 3 of 4", "x: 3 of 4; there must be 4", "; there must be 4: add one"] {
        assert!(!has_three_parts(bad), "{bad:?}");
    }
}

/// What must hold of every data set that was accepted.
fn assert_sound(data: &Dataset) {
    let per_sample: usize = data.sample_shape().iter().product();
    assert_eq!(data.features().len(), data.len() * per_sample);
    assert!(!data.is_empty() && data.features().iter().all(|x| x.is_finite()));
    assert!(data.labels().iter().all(|&class| (0..data.classes() as i64).contains(&class)));
}

fn tabular(text: &[u8], dir: &Path) {
    let file = dir.join("table.csv");
    fs::write(&file, text).unwrap();
    if let Ok(data) = data::csv(&file) {
        assert_sound(&data);
    }
}

/// Bytes that are often close to an IDX file.
fn nearly_idx(magic: u32, ndim: usize) -> impl Strategy<Value = Vec<u8>> {
    let lens = proptest::collection::vec(prop_oneof![0u32..4, any::<u32>()], ndim);
    let content = proptest::collection::vec(any::<u8>(), 0..40);
    (prop_oneof![9 => Just(magic), 1 => any::<u32>()], lens, content, any::<bool>(), 0usize..99)
        .prop_map(|(magic, lens, content, gzip, flip)| {
            let mut bytes = idx_bytes(magic, &lens, &content);
            if gzip {
                bytes = gzipped(&bytes);
            }
            if let Some(byte) = bytes.get_mut(flip) {
                *byte ^= 0x10;
            }
            bytes
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_bytes_make_a_reader_panic(
        noise in proptest::collection::vec(any::<u8>(), 0..200),
        text in "(\u{feff})?[0-9a,.\\-\n\r eNn]{0,60}",
        images in nearly_idx(0x803, 3),
        labels in nearly_idx(0x801, 1),
    ) {
        let dir = folder(&[noise.clone(), labels.clone(), images.clone(), labels.clone()]);
        let first = data::idx(dir.path());
        for (name, bytes) in FILES.iter().zip([&images, &labels, &images, &labels]) {
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        for split in [first, data::idx(dir.path())].into_iter().flatten() {
            assert_sound(&split.train);
            assert_sound(&split.test);
        }
        tabular(&noise, dir.path());
        tabular(text.as_bytes(), dir.path());
        tabular(&gzipped(text.as_bytes()), dir.path());
    }

    #[test]
    fn what_is_written_as_a_table_is_read_to_the_bit(
        rows in proptest::collection::vec(
            (any::<f32>().prop_filter("finite", |x| x.is_finite()), -1e9f32..1e9, 0i64..30),
            1..20,
        ),
    ) {
        let lines: Vec<String> = rows.iter().map(|(a, b, c)| format!("{a:e},{b},{c}")).collect();
        let table = read_csv(lines.join("\n")).unwrap();
        let bits: Vec<u32> = table.features().iter().map(|x| x.to_bits()).collect();
        let want: Vec<u32> =
            rows.iter().flat_map(|(a, b, _)| [a.to_bits(), b.to_bits()]).collect();
        prop_assert_eq!(bits, want);
        prop_assert!(table.labels().iter().eq(rows.iter().map(|(_, _, class)| class)));
    }
}
