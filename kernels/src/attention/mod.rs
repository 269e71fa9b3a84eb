//! Scaled dot-product attention, and its derivative (Vaswani et al. 2017, "Attention is all you
//! need", eq. 1).
//!
//! For each sample and head, with queries `q [lq, d]`, keys `k [lk, d]` and values `v [lk, d]`:
//!
//! ```text
//! sᵢⱼ = (Σc qᵢc · kⱼc) · 1/√d                      pᵢⱼ = exp(sᵢⱼ − maxⱼ sᵢⱼ) / Σⱼ exp(sᵢⱼ − max)
//! oᵢc = Σⱼ pᵢⱼ · vⱼc
//! dvⱼc = Σᵢ pᵢⱼ · doᵢc      dpᵢⱼ = Σc doᵢc · vⱼc      dsᵢⱼ = pᵢⱼ · (dpᵢⱼ − Σⱼ pᵢⱼ dpᵢⱼ) · 1/√d
//! dqᵢc = Σⱼ dsᵢⱼ · kⱼc      dkⱼc = Σᵢ dsᵢⱼ · qᵢc
//! ```
//!
//! A query may see a key when the key's mask is not 0 and, if attention is causal, when j ≤ i.
//! The maximum and the sums over softmax rows are over what is seen; elsewhere p is +0. Where p is
//! 0, ds is +0. A query that sees nothing has the output 0, and gives no gradient.
//!
//! # Bits
//!
//! Sums over c, over j in o and dq, and over i in dv and dk are chains of fused multiply-adds in
//! index order, those of `matmul`. The sums of softmax rows have the order of
//! `lane_sum`. Causal attention leaves out whole blocks of 16: a chain of query i runs over the
//! keys below `16 · (⌊i/16⌋ + 1)`, one of key j over the queries from `16 · ⌊j/16⌋` on; an unseen
//! pair within them enters as a product with +0. So a sample's bits depend on its own numbers.
//!
//! A NaN or +∞ among the scores that a query sees makes its probabilities NaN. An unseen key or
//! query that is NaN or infinite reaches chains that it enters with +0; padding is finite.

mod cpu;
#[cfg(test)]
mod tests;

use std::mem;

use crate::matmul::MatRef;
use crate::{Float, Strided, Threads};

/// Multiply-adds that are worth a thread of their own.
const WORK_PER_THREAD: usize = 1_000_000;

/// What a query may see.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// Query i sees the keys up to i.
    pub causal: bool,
    /// `[b, lk]`: 0 for a key that no query sees.
    pub mask: Option<&'a [u8]>,
}

/// Where the gradient of one operand goes: element `(l, c)` of head `head` of a sample lies at
/// `offset + l · row + head · d + c` of the sample's part of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Which of the slices.
    pub slice: usize,
    /// Where head 0 begins.
    pub offset: usize,
    /// Elements between neighbouring positions.
    pub row: usize,
}

/// What the derivative is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Saved<'a, T> {
    /// q, k and v, `[b, h, l, d]`.
    pub operands: [Strided<'a, T>; 3],
    /// The softmax from [`attention`], `[b, h, lq, lk]` in row-major order.
    pub probs: &'a [T],
    /// The gradient of the output, `[b, h, lq, d]`.
    pub dout: Strided<'a, T>,
    /// Whether attention was causal.
    pub causal: bool,
}

/// Slices for gradients, in equal parts for the samples, and where in them those of q, k and v
/// go; `None` for one that is not wanted.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Up to three slices; one may hold several gradients.
    pub slices: [&'a mut [T]; 3],
    /// Of q, k and v.
    pub places: [Option<Place>; 3],
}

/// Lengths of the axes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    samples: usize,
    heads: usize,
    queries: usize,
    keys: usize,
    d: usize,
}

impl Sizes {
    /// # Panics
    /// When the operands are not `[b, h, lq, d]`, `[b, h, lk, d]` and `[b, h, lk, d]`.
    fn of<T>([q, k, v]: [Strided<'_, T>; 3]) -> Self {
        let &[samples, heads, queries, d] = q.shape() else { panic!("q is [b, h, lq, d]") };
        let keys = k.shape()[2];
        let wanted = [samples, heads, keys, d];
        assert!(k.shape() == wanted && v.shape() == wanted, "k and v are [b, h, lk, d]");
        Sizes { samples, heads, queries, keys, d }
    }

    /// Probabilities of a sample.
    fn pairs(&self) -> usize {
        self.heads * self.queries * self.keys
    }

    fn parts(&self, threads: &Threads, products: usize) -> usize {
        let work = self.samples.saturating_mul(self.pairs()).saturating_mul(self.d * products);
        threads.parts(work, WORK_PER_THREAD).min(self.samples.max(1))
    }
}

/// The matrix `[l, d]` of one sample and head.
fn head<'a, T>(x: Strided<'a, T>, sample: usize, head: usize) -> MatRef<'a, T> {
    let (shape, strides) = (x.shape(), x.strides());
    // An empty view may lie behind the end of its data.
    let data = if x.numel() == 0 {
        &[]
    } else {
        &x.data()[x.offset() + sample * strides[0] + head * strides[1]..]
    };
    MatRef::new(data, shape[2], shape[3], strides[2], strides[3])
}

