//! Group normalization (Wu and He 2018, "Group normalization"), and its derivative.
//!
//! A sample's channels are cut into groups of neighbours; a group's elements, channels and planes
//! together, are normalized as a row of layer normalization, with a weight and a bias for each
//! channel. For a group of n elements:
//!
//! ```text
//! μ = mean x      r = 1 / √(mean (x − μ)² + eps)      x̂ = (x − μ) · r      y = x̂ · w + b
//! g = dy · w      dx = r · ((g − mean g) − x̂ · mean (g · x̂))
//! dw = Σ dy · x̂      db = Σ dy      over samples and planes
//! ```
//!
//! μ and r have the sums of [`crate::layer_norm`]. The means of dx add the planes' sums, in lanes,
//! from channel to channel; dw and db add them from sample to sample. A sample's result does not
//! depend on the samples beside it.

use crate::channels::{Channels, channel_sums, map_planes};
use crate::layer_norm::{Moments, layer_norm};
use crate::simd::simd;
use crate::{Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 15;

/// The normalized groups, and the moments of each.
///
/// **Shapes**: x of `shape`, weight and bias `[channels] -> y` of `shape`, mean and rstd `[samples,
/// groups]`.
///
/// # Panics
/// When the lengths do not fit, or the groups do not divide the channels: the tensor layer
/// establishes both.
pub fn group_norm<T: Float>(
    threads: &Threads,
    (x, shape): (&[T], Channels),
    [weight, bias]: [Option<&[T]>; 2],
    (groups, eps): (usize, f64),
    [y, mean, rstd]: [&mut [T]; 3],
) {
    let len = group_len(shape, groups);
    layer_norm(threads, x, [None, None], (len, eps), [y, mean, rstd]);
    if y.is_empty() || (weight.is_none() && bias.is_none()) {
        return;
    }
    let parts = threads.parts(x.len(), MIN_PART);
    let (mean, rstd) = (&*mean, &*rstd);
    threads.split_mut(y, shape.channels * shape.inner, parts, |first, run| {
        simd(
            #[inline(always)]
            || {
                map_planes([x], shape, (first, run), |[sample, c]| {
                    let group = sample * groups + c * groups / shape.channels;
                    let (m, r) = (mean[group], rstd[group]);
                    let w = weight.map_or(T::ONE, |weight| weight[c]);
                    let b = bias.map_or(T::ZERO, |bias| bias[c]);
                    #[inline(always)]
                    move |[x]: [T; 1]| (x - m) * r * w + b
                });
            },
        );
    });
}

/// The derivative with respect to x.
///
/// **Shapes**: x and dy of `shape`, weight `[channels] -> dx` of `shape`.
///
/// # Panics
/// As [`group_norm`].
pub fn group_norm_vjp<T: Float>(
    threads: &Threads,
    ([x, dy], shape): ([&[T]; 2], Channels),
    (weight, groups): (Option<&[T]>, usize),
    Moments { mean, rstd }: Moments<T>,
    dx: &mut [T],
) {
    let len = group_len(shape, groups);
    assert!([x.len(), dy.len(), dx.len()] == [shape.numel(); 3], "x, dy and dx are of `shape`");
    if dx.is_empty() {
        return;
    }
    let n = T::from_f64(len as f64);
    let per_group = shape.channels / groups;
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(dx, shape.channels * shape.inner, parts, |first, run| {
        simd(
            #[inline(always)]
            || {
                let one = Channels { samples: 1, ..shape };
                let mut sums = vec![[T::ZERO; 2]; shape.channels];
                for (i, out) in run.chunks_exact_mut(shape.channels * shape.inner).enumerate() {
                    let part = (first + i) * out.len()..(first + i + 1) * out.len();
                    let slices = [&x[part.clone()], &dy[part]];
                    let group = |c: usize| (first + i) * groups + c / per_group;
                    channel_sums(slices, one, (0, &mut sums), |[_, c], [x, dy]| {
                        let g = dy * weight.map_or(T::ONE, |weight| weight[c]);
                        [g, g * ((x - mean[group(c)]) * rstd[group(c)])]
                    });
                    for sums in sums.chunks_exact_mut(per_group) {
                        let total =
                            sums.iter().fold([T::ZERO; 2], |[a, b], &[c, d]| [a + c, b + d]);
                        sums.fill(total.map(|total| total / n));
                    }
                    map_planes(slices, one, (0, out), |[_, c]| {
                        let (m, r) = (mean[group(c)], rstd[group(c)]);
                        let w = weight.map_or(T::ONE, |weight| weight[c]);
                        let [across, along] = sums[c];
                        #[inline(always)]
                        move |[x, dy]: [T; 2]| r * ((dy * w - across) - (x - m) * r * along)
                    });
                }
            },
        );
    });
}

/// The derivatives with respect to the bias and to the weight of each channel.
///
/// **Shapes**: x and dy of `shape -> [channels, 2]`.
///
/// # Panics
/// As [`group_norm`].
pub fn group_norm_affine_vjp<T: Float>(
    threads: &Threads,
    ([x, dy], shape): ([&[T]; 2], Channels),
    groups: usize,
    Moments { mean, rstd }: Moments<T>,
    sums: &mut [[T; 2]],
) {
    assert!([x.len(), dy.len()] == [shape.numel(); 2], "x and dy are of `shape`");
    assert_eq!(sums.len(), shape.channels, "one pair a channel");
    let parts = threads.parts(x.len(), MIN_PART);
    threads.split_mut(sums, 1, parts, |first, run| {
        simd(
            #[inline(always)]
            || {
                channel_sums([x, dy], shape, (first, run), |[sample, c], [x, dy]| {
                    let group = sample * groups + c * groups / shape.channels;
                    [dy, dy * ((x - mean[group]) * rstd[group])]
                });
            },
        );
    });
}

/// Elements of a group.
fn group_len(shape: Channels, groups: usize) -> usize {
    assert!(groups > 0 && shape.channels.is_multiple_of(groups), "groups divide the channels");
    shape.channels / groups * shape.inner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(len: usize, phase: f32) -> Vec<f32> {
        (0..len).map(|i| 1.5 * (1.3 * i as f32 + phase).sin() + 0.2).collect()
    }

    /// y, dx and the pairs of db and dw.
    fn run(threads: &Threads, shape: Channels, groups: usize) -> [Vec<f32>; 3] {
        let (x, dy) = (numbers(shape.numel(), 0.1), numbers(shape.numel(), 0.8));
        let (w, b) = (numbers(shape.channels, 1.7), numbers(shape.channels, 2.9));
        let (mut y, mut mean) = (vec![f32::NAN; x.len()], vec![f32::NAN; shape.samples * groups]);
        let (mut dx, mut rstd) = (y.clone(), mean.clone());
        let mut pairs = vec![[f32::NAN; 2]; shape.channels];
        let outputs = [&mut y[..], &mut mean, &mut rstd];
        group_norm(threads, (&x, shape), [Some(&w), Some(&b)], (groups, 1e-5), outputs);
        let (moments, slices) = (Moments { mean: &mean, rstd: &rstd }, ([&x[..], &dy], shape));
        group_norm_vjp(threads, slices, (Some(&w), groups), moments, &mut dx);
        group_norm_affine_vjp(threads, slices, groups, moments, &mut pairs);
        [y, dx, pairs.concat()]
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let threads = Threads::new(3).unwrap();
        for (samples, channels, inner) in [(2 * MIN_PART / 8, 8, 1), (5, 4, MIN_PART / 8)] {
            let shape = Channels { samples, channels, inner };
            assert_eq!(run(&threads, shape, 2), run(&Threads::serial(), shape, 2));
        }
    }

    #[test]
    fn groups_are_normalized_by_the_formula() {
        for inner in (1..=17).chain([33]) {
            let shape = Channels { samples: 3, channels: 6, inner };
            let [y, _, pairs] = run(&Threads::serial(), shape, 2);
            let (x, dy) = (numbers(shape.numel(), 0.1), numbers(shape.numel(), 0.8));
            let (w, b) = (numbers(6, 1.7), numbers(6, 2.9));
            let mut want = [[0.0; 2]; 6];
            for (group, x) in x.chunks(3 * inner).enumerate() {
                let n = x.len() as f64;
                let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
                let var = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
                for (i, &x) in x.iter().enumerate() {
                    let (at, c) = (group * 3 * inner + i, group % 2 * 3 + i / inner);
                    let hat = (f64::from(x) - mean) / (var + 1e-5).sqrt();
                    let y_want = hat * f64::from(w[c]) + f64::from(b[c]);
                    assert!((f64::from(y[at]) - y_want).abs() < 1e-5, "{inner} {at}");
                    want[c][0] += f64::from(dy[at]);
                    want[c][1] += f64::from(dy[at]) * hat;
                }
            }
            for (got, want) in pairs.iter().zip(want.concat()) {
                assert!((f64::from(*got) - want).abs() < 5e-5, "{inner} {got} {want}");
            }
        }
    }
}
