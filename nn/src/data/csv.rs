//! Tables of numbers, one sample a line, separated by commas, the class last.

use std::io::BufReader;
use std::path::Path;

use super::dataset::Dataset;
use super::error::{CsvFault, Error, Result};
use super::source::Source;
use crate::regular;

/// The most bytes of a table.
const TABLE_BYTES_MAX: u64 = 1 << 28;
/// Classes lie below this: a model has an output for each.
const CLASSES_MAX: usize = 1_000_000;
/// Characters of a field that an error quotes.
const QUOTED_CHARS: usize = 40;
/// The byte order mark that some editors put before UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The table in `file`, plain or gzipped: numeric columns, the last of them the class, an integer
/// from 0 (`3.0` and `3e0` are 3). White space around fields, Windows line ends, a byte order mark
/// and blank lines at the end are accepted.
///
/// A first line without a number is a header, the names of the columns. So is scikit-learn's
/// `samples,features,class names...`, whose two numbers are then compared with the table and whose
/// names are counted as the classes. Without such a count the number of classes is one more than
/// the largest class. Any other first line is a sample: a field of it that is no number is an
/// error, as in every line.
///
/// **Shapes**: samples are `[features]`, as they are in the file, rounded to f32.
///
/// # Errors
/// A file that cannot be read, or a line that is not such a sample; the message names file, line
/// and column.
pub fn csv(file: &Path) -> Result<Dataset> {
    parse(file, &content(file, TABLE_BYTES_MAX)?)
}

/// The unpacked bytes of `file`, which may be at most `max`.
fn content(file: &Path, max: u64) -> Result<Vec<u8>> {
    let opened =
        regular::open(file).map_err(|cause| Error::Read { file: file.to_owned(), cause })?;
    let bytes = Source::new(file, BufReader::new(opened))?.read(max + 1)?;
    if bytes.len() as u64 > max {
        return Err(Error::Size { file: file.to_owned(), max });
    }
    Ok(bytes)
}

fn parse(file: &Path, bytes: &[u8]) -> Result<Dataset> {
    let at = |line, fault| Error::Csv { file: file.to_owned(), line, fault };
    let text = bytes.strip_prefix(BOM).unwrap_or(bytes).trim_ascii_end();
    if text.is_empty() {
        return Err(at(1, CsvFault::Empty));
    }
    let mut lines = text.split(|&byte| byte == b'\n').zip(1..).peekable();
    let first_line = lines.peek().map_or(&[][..], |(line, _)| line);
    let header = Header::of(first_line);
    let first = if header == Header::None { 1 } else { 2 };
    let mut table = Table::default();
    for (sample, line) in lines.skip(first - 1) {
        table.push(sample).map_err(|fault| at(line, fault))?;
    }
    if table.labels.is_empty() {
        return Err(at(first, CsvFault::Empty));
    }
    let classes = match header.classes(first_line, &table).map_err(|fault| at(1, fault))? {
        Some(declared) => declared,
        None => table.labels.iter().max().map_or(0, |&class| class as usize + 1),
    };
    if let Some(sample) = table.labels.iter().position(|&class| class as usize >= classes) {
        let (column, text) = (table.columns, table.labels[sample].to_string());
        return Err(at(first + sample, CsvFault::Class { column, text, classes }));
    }
    let features = table.columns - 1;
    Dataset::new(file.display().to_string(), table.features, &[features], table.labels, classes)
}

/// What the first line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    /// Nothing: it is a sample.
    None,
    /// Names of this many columns.
    Names(usize),
    /// How much follows.
    Counts { rows: usize, features: usize, classes: usize },
}

impl Header {
    fn of(line: &[u8]) -> Self {
        let numeric = |field: &[u8]| number::<f32>(field).is_some();
        let named = |field: &[u8]| !field.is_empty() && !numeric(field);
        let found = fields(line).count();
        if fields(line).any(named) && !fields(line).any(numeric) {
            return Header::Names(found);
        }
        let mut start = fields(line);
        let counts = (start.next().and_then(number), start.next().and_then(number));
        match counts {
            (Some(rows), Some(features))
                if (3..=CLASSES_MAX).contains(&found) && start.all(named) =>
            {
                Header::Counts { rows, features, classes: found - 2 }
            }
            _ => Header::None,
        }
    }

    /// The number of classes, if the header `line` has it; a header that does not fit its table
    /// is refused.
    fn classes(self, line: &[u8], table: &Table) -> Result<Option<usize>, CsvFault> {
        let expected = table.columns;
        let (samples_found, features_found) = (table.labels.len(), expected - 1);
        match self {
            Header::None => Ok(None),
            Header::Names(found) if found != expected => Err(CsvFault::Columns { found, expected }),
            Header::Names(_) => Ok(None),
            Header::Counts { rows, features, classes } if features == features_found => {
                let (declared, found) = (rows, samples_found);
                if declared == found {
                    Ok(Some(classes))
                } else {
                    Err(CsvFault::Rows { declared, found })
                }
            }
            // As long as a sample and counting nothing: a sample with a slip in it.
            Header::Counts { classes, .. } if classes + 2 == expected => {
                let text = fields(line).nth(2).map(quoted).unwrap_or_default();
                Err(CsvFault::Field { column: 3, text })
            }
            Header::Counts { features, .. } => {
                Err(CsvFault::Features { declared: features, found: features_found })
            }
        }
    }
}

/// The samples read so far.
#[derive(Debug, Default)]
struct Table {
    /// Columns of the first sample, the class among them.
    columns: usize,
    features: Vec<f32>,
    labels: Vec<i64>,
}

impl Table {
    fn push(&mut self, line: &[u8]) -> Result<(), CsvFault> {
        let found = if line.trim_ascii().is_empty() { 0 } else { fields(line).count() };
        if self.labels.is_empty() {
            self.columns = found;
        }
        if found != self.columns {
            return Err(CsvFault::Columns { found, expected: self.columns });
        }
        if found < 2 {
            return Err(CsvFault::Narrow { found });
        }
        for (field, column) in fields(line).zip(1..) {
            if column < found {
                self.features.push(feature(field, column)?);
            } else {
                self.labels.push(class(field, column)?);
            }
        }
        Ok(())
    }
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

fn number<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn feature(field: &[u8], column: usize) -> Result<f32, CsvFault> {
    let Some(value) = number::<f32>(field) else {
        return Err(CsvFault::Field { column, text: quoted(field) });
    };
    if value.is_finite() {
        Ok(value)
    } else {
        Err(CsvFault::NotFinite { column, text: quoted(field) })
    }
}

fn class(field: &[u8], column: usize) -> Result<i64, CsvFault> {
    let Some(value) = number::<f64>(field) else {
        return Err(CsvFault::Field { column, text: quoted(field) });
    };
    if value.fract() == 0.0 && (0.0..CLASSES_MAX as f64).contains(&value) {
        Ok(value as i64)
    } else {
        Err(CsvFault::Class { column, text: quoted(field), classes: CLASSES_MAX })
    }
}

/// The start of a field, for a message.
fn quoted(field: &[u8]) -> String {
    // Four bytes hold a character of UTF-8: what is cut off lies behind the quoted characters.
    let start = &field[..field.len().min(4 * QUOTED_CHARS)];
    String::from_utf8_lossy(start).chars().take(QUOTED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_may_fill_the_limit_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("table.csv");
        std::fs::write(&file, "1,2,0\n").unwrap();
        assert_eq!(content(&file, 6).unwrap(), b"1,2,0\n");
        assert!(matches!(content(&file, 5), Err(Error::Size { max: 5, .. })));
    }
}
