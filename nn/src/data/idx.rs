//! Images and labels in the IDX format of MNIST.
//!
//! A file is a big-endian magic number (`0x0000_08nn`: unsigned bytes, nn lengths), the lengths as
//! big-endian u32, then the bytes, row-major (Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST
//! database of handwritten digits", section "File formats").

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::dataset::{Dataset, Split};
use super::error::{Error, IdxFault, Result};
use super::source::Source;
use crate::regular;

const IMAGES_MAGIC: u32 = 0x0000_0803;
const LABELS_MAGIC: u32 = 0x0000_0801;
/// The most bytes that a header may declare: 20 times MNIST, and 4 GiB as f32.
const CONTENT_BYTES_MAX: u64 = 1 << 30;
/// Pixels go from 0 to this.
const WHITE: f32 = 255.0;

/// The four files of MNIST's layout in the folder `dir`: `train-images-idx3-ubyte`,
/// `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`, each plain or
/// with `.gz` added; the plain one is taken if both are there.
///
/// **Shapes**: samples are `[rows · columns]`, pixels / 255. The number of classes is one more
/// than the largest label of both parts.
///
/// # Errors
/// A file that is missing, not a regular one, damaged, cut off, longer than its header says or of
/// another kind, and parts that do not belong together; the message names the file.
pub fn idx(dir: &Path) -> Result<Split> {
    let train = read_part(dir, "train")?;
    let test = read_part(dir, "t10k")?;
    if (train.rows, train.cols) != (test.rows, test.cols) {
        let fault = IdxFault::ImageSize {
            test_rows: test.rows,
            test_cols: test.cols,
            train_rows: train.rows,
            train_cols: train.cols,
        };
        return Err(Error::Idx { file: test.images_file, fault });
    }
    let largest = train.labels.iter().chain(&test.labels).max();
    let classes = largest.map_or(0, |&label| usize::from(label) + 1);
    let name = |part: &str| dir.join(part).display().to_string();
    Ok(Split {
        train: train.dataset(&name("train"), WHITE, classes)?,
        test: test.dataset(&name("t10k"), WHITE, classes)?,
    })
}

fn read_part(dir: &Path, part: &str) -> Result<Pair> {
    let (images_file, images) = open(dir, &format!("{part}-images-idx3-ubyte"))?;
    let (labels_file, labels) = open(dir, &format!("{part}-labels-idx1-ubyte"))?;
    Pair::read(Source::new(&images_file, images)?, Source::new(&labels_file, labels)?)
}

fn open(dir: &Path, name: &str) -> Result<(PathBuf, BufReader<File>)> {
    for file in [dir.join(name), dir.join(format!("{name}.gz"))] {
        match regular::open(&file) {
            Ok(opened) => return Ok((file, BufReader::new(opened))),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(Error::Read { file, cause }),
        }
    }
    Err(Error::Idx { file: dir.join(name), fault: IdxFault::Missing })
}

/// Images with their labels, as bytes: as many labels as images, at least one.
#[derive(Debug)]
pub(super) struct Pair {
    images_file: PathBuf,
    rows: usize,
    cols: usize,
    pixels: Vec<u8>,
    labels: Vec<u8>,
}

impl Pair {
    /// Reads both files to their ends.
    pub(super) fn read(mut images: Source<'_>, mut labels: Source<'_>) -> Result<Self> {
        let ([count, rows, cols], pixels) = read_idx(&mut images, IMAGES_MAGIC)?;
        let ([label_count], bytes) = read_idx(&mut labels, LABELS_MAGIC)?;
        let images_file = images.file().to_owned();
        if label_count != count {
            let fault = IdxFault::Labels { labels: label_count, images: count, images_file };
            return Err(Error::Idx { file: labels.file().to_owned(), fault });
        }
        Ok(Pair { images_file, rows, cols, pixels, labels: bytes })
    }

    /// The data set of samples `[rows · columns]` with every pixel divided by `white`.
    pub(super) fn dataset(&self, name: &str, white: f32, classes: usize) -> Result<Dataset> {
        let features = self.pixels.iter().map(|&pixel| f32::from(pixel) / white).collect();
        let labels = self.labels.iter().map(|&label| i64::from(label)).collect();
        Dataset::new(name, features, &[self.rows * self.cols], labels, classes)
    }
}

/// The lengths and content of a file with `NDIM` lengths. Nothing is allocated on the word of the
/// header: reading stops one byte after the declared end, and memory grows with the bytes that are
/// there.
fn read_idx<const NDIM: usize>(
    source: &mut Source<'_>,
    wanted: u32,
) -> Result<([usize; NDIM], Vec<u8>)> {
    let file = source.file();
    let refused = |fault| Err(Error::Idx { file: file.to_owned(), fault });
    let header_len = 4 + 4 * NDIM as u64;
    let header = source.read(header_len)?;
    let (words, _) = header.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|&word| u32::from_be_bytes(word)).collect();
    if let Some(&found) = words.first().filter(|&&found| found != wanted) {
        return refused(IdxFault::Magic { found, wanted });
    }
    let Ok(lens) = <[u32; NDIM]>::try_from(words.get(1..).unwrap_or(&[])) else {
        let found = header.len() as u64;
        return refused(IdxFault::Truncated { expected: header_len, found });
    };
    let product = lens.iter().try_fold(1u64, |n, &len| n.checked_mul(u64::from(len)));
    let Some(len) = product.filter(|len| (1..=CONTENT_BYTES_MAX).contains(len)) else {
        return refused(IdxFault::Size { lens: lens.to_vec(), max: CONTENT_BYTES_MAX });
    };
    let content = source.read(len + 1)?;
    let (expected, found) = (header_len + len, header_len + content.len() as u64);
    if found < expected {
        return refused(IdxFault::Truncated { expected, found });
    }
    if found > expected {
        return refused(IdxFault::Trailing { expected });
    }
    Ok((lens.map(|len| len as usize), content))
}
