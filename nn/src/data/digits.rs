//! The built-in data set: 1797 handwritten digits.
//!
//! Source: the test set of optdigits, UCI Machine Learning Repository, E. Alpaydin and C. Kaynak,
//! 1998; `data/digits/README.md` tells how it came here.

use std::path::Path;

use super::dataset::Dataset;
use super::error::Result;
use super::idx::Pair;
use super::source::Source;

const IMAGES: &[u8] = include_bytes!("../../../data/digits/digits-images-idx3-ubyte.gz");
const LABELS: &[u8] = include_bytes!("../../../data/digits/digits-labels-idx1-ubyte.gz");
/// Pixels go from 0 to this.
const WHITE: f32 = 16.0;
const CLASSES: usize = 10;

/// 1797 pictures of handwritten digits, 8×8 pixels from 0 to 1 in steps of 1/16 as 64 features, in
/// 10 classes. Built in: no file is read.
///
/// # Errors
/// None that a caller can cause: the built-in files are decoded as any other would be.
pub fn digits() -> Result<Dataset> {
    let images = Source::new(Path::new("digits-images-idx3-ubyte.gz"), IMAGES)?;
    let labels = Source::new(Path::new("digits-labels-idx1-ubyte.gz"), LABELS)?;
    Pair::read(images, labels)?.dataset("digits", WHITE, CLASSES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_are_those_of_the_source() {
        let digits = digits().unwrap();
        assert_eq!((digits.len(), digits.sample_shape(), digits.classes()), (1797, &[64][..], 10));
        let mut counts = [0; 10];
        for &class in digits.labels() {
            counts[class as usize] += 1;
        }
        assert_eq!(counts, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
        // The first row of the source's table: 0,0,5,13,9,1,0,0, 0,0,13,15,10,15,5,0, ... 0.
        let row: Vec<f32> = digits.features()[..16].iter().map(|x| x * WHITE).collect();
        let first = [0., 0., 5., 13., 9., 1., 0., 0., 0., 0., 13., 15., 10., 15., 5., 0.];
        assert_eq!(row, first);
        assert_eq!(digits.labels()[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
        assert!(digits.features().iter().all(|x| (0.0..=1.0).contains(x)));
        assert!(digits.features().contains(&1.0));
    }
}
