//! A text as a data set for predicting each character from those before it.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::dataset::{Dataset, Split};
use super::error::{Error, Result};
use super::source::Source;

/// Most bytes of a text; windows take some twenty times as much memory.
const BYTES_MAX: u64 = 1 << 26;

/// The different characters of a text in the order of their code points; a character's token is
/// its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    characters: Vec<char>,
}

/// A text in windows, the first nine tenths to train with and the rest to test.
#[derive(Clone, Debug)]
pub struct Text {
    /// The windows.
    pub split: Split,
    /// What the tokens stand for.
    pub vocabulary: Vocabulary,
}

impl Vocabulary {
    /// The characters that occur in `text`.
    pub fn of(text: &str) -> Self {
        let mut characters: Vec<char> = text.chars().collect();
        characters.sort_unstable();
        characters.dedup();
        Vocabulary { characters }
    }

    /// Number of characters.
    pub fn len(&self) -> usize {
        self.characters.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.characters.is_empty()
    }

    /// The tokens of `text`; characters that do not occur in the vocabulary are left out.
    pub fn encode(&self, text: &str) -> Vec<i64> {
        let token = |c: char| self.characters.binary_search(&c).ok().map(|token| token as i64);
        text.chars().filter_map(token).collect()
    }

    /// The text of `tokens`; one that stands for nothing becomes U+FFFD.
    pub fn decode(&self, tokens: &[i64]) -> String {
        let character = |&token: &i64| {
            let found = usize::try_from(token).ok().and_then(|token| self.characters.get(token));
            found.copied().unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        tokens.iter().map(character).collect()
    }
}

/// Reads a UTF-8 text, plain or gzipped, and cuts it into windows of `context` characters that do
/// not overlap. The first nine tenths train; no character of the rest is among them.
///
/// # Errors
/// A file that cannot be read, is larger than 64 MiB or not UTF-8, a text too short for a window
/// in each part, or a context of 0.
pub fn text(file: impl AsRef<Path>, context: usize) -> Result<Text> {
    let file = file.as_ref();
    let open = File::open(file).map_err(|cause| Error::Read { file: file.to_owned(), cause })?;
    read(file, BufReader::new(open), context)
}

/// [`text`], of what is in `bytes`; `file` is what errors call it.
pub(super) fn read(file: &Path, bytes: impl std::io::BufRead, context: usize) -> Result<Text> {
    let bytes = Source::new(file, bytes)?.read(BYTES_MAX + 1)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Error::Size { file: file.to_owned(), max: BYTES_MAX });
    }
    let text = String::from_utf8(bytes).map_err(|error| Error::NotText {
        file: file.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })?;
    let vocabulary = Vocabulary::of(&text);
    let tokens = vocabulary.encode(&text);
    let (train, test) = tokens.split_at(tokens.len() / 10 * 9);
    let part = |part: &str, tokens: &[i64]| {
        let name = format!("{}/{part}", file.display());
        Dataset::tokens(name, tokens, context, context, vocabulary.len())
    };
    let split = Split { train: part("train", train)?, test: part("test", test)? };
    if split.train.is_empty() || split.test.is_empty() {
        let (file, tokens) = (file.to_owned(), tokens.len());
        return Err(Error::Short { file, tokens, context });
    }
    Ok(Text { split, vocabulary })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8], context: usize) -> Result<Text> {
        read(Path::new("x.txt"), bytes, context)
    }

    #[test]
    fn windows_do_not_overlap_and_targets_are_one_further() {
        let text = of("abcdefghij".repeat(10).as_bytes(), 4).unwrap();
        let Split { train, test } = &text.split;
        // 90 characters train: windows at 0, 4, … 84, the last whose target still exists.
        assert_eq!((train.len(), test.len(), train.classes()), (22, 2, 10));
        assert_eq!(train.tokens_of(1), [4, 5, 6, 7]);
        assert_eq!(train.labels_of(1), [5, 6, 7, 8]);
        assert_eq!(test.tokens_of(0), [0, 1, 2, 3]);
        assert_eq!((train.sample_shape(), train.labels_per_sample()), (&[4][..], 4));
    }

    #[test]
    fn characters_are_numbered_by_code_point_and_come_back() {
        let vocabulary = Vocabulary::of("bé a\nb");
        assert_eq!(vocabulary.len(), 5);
        assert_eq!(vocabulary.encode("\n abé"), [0, 1, 2, 3, 4]);
        assert_eq!(vocabulary.encode("axb"), [2, 3]);
        assert_eq!(vocabulary.decode(&[3, 4, 1, -1, 99]), "bé \u{fffd}\u{fffd}");
    }

    #[test]
    fn what_is_no_text_or_too_short_is_refused_with_the_place() {
        let message = |bytes: &[u8], context| of(bytes, context).unwrap_err().to_string();
        assert!(message(b"ab\xffcd", 1).contains("byte 2 is not UTF-8"));
        assert!(message(b"abcdefghij", 4).contains("10 characters do not make"));
        assert!(message(b"", 4).contains("0 characters"));
        assert!(message(b"abcdefghij", 0).contains("windows of 0 tokens"));
        let missing = text("no such file", 4).unwrap_err();
        assert!(missing.to_string().contains("cannot be read"), "{missing}");
    }
}
