//! The one loop over flat memory that every rule runs in.

use super::Update;
use crate::Float;
use crate::simd::simd;

/// Elements that are computed at once, in arrays of their own: the compiler then knows that the
/// results overlap no input, however many buffers a rule has.
const BLOCK: usize = 64;

/// The places of one call's results: elements from `first` on.
pub(super) struct Out<'a, T> {
    pub(super) first: usize,
    pub(super) param: &'a mut [T],
    pub(super) state: Vec<&'a mut [T]>,
}

/// The element's next parameter and state by `next(p, g, state)`, for every element of `out`. The
/// first step shows `start` in place of the state.
///
/// `next` must be an `#[inline(always)]` closure. The rule has `K` buffers; the caller has checked
/// it, and that all lengths fit.
pub(super) fn pass<T: Float, const K: usize>(
    u: &Update<'_, T>,
    out: &mut Out<'_, T>,
    start: T,
    next: impl Fn(T, T, [T; K]) -> (T, [T; K]),
) {
    simd(
        #[inline(always)]
        || blocks(u, out, start, next),
    );
}

#[inline(always)]
fn blocks<T: Float, const K: usize>(
    u: &Update<'_, T>,
    out: &mut Out<'_, T>,
    start: T,
    next: impl Fn(T, T, [T; K]) -> (T, [T; K]),
) {
    let count = T::from_f64(u.mean.count);
    let (limit, scale) = (T::from_f64(u.mean.limit), T::from_f64(u.mean.scale));
    let fresh = [start; BLOCK];
    let Out { first, param, state } = out;
    for at in (0..param.len()).step_by(BLOCK) {
        let from = *first + at;
        let mut tails = [[T::ZERO; BLOCK]; 2];
        let [p_tail, g_tail] = &mut tails;
        let (p, g) = (block(u.param, from, p_tail), block(u.grad_sum, from, g_tail));
        let mut s_tails = [[T::ZERO; BLOCK]; K];
        let mut s = [&fresh; K];
        if u.step > 0 {
            for ((s, tail), live) in s.iter_mut().zip(&mut s_tails).zip(u.state) {
                *s = block(live, from, tail);
            }
        }
        let mut p_out = [T::ZERO; BLOCK];
        let mut s_out = [[T::ZERO; BLOCK]; K];
        for i in 0..BLOCK {
            let mut now = [T::ZERO; K];
            for k in 0..K {
                now[k] = s[k][i];
            }
            let g = limited(g[i] / count, limit) * scale;
            let (next_p, next_s) = next(p[i], g, now);
            p_out[i] = next_p;
            for k in 0..K {
                s_out[k][i] = next_s[k];
            }
        }
        store(param, at, &p_out);
        for (state, s_out) in state.iter_mut().zip(&s_out) {
            store(state, at, s_out);
        }
    }
}

/// `g` within ±`limit`; NaN stays NaN.
#[inline(always)]
fn limited<T: Float>(g: T, limit: T) -> T {
    let g = if g > limit { limit } else { g };
    if g < -limit { -limit } else { g }
}

/// The block from element `at` on; the last one comes in `tail`, with zeros behind its end.
#[inline(always)]
fn block<'a, T: Float>(from: &'a [T], at: usize, tail: &'a mut [T; BLOCK]) -> &'a [T; BLOCK] {
    let rest = &from[at..];
    match rest.first_chunk() {
        Some(block) => block,
        None => {
            tail[..rest.len()].copy_from_slice(rest);
            tail
        }
    }
}

/// A block to element `at` and those behind it, as many as there are.
#[inline(always)]
fn store<T: Float>(to: &mut [T], at: usize, block: &[T; BLOCK]) {
    let rest = &mut to[at..];
    match rest.first_chunk_mut() {
        Some(place) => *place = *block,
        None => rest.copy_from_slice(&block[..rest.len()]),
    }
}

/// The gradient with that of an L2 penalty, where there is one.
#[inline(always)]
pub(super) fn penalised<T: Float>(p: T, g: T, penalty: Option<T>) -> T {
    match penalty {
        Some(penalty) => g + penalty * p,
        None => g,
    }
}

/// A setting in the element type, where it is not 0.
pub(super) fn unless_zero<T: Float>(setting: f64) -> Option<T> {
    (setting != 0.0).then(|| T::from_f64(setting))
}