/// Attention, and the softmax, which the derivative needs.
///
/// **Shapes**: q `[b, h, lq, d]`, k and v `[b, h, lk, d]` `-> out [b, lq, h, d], probs [b, h, lq,
/// lk]`, both in row-major order.
///
/// # Panics
/// When the lengths do not fit: the tensor layer establishes that they do.
pub fn attention<T: Float>(
    threads: &Threads,
    operands: [Strided<'_, T>; 3],
    seen: Seen<'_>,
    [out, probs]: [&mut [T]; 2],
) {
    let sizes = Sizes::of(operands);
    let Sizes { samples, heads, queries, keys, d } = sizes;
    assert_eq!(out.len(), samples * queries * heads * d, "out is [b, lq, h, d]");
    assert_eq!(probs.len(), samples * sizes.pairs(), "probs is [b, h, lq, lk]");
    assert!(seen.mask.is_none_or(|mask| mask.len() == samples * keys), "the mask is [b, lk]");
    if out.is_empty() {
        // Without elements in a head there is nothing to compare, and nothing to weigh.
        return probs.fill(T::ZERO);
    }
    let (mut out, mut probs) = (out, probs);
    let mut jobs: Vec<_> = (0..samples)
        .map(|_| [cut(&mut out, queries * heads * d), cut(&mut probs, sizes.pairs())])
        .collect();
    let parts = sizes.parts(threads, 2);
    threads.split_mut(&mut jobs, 1, parts, |first, jobs| {
        for (sample, [out, probs]) in (first..).zip(jobs) {
            let mask = seen.mask.map(|mask| &mask[sample * keys..(sample + 1) * keys]);
            for h in 0..heads {
                let [q, k, v] = operands.map(|x| head(x, sample, h));
                let probs = &mut probs[h * queries * keys..(h + 1) * queries * keys];
                let seen = Seen { mask, ..seen };
                cpu::forward(sizes, [q, k, v], seen, probs, (&mut out[h * d..], heads * d));
            }
        }
    });
}

/// The derivative of [`attention`], times the gradient of its output.
///
/// # Panics
/// When the lengths do not fit: the tensor layer establishes that they do.
pub fn attention_vjp<T: Float>(threads: &Threads, saved: Saved<'_, T>, grads: Gradients<'_, T>) {
    let sizes = Sizes::of(saved.operands);
    let Sizes { samples, heads, queries, keys, d } = sizes;
    assert_eq!(saved.probs.len(), samples * sizes.pairs(), "probs is [b, h, lq, lk]");
    assert_eq!(saved.dout.shape(), [samples, heads, queries, d], "dout is [b, h, lq, d]");
    let (mut slices, places) = (grads.slices, grads.places);
    if samples == 0 {
        return;
    }
    let lens = slices.each_ref().map(|slice| slice.len() / samples);
    let mut jobs: Vec<_> = (0..samples)
        .map(|_| {
            let mut lens = lens.iter();
            slices.each_mut().map(|slice| cut(slice, lens.next().copied().unwrap_or(0)))
        })
        .collect();
    let parts = sizes.parts(threads, 4);
    threads.split_mut(&mut jobs, 1, parts, |first, jobs| {
        let mut ds = vec![T::ZERO; queries * keys];
        for (sample, slices) in (first..).zip(jobs) {
            for h in 0..heads {
                let pairs = (sample * heads + h) * queries * keys;
                let one = cpu::Head {
                    sizes,
                    operands: saved.operands.map(|x| head(x, sample, h)),
                    dout: head(saved.dout, sample, h),
                    probs: &saved.probs[pairs..pairs + queries * keys],
                    causal: saved.causal,
                };
                let at = places.map(|place| place.map(|p| Place { offset: p.offset + h * d, ..p }));
                cpu::backward(one, &mut ds, slices, at);
            }
        }
    });
}

/// The first `len` elements of `rest`, which are taken from it.
fn cut<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (first, others) = mem::take(rest).split_at_mut(len);
    *rest = others;
    first
}
