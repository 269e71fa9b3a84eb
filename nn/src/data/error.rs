//! What can be wrong with a data set, told with the file and the place in it.

use std::io;
use std::path::PathBuf;

/// A data set that could not be read, made or cut.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that is not there, or that the system does not let us read.
    #[error(
        "{file:?}: cannot be read ({cause}); a data set is read from existing, readable, regular \
         files: check the path and its permissions"
    )]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// A gzip stream that breaks off, or whose checksum is wrong.
    #[error(
        "{file:?}: the gzip stream is damaged after {offset} unpacked bytes ({cause}); it must \
         unpack to its end, where its checksum is: fetch the file again"
    )]
    Gzip {
        /// The file.
        file: PathBuf,
        /// Bytes that could be unpacked.
        offset: u64,
        /// What the decoder found.
        cause: io::Error,
    },
    /// More bytes than a table may have.
    #[error(
        "{file:?}: holds more than {max} bytes, unpacked if it is gzipped; a table is read into \
         memory and may have at most that many: split it"
    )]
    Size {
        /// The file.
        file: PathBuf,
        /// The limit, in bytes.
        max: u64,
    },
    /// A file that is not the IDX file that was expected.
    #[error("{file:?}: {fault}")]
    Idx {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        fault: IdxFault,
    },
    /// A line of a table that cannot be used.
    #[error("{file:?}, line {line}: {fault}")]
    Csv {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        fault: CsvFault,
    },
    /// Features that do not fit the labels.
    #[error(
        "{name:?}: {features} features do not make {samples} samples of shape {shape:?}; there \
         must be as many labels as samples and their shape's product of features for each: check \
         both lengths"
    )]
    Features {
        /// The data set.
        name: String,
        /// Features that were brought.
        features: usize,
        /// Labels that were brought.
        samples: usize,
        /// The shape of a sample.
        shape: Vec<usize>,
    },
    /// A label that is no class.
    #[error(
        "{name:?}: sample {sample} has class {class}; classes lie in 0..{classes}: number them \
         from 0 and declare them all"
    )]
    Class {
        /// The data set.
        name: String,
        /// The sample, counted from 0.
        sample: usize,
        /// Its label.
        class: i64,
        /// Number of classes.
        classes: usize,
    },
    /// A token that is not in the vocabulary.
    #[error(
        "{name:?}: token {place} of the text is {token}; tokens lie in 0..{classes}: number the \
         different ones from 0 and declare them all"
    )]
    Token {
        /// The data set.
        name: String,
        /// Its place in the text.
        place: usize,
        /// The token.
        token: i64,
        /// Different tokens.
        classes: usize,
    },
    /// Windows over a text that have no length or do not move on.
    #[error(
        "{name:?}: windows of {context} tokens, {stride} apart, were asked for; both are at least \
         1: choose other numbers"
    )]
    Window {
        /// The data set.
        name: String,
        /// Tokens of a window.
        context: usize,
        /// Tokens between the starts of neighbouring windows.
        stride: usize,
    },
    /// A text that is too short for its windows.
    #[error(
        "{file:?}: {tokens} characters do not make two windows of {context} and a last target; a \
         text is split into one part to train with and one to test: bring a longer one or use a \
         shorter context"
    )]
    Short {
        /// The file.
        file: PathBuf,
        /// Its characters.
        tokens: usize,
        /// Characters of a window.
        context: usize,
    },
    /// A text that is not UTF-8.
    #[error("{file:?}: byte {offset} is not UTF-8; a text is read as UTF-8: convert the file")]
    NotText {
        /// The file.
        file: PathBuf,
        /// The first byte that is wrong.
        offset: usize,
    },
    /// A split with an empty part.
    #[error(
        "{name:?}: fraction {fraction} does not split {samples} samples; it must lie between 0 and \
         1 and leave at least one sample in each part: choose another fraction or bring more \
         samples"
    )]
    Split {
        /// The data set.
        name: String,
        /// Its samples.
        samples: usize,
        /// The fraction that was asked for.
        fraction: f64,
    },
    /// A batch of no samples.
    #[error(
        "{name:?}: a batch of 0 samples was asked for; a global batch has at least one sample: ask \
         for a larger one"
    )]
    Batch {
        /// The data set.
        name: String,
    },
    /// A batch with a sample that is not there.
    #[error(
        "{name:?}: a batch names sample {sample} of {samples}; samples are numbered from 0: name \
         only those that the data set has"
    )]
    Sample {
        /// The data set.
        name: String,
        /// The number in the batch.
        sample: usize,
        /// How many samples there are.
        samples: usize,
    },
}

