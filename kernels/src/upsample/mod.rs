//! Planes of another size, by the nearest input or by linear interpolation along both axes.
//!
//! Output i of an axis lies at the input's place `p`:
//!
//! | sampling | p |
//! | --- | --- |
//! | nearest | `⌊i · input / output⌋`, exact |
//! | bilinear | `(i + ½) · input / output − ½`, at least 0 |
//! | bilinear, corners aligned | `i · (input − 1) / (output − 1)`; 0 for one output |
//!
//! Bilinear takes the inputs `low = ⌊p⌋` and `low + 1` (or `low` again at the end) with the shares
//! `1 − s` and `s = p − low`; p is computed in f64 and s rounded to the element type. With rows
//! a, b above c, d:
//!
//! ```text
//! y = (1−sy) · ((1−sx) · a + sx · b) + sy · ((1−sx) · c + sx · d)      each step rounded
//! ```
//!
//! Gradients: each input adds up, from +0, what the outputs send to it in row-major order of the
//! outputs, each output to a, b, c, d in this order: `((1−sy) · (1−sx)) · dy` and so on.

use crate::{Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// How an output is made of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// The input at or before its place.
    Nearest,
    /// The four inputs around its place.
    Bilinear {
        /// The outermost outputs lie on the outermost inputs, not the outermost edges on the
        /// outermost edges.
        align_corners: bool,
    },
}

/// Sizes `[height, width]` of the planes; none is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resize {
    /// Of an input plane.
    pub input: [usize; 2],
    /// Of an output plane.
    pub output: [usize; 2],
}

impl Resize {
    fn inputs(&self) -> usize {
        self.input[0] * self.input[1]
    }

    fn outputs(&self) -> usize {
        self.output[0] * self.output[1]
    }

    fn taps<T: Float>(&self, sampling: Sampling) -> [Vec<Tap<T>>; 2] {
        [0, 1].map(|axis| {
            let (input, output) = (self.input[axis], self.output[axis]);
            (0..output).map(|i| Tap::new(sampling, input, output, i)).collect()
        })
    }
}

/// What one output takes along one axis.
#[derive(Clone, Copy)]
struct Tap<T> {
    inputs: [usize; 2],
    shares: [T; 2],
}

impl<T: Float> Tap<T> {
    fn new(sampling: Sampling, input: usize, output: usize, i: usize) -> Self {
        let place = match sampling {
            Sampling::Nearest => {
                // In u128: no product of two lengths is too large for it.
                let low = (i as u128 * input as u128 / output as u128) as usize;
                return Tap { inputs: [low; 2], shares: [T::ONE, T::ZERO] };
            }
            Sampling::Bilinear { align_corners: true } if output == 1 => 0.0,
            Sampling::Bilinear { align_corners: true } => {
                i as f64 * ((input - 1) as f64 / (output - 1) as f64)
            }
            Sampling::Bilinear { align_corners: false } => {
                ((i as f64 + 0.5) * (input as f64 / output as f64) - 0.5).max(0.0)
            }
        };
        let low = (place as usize).min(input - 1);
        let share = T::from_f64(place - low as f64);
        Tap { inputs: [low, (low + 1).min(input - 1)], shares: [T::ONE - share, share] }
    }
}

/// Writes the resized planes of x to y.
///
/// **Shapes** x `[planes, input]`, y `[planes, output]`.
///
/// # Panics
/// When the lengths do not fit.
pub fn upsample<T: Float>(
    threads: &Threads,
    sampling: Sampling,
    resize: &Resize,
    x: &[T],
    y: &mut [T],
) {
    let (inputs, outputs) = (resize.inputs(), resize.outputs());
    assert_eq!(x.len() / inputs * outputs, y.len(), "an output plane for each input plane");
    let [rows, columns] = resize.taps::<T>(sampling);
    let width = resize.input[1];
    threads.split_mut(y, outputs, threads.parts(y.len(), MIN_PART), |first, y| {
        for (y, x) in y.chunks_exact_mut(outputs).zip(x[first * inputs..].chunks_exact(inputs)) {
            for (y, row) in y.chunks_exact_mut(columns.len()).zip(&rows) {
                let [upper, lower] = row.inputs.map(|at| &x[at * width..][..width]);
                for (y, column) in y.iter_mut().zip(&columns) {
                    let [left, right] = column.inputs;
                    *y = match sampling {
                        Sampling::Nearest => upper[left],
                        Sampling::Bilinear { .. } => {
                            let [above, below] = [upper, lower]
                                .map(|x| column.shares[0] * x[left] + column.shares[1] * x[right]);
                            row.shares[0] * above + row.shares[1] * below
                        }
                    };
                }
            }
        }
    });
}

