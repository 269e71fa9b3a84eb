//! Batch normalization (Ioffe and Szegedy 2015, "Batch normalization"), and its derivative, in the
//! steps between which sums go to the rest of a global batch.
//!
//! For the n elements of a channel, over all samples and planes, and its weight w and bias b:
//!
//! ```text
//! μ = Σ x / n      σ² = Σ (x − μ)² / n      r = 1 / √(σ² + eps)
//! x̂ = (x − μ) · r      y = x̂ · w + b
//! dx = r · w · ((dy − Σ dy / n) − x̂ · Σ (dy · x̂) / n)      dw = Σ dy · x̂      db = Σ dy
//! ```
//!
//! The sums and the numbers of a channel are in f64, whatever x is: so it hardly shows how a batch
//! was cut. A plane's terms have the order of [`lane_sum`](crate::reduce::lane_sum), and planes
//! are added in the order of the samples. μ, r, w and b are rounded to the type of x before they
//! meet its elements.

use crate::channels::{channel_sums, map_planes};
use crate::simd::simd;
use crate::{Float, Threads};

pub use crate::channels::Channels;

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 15;

/// μ and r of each channel.
#[derive(Clone, Copy, Debug)]
pub struct ChannelMoments<'a> {
    /// The means.
    pub mean: &'a [f64],
    /// The factors `1 / √(σ² + eps)`.
    pub rstd: &'a [f64],
}

/// `Σ (x − from)^power` of each channel, for the power 1 or 2.
///
/// **Shapes**: x of `shape`, from `[channels] -> sums [channels]`.
///
/// # Panics
/// When the lengths do not fit: the tensor layer establishes that they do.
pub fn power_sums<T: Float>(
    threads: &Threads,
    (x, shape): (&[T], Channels),
    (from, power): (&[f64], u32),
    sums: &mut [[f64; 1]],
) {
    assert_eq!(x.len(), shape.numel(), "x is [samples, channels, inner]");
    assert!(from.len() == shape.channels && sums.len() == from.len(), "one sum a channel");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(sums, 1, parts, |first, run| {
        simd(
            #[inline(always)]
            || match power {
                1 => channel_sums([x], shape, (first, run), |[_, c], [x]| [x.to_f64() - from[c]]),
                _ => channel_sums([x], shape, (first, run), |[_, c], [x]| {
                    let d = x.to_f64() - from[c];
                    [d * d]
                }),
            },
        );
    });
}

/// `Σ dy` and `Σ dy · x̂` of each channel.
///
/// **Shapes**: x and dy of `shape -> sums [channels, 2]`.
///
/// # Panics
/// When the lengths do not fit.
pub fn vjp_sums<T: Float>(
    threads: &Threads,
    [x, dy]: [&[T]; 2],
    shape: Channels,
    ChannelMoments { mean, rstd }: ChannelMoments,
    sums: &mut [[f64; 2]],
) {
    assert!(x.len() == shape.numel() && dy.len() == x.len(), "x and dy are of `shape`");
    assert!([mean.len(), rstd.len(), sums.len()] == [shape.channels; 3], "one sum a channel");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(sums, 1, parts, |first, run| {
        simd(
            #[inline(always)]
            || {
                channel_sums([x, dy], shape, (first, run), |[_, c], [x, dy]| {
                    let dy = dy.to_f64();
                    [dy, dy * ((x.to_f64() - mean[c]) * rstd[c])]
                });
            },
        );
    });
}

/// `y = (x − μ) · r · w + b`.
///
/// **Shapes**: x of `shape`, weight and bias `[channels] -> y` of `shape`.
///
/// # Panics
/// When the lengths do not fit.
pub fn batch_norm<T: Float>(
    threads: &Threads,
    (x, shape): (&[T], Channels),
    ChannelMoments { mean, rstd }: ChannelMoments,
    [weight, bias]: [Option<&[T]>; 2],
    y: &mut [T],
) {
    assert!(x.len() == shape.numel() && y.len() == x.len(), "x and y are of `shape`");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(y, shape.channels * shape.inner, parts, |first, run| {
        simd(
            #[inline(always)]
            || {
                map_planes([x], shape, (first, run), |[_, c]| {
                    let (m, r) = (T::from_f64(mean[c]), T::from_f64(rstd[c]));
                    let w = weight.map_or(T::ONE, |weight| weight[c]);
                    let b = bias.map_or(T::ZERO, |bias| bias[c]);
                    #[inline(always)]
                    move |[x]: [T; 1]| (x - m) * r * w + b
                });
            },
        );
    });
}

