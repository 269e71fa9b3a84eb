//! The cross-entropy of rows of logits with a weight for each class, and its derivative: the
//! general form of which [`cross_entropy`](crate::cross_entropy) is the case of one class.
//!
//! With m the largest logit of row i and q its weights:
//!
//! ```text
//! s = Σⱼ exp(xᵢⱼ − m)   pᵢⱼ = exp(xᵢⱼ − m) / s   lossᵢ = Σⱼ qᵢⱼ · (ln s − (xᵢⱼ − m))
//! dxᵢⱼ = (pᵢⱼ · Σⱼ qᵢⱼ − qᵢⱼ) · dyᵢ
//! ```
//!
//! A weight of 0 leaves its term out, whatever the logit is: a class with the logit −∞ may have
//! it. A row of zeros has the loss +0 and the derivative +0, whatever its logits are. All sums
//! over classes have the order of [`lane_sum`], so a row has the same bits in every batch.

use crate::reduce::lane_sum;
use crate::simd::simd;
use crate::{Float, Threads};

/// Logits below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// How one class a row becomes weights of all classes.
#[derive(Clone, Copy, Debug)]
pub struct SoftTargets<'a, T> {
    /// A factor for each class; 1 when there are none.
    pub class_weights: Option<&'a [T]>,
    /// The target of rows that do not count.
    pub ignore_index: Option<i64>,
    /// The share ε of the weight that is spread over all classes evenly (Szegedy et al. 2016,
    /// "Rethinking the Inception architecture for computer vision", section 7).
    pub label_smoothing: T,
}

/// The weights `qⱼ = wⱼ · ((1 − ε) · [j = t] + ε / classes)` of each row; 0 of ignored ones.
///
/// **Shapes**: targets `[rows]` `-> q [rows, classes]`.
///
/// # Panics
/// Lengths that do not fit, or a target that is neither a class nor ignored: the tensor layer has
/// checked both.
pub fn soft_targets<T: Float>(
    targets: &[i64],
    classes: usize,
    settings: &SoftTargets<'_, T>,
    q: &mut [T],
) {
    assert_eq!(q.len(), targets.len() * classes, "q is [rows, classes]");
    assert!(settings.class_weights.is_none_or(|w| w.len() == classes), "a weight a class");
    let everywhere = settings.label_smoothing / T::from_f64(classes as f64);
    let target_share = T::ONE - settings.label_smoothing;
    let weight = |class: usize| settings.class_weights.map_or(T::ONE, |w| w[class]);
    for (row, &target) in targets.iter().enumerate() {
        let q = &mut q[row * classes..(row + 1) * classes];
        q.fill(T::ZERO);
        if settings.ignore_index == Some(target) {
            continue;
        }
        if settings.label_smoothing != T::ZERO {
            for (class, q) in q.iter_mut().enumerate() {
                *q = everywhere * weight(class);
            }
        }
        let class = target as usize;
        q[class] += target_share * weight(class);
    }
}

/// The loss of each row, and the softmax, which the derivative needs.
///
/// **Shapes**: logits and q `[rows, classes] -> losses [rows], probs [rows, classes]`.
///
/// # Panics
/// When the lengths do not fit.
pub fn soft_cross_entropy<T: Float>(
    threads: &Threads,
    [logits, q]: [&[T]; 2],
    classes: usize,
    [losses, probs]: [&mut [T]; 2],
) {
    let rows = losses.len();
    assert_eq!((logits.len(), q.len()), (rows * classes, rows * classes), "[rows, classes]");
    assert_eq!(probs.len(), logits.len(), "one softmax");
    if logits.is_empty() {
        return losses.fill(T::ZERO);
    }
    let per_part = rows.div_ceil(threads.parts(logits.len(), MIN_PART));
    let outputs = losses.chunks_mut(per_part).zip(probs.chunks_mut(per_part * classes));
    let mut jobs: Vec<_> = outputs.collect();
    let parts = jobs.len();
    threads.split_mut(&mut jobs, 1, parts, |first, jobs| {
        for (part, (losses, probs)) in (first..).zip(jobs) {
            let at = part * per_part * classes;
            let (x, q) = (logits[at..].chunks(classes), q[at..].chunks(classes));
            let outputs = losses.iter_mut().zip(probs.chunks_mut(classes));
            for ((loss, p), (x, q)) in outputs.zip(x.zip(q)) {
                simd(
                    #[inline(always)]
                    || *loss = row(x, q, p),
                );
            }
        }
    });
}

/// The loss of one row; leaves its softmax in `p`.
#[inline(always)]
fn row<T: Float>(x: &[T], q: &[T], p: &mut [T]) -> T {
    // Any of them when one is NaN: then every difference that is taken ends as NaN.
    let max = x.iter().fold(x[0], |max, &x| if x > max { x } else { max });
    for (p, &x) in p.iter_mut().zip(x) {
        *p = (x - max).exp();
    }
    let sum = lane_sum(p);
    let log = sum.ln();
    for ((p, &x), &q) in p.iter_mut().zip(x).zip(q) {
        *p = if q == T::ZERO { T::ZERO } else { q * (log - (x - max)) };
    }
    let loss = lane_sum(p);
    for (p, &x) in p.iter_mut().zip(x) {
        *p = (x - max).exp() / sum;
    }
    loss
}

