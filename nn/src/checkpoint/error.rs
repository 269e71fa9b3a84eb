//! What can be wrong with a checkpoint, told with the file and all names concerned.

use std::fmt;
use std::io;
use std::path::PathBuf;

use kernels::DType;

/// A checkpoint that could not be written, read or matched with a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be written.
    #[error(
        "{file:?}: cannot be written ({cause}); a checkpoint replaces a regular file or none, and \
         what was there is untouched: check that the folder exists, may be written to and has room"
    )]
    Write {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// Arrays that the format cannot hold under this name.
    #[error(
        "checkpoint: the name {name:?} is taken; names of arrays and of metadata differ from each \
         other and from those that the format and the checksum use: rename one"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Elements that do not fill their shape.
    #[error(
        "checkpoint: {values} elements do not fill {name:?} of shape {shape:?}; an array has the \
         product of its shape of elements: correct one of them"
    )]
    Shape {
        /// The array.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Its number of elements.
        values: usize,
    },
    /// A file that is not there, or that the system does not let us read.
    #[error(
        "{file:?}: cannot be read ({cause}); a checkpoint is read from an existing, readable, \
         regular file: check the path and its permissions"
    )]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// More bytes than a checkpoint may have.
    #[error(
        "{file:?}: holds more than {max} bytes; a checkpoint is read into memory and may have at \
         most that many: load a smaller one"
    )]
    Size {
        /// The file.
        file: PathBuf,
        /// The limit, in bytes.
        max: u64,
    },
    /// A file that is no safetensors file, or not all of one.
    #[error(
        "{file:?}: {bytes} bytes that are not a complete safetensors file ({}); its header must \
         describe all of its bytes: the file was cut off, altered or is of another kind",
        one_line(cause)
    )]
    Format {
        /// The file.
        file: PathBuf,
        /// Its length.
        bytes: usize,
        /// What the decoder found.
        cause: safetensors::SafeTensorError,
    },
    /// An array of a type that is not read.
    #[error(
        "{file:?}: {name:?} has elements of type {found}; F32, F64 and I64 are read: convert it \
         first"
    )]
    DType {
        /// The file.
        file: PathBuf,
        /// The array.
        name: String,
        /// Its type, as the format calls it.
        found: safetensors::Dtype,
    },
    /// A file whose content is not what was written.
    #[error(
        "{file:?}: the content has checksum {found}, {recorded:?} was recorded when it was \
         written; both must be equal: the file was altered since, take a copy that was not"
    )]
    Checksum {
        /// The file.
        file: PathBuf,
        /// The checksum of the content.
        found: String,
        /// The checksum in the metadata.
        recorded: String,
    },
    /// A file whose metadata was altered where the checksum stands.
    #[error(
        "{file:?}: the metadata has only one of the checksum and the entry that demands it; a file \
         has both, or neither if another program wrote it: the file was altered since, take a copy \
         that was not"
    )]
    ChecksumEntries {
        /// The file.
        file: PathBuf,
    },
    /// Arrays that are not those of the model: all of them.
    #[error(
        "checkpoint: {} of its entries do not match the model: {}; it must hold exactly the \
         model's parameters: build the model with the sizes it was saved from, or load another \
         file",
        problems.len(),
        problems.iter().map(Problem::to_string).collect::<Vec<_>>().join(", ")
    )]
    Mismatch {
        /// The differences: missing and differing arrays in the order of the model, then extra
        /// ones.
        problems: Vec<Problem>,
    },
}

/// The text of an error that quotes a file, which may hold line ends and control characters.
fn one_line(cause: &safetensors::SafeTensorError) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    cause.to_string().chars().map(escaped).collect()
}

/// One difference between a checkpoint and a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The model has it, the checkpoint does not.
    Missing {
        /// The array.
        name: String,
        /// The shape that is wanted.
        shape: Vec<usize>,
        /// The element type that is wanted.
        dtype: DType,
    },
    /// The checkpoint has it, the model does not.
    Extra {
        /// The array.
        name: String,
        /// The shape that was found.
        shape: Vec<usize>,
    },
    /// Both have it, in different shapes.
    Shape {
        /// The array.
        name: String,
        /// The shape that was found.
        found: Vec<usize>,
        /// The shape that is wanted.
        wanted: Vec<usize>,
    },
    /// Both have it, with different element types.
    DType {
        /// The array.
        name: String,
        /// The type that was found.
        found: DType,
        /// The type that is wanted.
        wanted: DType,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Missing { name, shape, dtype } => {
                write!(f, "{name:?} ({dtype} {shape:?}) is missing")
            }
            Problem::Extra { name, shape } => write!(f, "{name:?} ({shape:?}) is not in the model"),
            Problem::Shape { name, found, wanted } => {
                write!(f, "{name:?} has shape {found:?} where the model has {wanted:?}")
            }
            Problem::DType { name, found, wanted } => {
                write!(f, "{name:?} has type {found} where the model has {wanted}")
            }
        }
    }
}

/// The result of writing, reading or matching a checkpoint.
pub type Result<T, E = Error> = std::result::Result<T, E>;
