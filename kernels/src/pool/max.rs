//! The loops of the largest inputs: one for any window, and one for pairs of rows and columns.

use crate::simd::simd;
use crate::{Element, Float, Sliding, Window};

/// Outputs of one vectorised block.
const BLOCK: usize = 16;

/// Whether the windows are the squares of two rows and two columns that tile the plane.
fn is_two_by_two(sliding: &Sliding) -> bool {
    let pairs = Window { kernel: [2, 2], stride: [2, 2], padding: [0, 0], dilation: [1, 1] };
    *sliding.window() == pairs
}

/// Planes of largest inputs and their places; `x` begins with the plane of the first.
pub(super) fn values<T: Float, P: Element>(
    sliding: &Sliding,
    x: &[T],
    (y, places): (&mut [T], &mut [P]),
) {
    if is_two_by_two(sliding) {
        return simd(
            #[inline(always)]
            || pairs(sliding, x, (y, places)),
        );
    }
    let (outputs, [_, width]) = (sliding.outputs(), sliding.output());
    let results = y.chunks_exact_mut(outputs).zip(places.chunks_exact_mut(outputs));
    for ((y, places), x) in results.zip(x.chunks_exact(sliding.inputs())) {
        for (at, (y, place)) in y.iter_mut().zip(places).enumerate() {
            (*y, *place) = largest(sliding, x, [at / width, at % width]);
        }
    }
}

/// The largest input that output `at` sees, and its place.
fn largest<T: Float, P: Element>(sliding: &Sliding, x: &[T], at: [usize; 2]) -> (T, P) {
    let Window { kernel, dilation, .. } = *sliding.window();
    let [(rows, top), (columns, left)] = [0, 1].map(|axis| sliding.seen(axis, at[axis]));
    let width = sliding.input()[1];
    let mut best = (x[top * width + left], rows.start * kernel[1] + columns.start);
    for (i, ky) in rows.enumerate() {
        let row = &x[(top + i * dilation[0]) * width..][..width];
        for (j, kx) in columns.clone().enumerate() {
            let x = row[left + j * dilation[1]];
            if wins(x, best.0) {
                best = (x, ky * kernel[1] + kx);
            }
        }
    }
    (best.0, P::from_f64(best.1 as f64))
}

/// Whether a later `x` takes the place of `best`.
#[inline(always)]
fn wins<T: Float>(x: T, best: T) -> bool {
    (x > best) | (x.is_nan() & !best.is_nan())
}

/// [`largest`] of the squares under two rows. The value and the place are chosen apart, each in
/// registers of its own.
#[inline(always)]
fn pair<T: Float, P: Element>([[a, b], [c, d]]: [[T; 2]; 2]) -> (T, P) {
    let (mut best, mut place) = (a, P::from_f64(0.0));
    for (x, at) in [(b, 1.0), (c, 2.0), (d, 3.0)] {
        let won = wins(x, best);
        best = if won { x } else { best };
        place = if won { P::from_f64(at) } else { place };
    }
    (best, place)
}

/// Rows are often shorter than a block, so a block may go on beyond its row: into results that
/// are written later, since rows are written in order.
#[inline(always)]
fn pairs<T: Float, P: Element>(sliding: &Sliding, x: &[T], (y, places): (&mut [T], &mut [P])) {
    let ([height, width], [rows, columns]) = (sliding.input(), sliding.output());
    for row in 0..y.len() / columns {
        let top = (row / rows * height + row % rows * 2) * width;
        for column in (0..columns).step_by(BLOCK) {
            let (x_at, y_at) = (top + 2 * column, row * columns + column);
            let seen = [x_at, x_at + width].map(|at| x[at..].first_chunk::<{ 2 * BLOCK }>());
            let out = (y[y_at..].first_chunk_mut(), places[y_at..].first_chunk_mut());
            if let ([Some(upper), Some(lower)], (Some(y), Some(places))) = (seen, out) {
                pairs_block(upper, lower, y, places);
                continue;
            }
            for i in column..columns.min(column + BLOCK) {
                let at = top + 2 * i;
                let square = [at, at + width].map(|at| [x[at], x[at + 1]]);
                (y[row * columns + i], places[row * columns + i]) = pair(square);
            }
        }
    }
}