/// Writes the gradient of x for a gradient `dy` of the resized planes.
///
/// # Panics
/// When the lengths do not fit.
pub fn upsample_vjp<T: Float>(
    threads: &Threads,
    sampling: Sampling,
    resize: &Resize,
    dy: &[T],
    dx: &mut [T],
) {
    let (inputs, outputs) = (resize.inputs(), resize.outputs());
    assert_eq!(dx.len() / inputs * outputs, dy.len(), "an output plane for each input plane");
    let [rows, columns] = resize.taps::<T>(sampling);
    let width = resize.input[1];
    threads.split_mut(dx, inputs, threads.parts(dy.len(), MIN_PART), |first, dx| {
        let dy = &dy[first * outputs..];
        for (dx, dy) in dx.chunks_exact_mut(inputs).zip(dy.chunks_exact(outputs)) {
            dx.fill(T::ZERO);
            for (dy, row) in dy.chunks_exact(columns.len()).zip(&rows) {
                for (&dy, column) in dy.iter().zip(&columns) {
                    if sampling == Sampling::Nearest {
                        dx[row.inputs[0] * width + column.inputs[0]] += dy;
                        continue;
                    }
                    for (y, y_share) in row.inputs.into_iter().zip(row.shares) {
                        for (x, x_share) in column.inputs.into_iter().zip(column.shares) {
                            dx[y * width + x] += y_share * x_share * dy;
                        }
                    }
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sampling: Sampling, x: &[f64], output: usize) -> Vec<f64> {
        let mut y = vec![f64::NAN; output];
        let resize = Resize { input: [1, x.len()], output: [1, output] };
        upsample(&Threads::serial(), sampling, &resize, x, &mut y);
        y
    }

    #[test]
    fn places_are_those_of_the_table() {
        let x = [0.0, 1.0, 2.0];
        assert_eq!(row(Sampling::Nearest, &x, 6), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
        assert_eq!(row(Sampling::Nearest, &x, 5), [0.0, 0.0, 1.0, 1.0, 2.0]);
        assert_eq!(row(Sampling::Nearest, &x, 2), [0.0, 1.0]);
        let aligned = Sampling::Bilinear { align_corners: true };
        assert_eq!(row(aligned, &x, 5), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(row(aligned, &x, 1), [0.0]);
        assert_eq!(row(aligned, &[4.0], 3), [4.0; 3]);
        let edges = Sampling::Bilinear { align_corners: false };
        assert_eq!(row(edges, &[0.0, 1.0], 4), [0.0, 0.25, 0.75, 1.0]);
        assert_eq!(row(edges, &x, 3), x);
    }

    #[test]
    fn many_threads_give_the_bits_of_one_and_gradients_are_the_adjoint() {
        let (resize, planes) = (Resize { input: [3, 5], output: [7, 8] }, 4 * MIN_PART / 56);
        let numbers = |n: usize| -> Vec<f64> { (0..n).map(|i| (0.7 * i as f64).sin()).collect() };
        let (x, dy) = (numbers(planes * 15), numbers(planes * 56));
        let many = Threads::new(3).unwrap();
        let bilinear = [true, false].map(|align_corners| Sampling::Bilinear { align_corners });
        for sampling in [Sampling::Nearest].into_iter().chain(bilinear) {
            let run = |threads: &Threads| {
                let (mut y, mut dx) = (vec![f64::NAN; dy.len()], vec![f64::NAN; x.len()]);
                upsample(threads, sampling, &resize, &x, &mut y);
                upsample_vjp(threads, sampling, &resize, &dy, &mut dx);
                (y, dx)
            };
            let (y, dx) = run(&many);
            assert!(run(&Threads::serial()) == (y.clone(), dx.clone()), "{sampling:?}");
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (forward, backward) = (dot(&y, &dy), dot(&x, &dx));
            assert!((forward - backward).abs() < 1e-9 * forward.abs().max(1.0), "{sampling:?}");
        }
    }
}
