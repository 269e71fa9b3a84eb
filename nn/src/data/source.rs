//! Reads a file, plain or gzipped, up to a limit: a few packed kilobytes can unpack to gigabytes.

use std::io::{BufRead, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::error::{Error, Result};

/// The first bytes of every gzip stream (RFC 1952, section 2.3.1); no IDX file and no table of
/// numbers starts with them.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The unpacked bytes of a file.
///
/// Whether it is gzipped is told by its content: a downloaded `.gz` has often been unpacked on the
/// way.
pub(super) struct Source<'a> {
    file: &'a Path,
    reader: Box<dyn Read + 'a>,
    gzipped: bool,
    offset: u64,
}

impl<'a> Source<'a> {
    /// The content `bytes` of `file`, which is named in errors.
    pub(super) fn new(file: &'a Path, mut bytes: impl BufRead + 'a) -> Result<Self> {
        let start =
            bytes.fill_buf().map_err(|cause| Error::Read { file: file.to_owned(), cause })?;
        let gzipped = start.starts_with(&GZIP_MAGIC);
        let reader: Box<dyn Read + 'a> =
            if gzipped { Box::new(MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
        Ok(Source { file, reader, gzipped, offset: 0 })
    }

    /// The file that is read.
    pub(super) fn file(&self) -> &'a Path {
        self.file
    }

    /// The next bytes, `max` of them or fewer at the end of the file. Memory grows with what is
    /// there, not with `max`. Seeing the end of a gzip stream includes checking its checksum.
    pub(super) fn read(&mut self, max: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let outcome = self.reader.by_ref().take(max).read_to_end(&mut bytes);
        self.offset += bytes.len() as u64;
        match outcome {
            Ok(_) => Ok(bytes),
            Err(cause) if self.gzipped => {
                Err(Error::Gzip { file: self.file.to_owned(), offset: self.offset, cause })
            }
            Err(cause) => Err(Error::Read { file: self.file.to_owned(), cause }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_bomb_is_unpacked_no_further_than_asked() {
        let bomb = gzipped(&vec![0; 1 << 26]);
        assert!(bomb.len() < 1 << 17);
        let mut source = Source::new(Path::new("bomb.gz"), &bomb[..]).unwrap();
        let bytes = source.read(1000).unwrap();
        assert_eq!(bytes.len(), 1000);
        assert!(bytes.capacity() < 1 << 16, "{} bytes were allocated", bytes.capacity());
        assert_eq!(source.read(7).unwrap().len(), 7);
    }

    #[test]
    fn plain_gzipped_and_twice_gzipped_parts_read_the_same() {
        let (first, second) = (b"three hundred".repeat(23), b"tail".to_vec());
        let whole = [first.clone(), second.clone()].concat();
        let parts = [gzipped(&first), gzipped(&second)].concat();
        for packed in [whole.clone(), gzipped(&whole), parts] {
            let mut source = Source::new(Path::new("x"), &packed[..]).unwrap();
            assert_eq!(source.read(u64::MAX).unwrap(), whole);
        }
    }

    #[test]
    fn every_cut_and_a_wrong_checksum_are_damage() {
        let packed = gzipped(&b"asymmetric".repeat(11));
        let read = |bytes: &[u8]| Source::new(Path::new("x.gz"), bytes)?.read(u64::MAX);
        assert!(read(&packed).is_ok());
        for len in 2..packed.len() {
            let refused = read(&packed[..len]);
            assert!(matches!(refused, Err(Error::Gzip { .. })), "cut to {len} bytes");
        }
        let mut altered = packed.clone();
        let checksum = altered.len() - 8;
        altered[checksum] ^= 1;
        assert!(matches!(read(&altered), Err(Error::Gzip { offset: 110, .. })));
        let mut longer = packed.clone();
        longer.extend(b"junk");
        assert!(matches!(read(&longer), Err(Error::Gzip { .. })));
    }
}