/// The derivative of `Σ dyᵢ · lossᵢ` with respect to the logits, from the softmax.
///
/// **Shapes**: probs and q `[rows, classes]`, dy `[rows]` `-> dlogits [rows, classes]`.
///
/// # Panics
/// When the lengths do not fit.
pub fn soft_cross_entropy_vjp<T: Float>(
    threads: &Threads,
    [probs, q]: [&[T]; 2],
    classes: usize,
    dy: &[T],
    dlogits: &mut [T],
) {
    assert_eq!((probs.len(), q.len()), (dlogits.len(), dlogits.len()), "[rows, classes]");
    assert_eq!(dy.len() * classes, dlogits.len(), "one upstream gradient a row");
    let parts = threads.parts(dlogits.len(), MIN_PART);
    threads.split_mut(dlogits, classes.max(1), parts, |first, dlogits| {
        for (i, dx) in (first..).zip(dlogits.chunks_mut(classes)) {
            let place = i * classes..(i + 1) * classes;
            let (p, q, dy) = (&probs[place.clone()], &q[place], dy[i]);
            simd(
                #[inline(always)]
                || {
                    let whole = lane_sum(q);
                    for ((dx, &p), &q) in dx.iter_mut().zip(p).zip(q) {
                        *dx = if whole == T::ZERO { T::ZERO } else { (p * whole - q) * dy };
                    }
                },
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cross_entropy::cross_entropy;

    fn numbers(len: usize) -> Vec<f64> {
        (0..len).map(|i| 4.0 * (1.3 * i as f64 + 0.4).sin()).collect()
    }

    fn forward(threads: &Threads, x: &[f64], q: &[f64], classes: usize) -> [Vec<f64>; 2] {
        let (mut losses, mut probs) = (vec![f64::NAN; x.len() / classes], vec![f64::NAN; x.len()]);
        soft_cross_entropy(threads, [x, q], classes, [&mut losses, &mut probs]);
        [losses, probs]
    }

    fn hard(label_smoothing: f64) -> SoftTargets<'static, f64> {
        SoftTargets { class_weights: None, ignore_index: Some(-100), label_smoothing }
    }

    #[test]
    fn one_class_a_row_is_the_plain_cross_entropy_and_an_ignored_row_is_nothing() {
        for classes in 1..=33 {
            let (x, t) = (numbers(3 * classes), [0, -100, classes as i64 - 1]);
            let mut q = vec![f64::NAN; x.len()];
            soft_targets(&t, classes, &hard(0.0), &mut q);
            let [losses, probs] = forward(&Threads::serial(), &x, &q, classes);
            let (mut plain, mut softmax) = (vec![0.0; 3], vec![0.0; x.len()]);
            let t = [0, 0, classes as i64 - 1];
            cross_entropy(&Threads::serial(), &x, classes, &t, [&mut plain, &mut softmax]);
            assert_eq!((losses[0], losses[1], losses[2]), (plain[0], 0.0, plain[2]), "{classes}");
            assert_eq!(probs, softmax);
            let mut dx = vec![f64::NAN; x.len()];
            let dy = [2.0, f64::INFINITY, 1.0];
            soft_cross_entropy_vjp(&Threads::serial(), [&probs, &q], classes, &dy, &mut dx);
            assert_eq!(dx[0], (softmax[0] - 1.0) * 2.0);
            assert!(dx[classes..2 * classes].iter().all(|dx| dx.to_bits() == 0));
        }
    }

    #[test]
    fn smoothing_and_class_weights_share_the_weight_as_written() {
        let weights = [2.0, 0.5, 1.0, 0.5];
        let settings = SoftTargets { class_weights: Some(&weights), ..hard(0.25) };
        let mut q = [f64::NAN; 4];
        soft_targets(&[2], 4, &settings, &mut q);
        assert_eq!(q, [0.125, 0.03125, 0.8125, 0.03125]);
    }

    #[test]
    fn a_masked_class_without_weight_is_left_out_and_one_with_weight_is_infinite() {
        let x = [1.0, f64::NEG_INFINITY, 1.0];
        let [losses, _] = forward(&Threads::serial(), &x, &[0.5, 0.0, 0.5], 3);
        assert_eq!(losses, [2f64.ln()]);
        let [losses, _] = forward(&Threads::serial(), &x, &[0.5, 0.5, 0.0], 3);
        assert_eq!(losses, [f64::INFINITY]);
        let [losses, _] = forward(&Threads::serial(), &[f64::NAN; 3], &[0.0; 3], 3);
        assert_eq!(losses[0].to_bits(), 0);
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let classes = 7;
        let rows = 2 * MIN_PART / classes + 5;
        let (x, q) = (numbers(rows * classes), numbers(rows * classes + 1)[1..].to_vec());
        let [losses, probs] = forward(&Threads::serial(), &x, &q, classes);
        let many = Threads::new(3).unwrap();
        assert_eq!(forward(&many, &x, &q, classes), [losses.clone(), probs.clone()]);
        let backward = |threads: &Threads| {
            let mut dx = vec![f64::NAN; x.len()];
            soft_cross_entropy_vjp(threads, [&probs, &q], classes, &losses, &mut dx);
            dx
        };
        assert!(backward(&many) == backward(&Threads::serial()));
    }
}