#[inline(always)]
fn pairs_block<T: Float, P: Element>(
    upper: &[T; 2 * BLOCK],
    lower: &[T; 2 * BLOCK],
    y: &mut [T; BLOCK],
    places: &mut [P; BLOCK],
) {
    for i in 0..BLOCK {
        let square = [[upper[2 * i], upper[2 * i + 1]], [lower[2 * i], lower[2 * i + 1]]];
        (y[i], places[i]) = pair(square);
    }
}

/// Planes of gradients; `places` and `dy` begin with the plane of the first.
pub(super) fn gradients<T: Float, P: Element>(
    sliding: &Sliding,
    places: &[P],
    dy: &[T],
    dx: &mut [T],
) {
    if is_two_by_two(sliding) {
        return simd(
            #[inline(always)]
            || pairs_vjp(sliding, places, dy, dx),
        );
    }
    let Window { kernel, stride, padding, dilation } = *sliding.window();
    let (outputs, [_, columns], [_, width]) =
        (sliding.outputs(), sliding.output(), sliding.input());
    let sources = places.chunks_exact(outputs).zip(dy.chunks_exact(outputs));
    for (dx, (places, dy)) in dx.chunks_exact_mut(sliding.inputs()).zip(sources) {
        dx.fill(T::ZERO);
        for (at, (place, &dy)) in places.iter().zip(dy).enumerate() {
            let place = place.to_f64() as usize;
            let row = at / columns * stride[0] + place / kernel[1] * dilation[0] - padding[0];
            let column = at % columns * stride[1] + place % kernel[1] * dilation[1] - padding[1];
            dx[row * width + column] += dy;
        }
    }
}

/// Every input is seen once at most, so it is written and not added to. A block may go on beyond
/// its row as in [`pairs`].
#[inline(always)]
fn pairs_vjp<T: Float, P: Element>(sliding: &Sliding, places: &[P], dy: &[T], dx: &mut [T]) {
    let ([height, width], [rows, columns]) = (sliding.input(), sliding.output());
    for (line, start) in (0..dx.len()).step_by(width).enumerate() {
        let (plane, line) = (line / height, line % height);
        if line >= 2 * rows {
            dx[start..start + width].fill(T::ZERO);
            continue;
        }
        let from = (plane * rows + line / 2) * columns;
        let side = [0, 1].map(|side| P::from_f64((line % 2 * 2 + side) as f64));
        for column in (0..columns).step_by(BLOCK) {
            let (dx_at, at) = (start + 2 * column, from + column);
            let sources = (places[at..].first_chunk(), dy[at..].first_chunk());
            let out = dx[dx_at..].first_chunk_mut();
            if let ((Some(places), Some(dy)), Some(dx)) = (sources, out) {
                pairs_vjp_block(places, dy, side, dx);
                continue;
            }
            for i in 0..BLOCK.min(columns - column) {
                for (j, &side) in side.iter().enumerate() {
                    dx[dx_at + 2 * i + j] = sent(places[at + i], side, dy[at + i]);
                }
            }
        }
        dx[start + 2 * columns..start + width].fill(T::ZERO);
    }
}

#[inline(always)]
fn pairs_vjp_block<T: Float, P: Element>(
    places: &[P; BLOCK],
    dy: &[T; BLOCK],
    side: [P; 2],
    dx: &mut [T; 2 * BLOCK],
) {
    for i in 0..BLOCK {
        dx[2 * i] = sent(places[i], side[0], dy[i]);
        dx[2 * i + 1] = sent(places[i], side[1], dy[i]);
    }
}

/// A sum from +0 of what one output sends to the input at `at`.
#[inline(always)]
fn sent<T: Float, P: Element>(place: P, at: P, dy: T) -> T {
    if place == at { T::ZERO + dy } else { T::ZERO }
}
