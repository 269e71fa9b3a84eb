//! Sums over a row in 16 lanes: several at once, of expressions of one or more slices.
//!
//! The order is that of [`lane_sum`](crate::reduce::lane_sum): 16 lanes start from +0, lane l
//! takes the terms l, l + 16, l + 32, … in this order, and the lanes are folded in pairs.

use std::array;

use crate::Float;

/// Lanes of a sum.
pub(crate) const LANES: usize = 16;

/// Rows that go through a phase together: their chains do not wait for one another, and their
/// elements stay in the first-level cache from phase to phase.
pub(crate) const PHASE_ROWS: usize = 16;

/// `Σ f(element)` over slices of one length, for each of the N numbers that `f` makes of a place.
/// The slices hold elements of type T; terms and sums are of type U.
#[inline(always)]
pub(crate) fn lane_sums<T: Float, U: Float, const K: usize, const N: usize>(
    slices: [&[T]; K],
    f: impl Fn([T; K]) -> [U; N],
) -> [U; N] {
    let len = slices[0].len();
    let slices = slices.map(|slice| &slice[..len]);
    let mut lanes = [[U::ZERO; LANES]; N];
    let blocks = slices.map(|slice| slice.as_chunks::<LANES>());
    for i in 0..len / LANES {
        let block = blocks.map(|(blocks, _)| &blocks[i]);
        for l in 0..LANES {
            let terms = f(block.map(|block| block[l]));
            for (lanes, term) in lanes.iter_mut().zip(terms) {
                lanes[l] += term;
            }
        }
    }
    for l in 0..len % LANES {
        let terms = f(blocks.map(|(_, rest)| rest[l]));
        for (lanes, term) in lanes.iter_mut().zip(terms) {
            lanes[l] += term;
        }
    }
    lanes.map(fold)
}

/// The lanes added in pairs: l with l + 8, then with l + 4, l + 2 and l + 1.
#[inline(always)]
fn fold<T: Float>(lanes: [T; LANES]) -> T {
    let eight: [T; 8] = array::from_fn(|l| lanes[l] + lanes[l + 8]);
    let four: [T; 4] = array::from_fn(|l| eight[l] + eight[l + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Writes the mean of each row of `len` elements and `1 / √(σ² + eps)`, from two passes:
///
/// ```text
/// μ = x₀ + Σ (xᵢ − x₀) / n      σ² = Σ (xᵢ − μ)² / n
/// ```
///
/// Counting from the first element keeps the mean of a constant row exact, and its variance 0.
/// Rows are not empty; `x` holds those of `mean` and `rstd`, at best [`PHASE_ROWS`].
#[inline(always)]
pub(crate) fn moments<T: Float>(
    x: &[T],
    (len, n): (usize, T),
    eps: T,
    [mean, rstd]: [&mut [T]; 2],
) {
    for (x, mean) in x.chunks_exact(len).zip(&mut *mean) {
        let first = x[0];
        let [sum] = lane_sums(
            [x],
            #[inline(always)]
            |[x]| [x - first],
        );
        *mean = first + sum / n;
    }
    for ((x, &mut m), square) in x.chunks_exact(len).zip(mean).zip(&mut *rstd) {
        [*square] = lane_sums(
            [x],
            #[inline(always)]
            |[x]| [(x - m) * (x - m)],
        );
    }
    for rstd in rstd {
        *rstd = T::ONE / (*rstd / n + eps).sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::lane_sum;

    fn numbers(len: usize, phase: f32) -> Vec<f32> {
        (0..len).map(|i| (0.9 * i as f32 + phase).sin() * (1.0 + (i % 7) as f32)).collect()
    }

    #[test]
    fn several_sums_have_the_bits_of_each_alone() {
        for len in 0..70 {
            let (x, y) = (numbers(len, 0.4), numbers(len, 0.7));
            let products: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
            let sums = lane_sums([&x, &y], |[x, y]| [x, x * y, y]);
            assert_eq!(sums, [lane_sum(&x), lane_sum(&products), lane_sum(&y)], "{len}");
            let [wide] = lane_sums([&x], |[x]| [f64::from(x)]);
            let exact: f64 = x.iter().map(|&x| f64::from(x)).sum();
            assert!((wide - exact).abs() < 1e-13 * (1.0 + exact.abs()), "{len}");
        }
    }

    fn moments_of(x: &[f32], eps: f32) -> [f32; 2] {
        let (mut mean, mut rstd) = ([f32::NAN], [f32::NAN]);
        moments(x, (x.len(), x.len() as f32), eps, [&mut mean, &mut rstd]);
        [mean[0], rstd[0]]
    }

    #[test]
    fn a_constant_row_has_its_value_as_mean_and_no_variance() {
        for len in 1..40 {
            assert_eq!(moments_of(&vec![0.1; len], 0.25), [0.1, 2.0]);
            assert_eq!(moments_of(&vec![1e30; len], 0.25), [1e30, 2.0]);
        }
    }

    #[test]
    fn moments_agree_with_their_formula_also_far_from_zero() {
        for offset in [0.0, 1e4] {
            let x: Vec<f32> = numbers(45, 0.2).iter().map(|x| x + offset).collect();
            let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / 45.0;
            let var = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / 45.0;
            let [m, r] = moments_of(&x, 1e-5).map(f64::from);
            assert!((m - mean).abs() <= 2e-7 * (1.0 + mean.abs()), "{m} {mean}");
            assert!((r * (var + 1e-5).sqrt() - 1.0).abs() < 1e-6, "{r}");
        }
    }
}
