//! Dropout (Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov 2014, "Dropout"), with the
//! scale in training.
//!
//! `y = x / (1 − p)`, or +0 where the element is dropped. Element i of the output has the number
//! `first + i` in a stream of random words: word `n mod 4` of block `n / 4`, for element number n.
//! It is dropped when its word is less than `p · 2³²`, rounded. So the mask depends on the stream
//! and the numbers alone: a batch has the masks of its parts, and the derivative makes the same
//! mask again from `dy`.
//!
//! The factor `1 / (1 − p)` is rounded once, and so is each product. p = 0 keeps and p = 1 drops
//! everything. What is dropped is +0 also where x is NaN or infinite.

use crate::random::Stream;
use crate::{Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 13;

/// `y` from `x`: dropped with probability `p` or scaled by `1 / (1 − p)`. The elements' numbers go
/// on from `first`; after the last of 2⁶⁴ comes 0.
///
/// # Panics
/// When the lengths differ, or p lies outside `[0, 1]`: the tensor layer establishes both.
pub fn dropout<T: Float>(
    threads: &Threads,
    p: f64,
    (stream, first): (&Stream, u64),
    x: &[T],
    y: &mut [T],
) {
    assert_eq!(x.len(), y.len(), "x and y of one length");
    assert!((0.0..=1.0).contains(&p), "a probability lies within 0 and 1");
    let limit = (p * 2f64.powi(32)).round() as u64;
    let scale = T::from_f64(if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 });
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(y, 1, parts, |at, run| {
        let mut words = [0; 4];
        let mut block = None;
        for (i, (y, &x)) in run.iter_mut().zip(&x[at..]).enumerate() {
            let number = first.wrapping_add((at + i) as u64);
            if block != Some(number / 4) {
                block = Some(number / 4);
                words = stream.u32x4(number / 4);
            }
            let dropped = u64::from(words[(number % 4) as usize]) < limit;
            *y = if dropped { T::ZERO } else { x * scale };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(threads: &Threads, p: f64, first: u64, x: &[f32]) -> Vec<f32> {
        let mut y = vec![f32::NAN; x.len()];
        dropout(threads, p, (&Stream::new(7, "drop", 3), first), x, &mut y);
        y
    }

    #[test]
    fn a_batch_has_the_masks_of_its_parts_also_on_many_threads() {
        let x: Vec<f32> = (0..3 * MIN_PART + 5).map(|i| 1.0 + i as f32).collect();
        let whole = dropped(&Threads::serial(), 0.3, 11, &x);
        assert_eq!(dropped(&Threads::new(3).unwrap(), 0.3, 11, &x), whole);
        for cut in [1, 2, 3, 4, 5, MIN_PART] {
            let rest = dropped(&Threads::serial(), 0.3, 11 + cut as u64, &x[cut..]);
            assert_eq!(rest, whole[cut..], "{cut}");
        }
        let kept = whole.iter().filter(|&&y| y != 0.0).count() as f64 / x.len() as f64;
        assert!((kept - 0.7).abs() < 0.01, "{kept}");
        let scaled = |(y, x): (&f32, &f32)| *y == 0.0 || *y == *x * (1.0 / 0.7) as f32;
        assert!(whole.iter().zip(&x).all(scaled));
    }

    #[test]
    fn the_ends_of_the_probabilities_keep_and_drop_everything() {
        let x = [1.0, -2.0, f32::NAN, f32::INFINITY];
        assert_eq!(dropped(&Threads::serial(), 0.0, u64::MAX - 1, &x)[..2], x[..2]);
        let none = dropped(&Threads::serial(), 1.0, 5, &x);
        assert_eq!(none.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), [0; 4]);
    }
}