/// What is wrong with an IDX file. Bytes are counted as if it were not gzipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdxFault {
    /// Neither the file nor its gzipped form is there.
    #[error(
        "there is no such file, nor one with .gz added; a data set of this kind is a folder with \
         train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and \
         t10k-labels-idx1-ubyte, each plain or gzipped: put all four there"
    )]
    Missing,
    /// It does not start as an IDX file of this kind does.
    #[error(
        "starts with {found:#010x}; an IDX file of this kind starts with {wanted:#010x}: check \
         that images and labels have not changed places and that the file is IDX at all"
    )]
    Magic {
        /// The first four bytes, big endian.
        found: u32,
        /// What they must be.
        wanted: u32,
    },
    /// It ends too early.
    #[error(
        "ends after {found} bytes; by its header it has {expected}: the file was cut off, fetch it \
         again"
    )]
    Truncated {
        /// Bytes of header and content; of the header alone if that is cut off.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// It goes on after its end.
    #[error(
        "goes on after byte {expected}; by its header it ends there: the header or the file is \
         damaged, fetch it again"
    )]
    Trailing {
        /// Bytes of header and content.
        expected: u64,
    },
    /// The header asks for nothing, or for more than is reasonable.
    #[error(
        "declares lengths {lens:?}; their product must lie between 1 and {max} bytes: the header \
         is damaged, or the data set needs to be split"
    )]
    Size {
        /// The declared lengths.
        lens: Vec<u32>,
        /// The largest product.
        max: u64,
    },
    /// Images and labels of different number.
    #[error(
        "holds {labels} labels for the {images} images of {images_file:?}; there must be one label \
         for each image: take both files from the same source"
    )]
    Labels {
        /// Number of labels.
        labels: usize,
        /// Number of images.
        images: usize,
        /// Where the images are.
        images_file: PathBuf,
    },
    /// Training and test images of different size.
    #[error(
        "holds images of {test_rows}x{test_cols} pixels, the training images have \
         {train_rows}x{train_cols}; both must have one size: take both files from the same source"
    )]
    ImageSize {
        /// Rows of a test image.
        test_rows: usize,
        /// Columns of a test image.
        test_cols: usize,
        /// Rows of a training image.
        train_rows: usize,
        /// Columns of a training image.
        train_cols: usize,
    },
}

/// What is wrong with a line of a table. Columns are counted from 1; a quoted field is cut after
/// its first characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvFault {
    /// No line with a sample.
    #[error("a sample was expected, the file ends; a table has at least one: add samples")]
    Empty,
    /// No feature.
    #[error(
        "{found} columns are too few; a sample has at least one feature, then its class, separated \
         by commas: check the separator"
    )]
    Narrow {
        /// Number of columns.
        found: usize,
    },
    /// A line of another length.
    #[error(
        "{found} columns where {expected} are expected; every line has as many columns as the \
         first sample: complete the line or remove it"
    )]
    Columns {
        /// Number of columns.
        found: usize,
        /// Number of columns of the first sample.
        expected: usize,
    },
    /// A field that is no number.
    #[error(
        "column {column} holds {text:?}; every field is a number, but in a first line that has \
         none: encode or remove it"
    )]
    Field {
        /// The column.
        column: usize,
        /// The field.
        text: String,
    },
    /// A number that f32 does not have.
    #[error(
        "column {column} holds {text:?}; a feature is a finite f32: replace it or remove the line"
    )]
    NotFinite {
        /// The column.
        column: usize,
        /// The field.
        text: String,
    },
    /// A last column that is no class.
    #[error(
        "column {column} holds {text:?}; the last column is the class, an integer in 0..{classes}: \
         number the classes from 0"
    )]
    Class {
        /// The column.
        column: usize,
        /// The field.
        text: String,
        /// Number of classes: those the header names, or the largest number there may be.
        classes: usize,
    },
    /// The header announces another number of samples.
    #[error(
        "declares {declared} samples, {found} follow; the first number of such a header is the \
         number of samples: the file was cut off or the header is wrong"
    )]
    Rows {
        /// The number in the header.
        declared: usize,
        /// The number of samples.
        found: usize,
    },
    /// The header announces another number of features.
    #[error(
        "declares {declared} features, the samples have {found}; the second number of such a \
         header is the number of columns before the class: correct it"
    )]
    Features {
        /// The number in the header.
        declared: usize,
        /// Features of the samples.
        found: usize,
    },
}

/// The result of reading, making or cutting a data set.
pub type Result<T, E = Error> = std::result::Result<T, E>;