/// The derivative with respect to x; `means` are `Σ dy / n` and `Σ (dy · x̂) / n` of each channel,
/// both 0 where μ and r did not come from x.
///
/// **Shapes**: x and dy of `shape`, weight `[channels]`, means `[channels, 2] -> dx` of `shape`.
///
/// # Panics
/// When the lengths do not fit.
pub fn batch_norm_vjp<T: Float>(
    threads: &Threads,
    ([x, dy], shape): ([&[T]; 2], Channels),
    ChannelMoments { mean, rstd }: ChannelMoments,
    (weight, means): (Option<&[T]>, &[[f64; 2]]),
    dx: &mut [T],
) {
    assert!([x.len(), dy.len(), dx.len()] == [shape.numel(); 3], "x, dy and dx are of `shape`");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(dx, shape.channels * shape.inner, parts, |first, run| {
        simd(
            #[inline(always)]
            || {
                map_planes([x, dy], shape, (first, run), |[_, c]| {
                    let (m, r) = (T::from_f64(mean[c]), T::from_f64(rstd[c]));
                    let w = weight.map_or(T::ONE, |weight| weight[c]);
                    let [across, along] = means[c].map(T::from_f64);
                    #[inline(always)]
                    move |[x, dy]: [T; 2]| r * w * ((dy - across) - (x - m) * r * along)
                });
            },
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(len: usize, phase: f32) -> Vec<f32> {
        (0..len).map(|i| 1.5 * (1.3 * i as f32 + phase).sin() + 0.2).collect()
    }

    /// Sums, squares, the sums of the derivative, y and dx.
    fn run(threads: &Threads, shape: Channels) -> Vec<Vec<f64>> {
        let (x, dy) = (numbers(shape.numel(), 0.1), numbers(shape.numel(), 0.8));
        let mean: Vec<f64> = (0..shape.channels).map(|c| 0.1 * c as f64).collect();
        let rstd: Vec<f64> = (0..shape.channels).map(|c| 1.0 + 0.2 * c as f64).collect();
        let (w, moments) =
            (numbers(shape.channels, 0.3), ChannelMoments { mean: &mean, rstd: &rstd });
        let zeros = vec![0.0; shape.channels];
        let mut sums = vec![[f64::NAN]; shape.channels];
        let mut squares = sums.clone();
        let mut pairs = vec![[f64::NAN; 2]; shape.channels];
        power_sums(threads, (&x, shape), (&zeros, 1), &mut sums);
        power_sums(threads, (&x, shape), (&mean, 2), &mut squares);
        vjp_sums(threads, [&x, &dy], shape, moments, &mut pairs);
        let (mut y, mut dx) = (vec![f32::NAN; x.len()], vec![f32::NAN; x.len()]);
        batch_norm(threads, (&x, shape), moments, [Some(&w), Some(&w)], &mut y);
        batch_norm_vjp(threads, ([&x, &dy], shape), moments, (Some(&w), &pairs), &mut dx);
        let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect();
        vec![sums.concat(), squares.concat(), pairs.concat(), wide(&y), wide(&dx)]
    }

    #[test]
    fn every_step_follows_its_formula() {
        for inner in (1..=17).chain([33]) {
            let shape = Channels { samples: 5, channels: 3, inner };
            let got = run(&Threads::serial(), shape);
            let (x, dy) = (numbers(shape.numel(), 0.1), numbers(shape.numel(), 0.8));
            let w = numbers(3, 0.3);
            let mut want = [[0.0; 4]; 3];
            for (i, (&x, &dy)) in x.iter().zip(&dy).enumerate() {
                let (c, x, dy) = (i / inner % 3, f64::from(x), f64::from(dy));
                let (m, r) = (0.1 * c as f64, 1.0 + 0.2 * c as f64);
                let terms = [x, (x - m) * (x - m), dy, dy * (x - m) * r];
                (0..4).for_each(|k| want[c][k] += terms[k]);
            }
            for c in 0..3 {
                let got = [got[0][c], got[1][c], got[2][2 * c], got[2][2 * c + 1]];
                for (got, want) in got.iter().zip(want[c]) {
                    assert!(
                        (got - want).abs() < 1e-12 * (1.0 + want.abs()),
                        "{inner} {got} {want}"
                    );
                }
            }
            for (i, (&x, &dy)) in x.iter().zip(&dy).enumerate() {
                let (c, x, dy) = (i / inner % 3, f64::from(x), f64::from(dy));
                let (m, r, w) = (0.1 * c as f64, 1.0 + 0.2 * c as f64, f64::from(w[c]));
                let y = (x - m) * r * w + w;
                let dx = r * w * (dy - want[c][2] - (x - m) * r * want[c][3]);
                assert!((got[3][i] - y).abs() < 2e-6 * (1.0 + y.abs()), "{inner} {y}");
                assert!((got[4][i] - dx).abs() < 2e-5 * (1.0 + dx.abs()), "{inner} {dx}");
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let threads = Threads::new(3).unwrap();
        for (samples, channels, inner) in [(2 * MIN_PART / 7, 7, 1), (9, 5, MIN_PART / 9)] {
            let shape = Channels { samples, channels, inner };
            assert_eq!(run(&threads, shape), run(&Threads::serial(), shape));
        }
    }

    #[test]
    fn a_batch_of_nothing_has_the_sums_zero() {
        let shape = Channels { samples: 0, channels: 2, inner: 3 };
        assert_eq!(run(&Threads::serial(), shape)[0], [0.0; 2]);
    }
}
