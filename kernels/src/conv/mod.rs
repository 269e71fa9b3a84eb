//! Convolutions of planes (cross-correlations, as in PyTorch), and their two gradients.
//!
//! With x `[batch, groups · inputs, height, width]`, a weight `[groups · outputs, inputs, kernel
//! height, kernel width]` and y of the size that [`Sliding`] tells, group g's channels alone:
//!
//! ```text
//! y[n, o, oy, ox] = Σ_(c, ky, kx) w[o, c, ky, kx] · x[n, c, iy, ix]
//! iy = oy · stride + ky · dilation − padding, ix alike
//! ```
//!
//! The three are derivatives of one form, Σ w · x · y over the terms above, so that each is also
//! the gradient of the two others: [`conv_input`] is the transposed convolution.
//!
//! # Bits
//!
//! * [`conv`]: one chain of fused multiply-adds from +0, over (c, ky, kx) in row-major order;
//!   then the bias is added, in one rounding. Padding takes part as +0: where the weight is
//!   infinite, the border is NaN.
//! * [`conv_input`]: for each place (ky, kx), a chain from +0 over the output channels; these are
//!   added from +0 in row-major order of the places that have an output; then the bias.
//! * [`conv_weight`]: one chain from +0 over (n, oy, ox) in row-major order.
//! * [`channel_sums`], the gradient of the bias: the [`lane_sum`] of each
//!   plane, added from +0 in the order of the samples.
//!
//! So a sample's result does not depend on the samples beside it, and nothing depends on threads.
//!
//! # How it is fast
//!
//! The inputs that a block of outputs sees are unfolded into a matrix that stays in the cache, one
//! row for each (c, ky, kx), and multiplied by the project's own product, which is a chain along
//! k. A kernel of one place without padding or stride needs no unfolding. Work is split along
//! samples and groups, and along the weight's elements in [`conv_weight`].

mod cpu;
mod patches;
#[cfg(test)]
mod tests;

use crate::reduce::lane_sum;
use crate::simd::simd;
use crate::{Float, Sliding, Threads};

/// Multiply-adds that are worth a thread of their own.
const WORK_PER_THREAD: usize = 1_000_000;

/// Elements of an unfolded matrix above which it is cut into blocks: it shall stay in a
/// second-level cache.
const BLOCK: usize = 1 << 17;

/// The sizes of a convolution. None but `batch` may be 0: the tensor layer ensures it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conv {
    /// Samples.
    pub batch: usize,
    /// Groups of channels that do not see each other.
    pub groups: usize,
    /// Input channels of one group.
    pub inputs: usize,
    /// Output channels of one group.
    pub outputs: usize,
    /// The kernel on the planes.
    pub sliding: Sliding,
}

impl Conv {
    /// Rows of the unfolded matrix of one group.
    fn taps(&self) -> usize {
        self.inputs * self.sliding.window().places()
    }

    /// Elements of the input of one sample and group.
    fn x_unit(&self) -> usize {
        self.inputs * self.sliding.inputs()
    }

    /// Elements of the output of one sample and group.
    fn y_unit(&self) -> usize {
        self.outputs * self.sliding.outputs()
    }

    /// Elements of the weight of one group.
    fn w_unit(&self) -> usize {
        self.outputs * self.taps()
    }

    /// Elements of x, w and y.
    fn lens(&self) -> [usize; 3] {
        let units = self.batch * self.groups;
        [units * self.x_unit(), self.groups * self.w_unit(), units * self.y_unit()]
    }

    /// Output rows whose unfolded inputs make one block.
    fn block_rows(&self) -> usize {
        let [height, width] = self.sliding.output();
        (BLOCK / self.taps().saturating_mul(width)).clamp(1, height)
    }

    /// Input channels whose unfolded planes make one block.
    fn block_inputs(&self) -> usize {
        let channel = self.sliding.window().places().saturating_mul(self.sliding.outputs());
        (BLOCK / channel).clamp(1, self.inputs)
    }

    /// Elements of a padded plane.
    fn plane(&self) -> usize {
        let [height, width] = self.sliding.padded();
        height.saturating_mul(width)
    }

    /// Elements of scratch that one thread needs.
    fn piece(&self) -> usize {
        let [_, width] = self.sliding.output();
        let places = self.sliding.window().places();
        let rows = self.taps().saturating_mul(width).saturating_mul(self.block_rows());
        let channels = (self.block_inputs() * places).saturating_mul(self.sliding.outputs());
        self.plane().saturating_add(rows.max(channels))
    }

    /// Elements of scratch that the kernels of this module need; `usize::MAX` when they are more
    /// than can be counted.
    pub fn scratch_len(&self, threads: &Threads) -> usize {
        let [_, weight, _] = self.lens();
        self.piece().saturating_mul(threads.count()).saturating_add(weight)
    }

    /// Into how many parts to cut `units` of the work.
    fn parts(&self, threads: &Threads, units: usize) -> usize {
        let work = self.taps().saturating_mul(self.y_unit()).saturating_mul(self.batch);
        threads.parts(work.saturating_mul(self.groups), WORK_PER_THREAD).min(units).max(1)
    }
}

/// Writes the convolution of x by w, plus a bias for each output channel, to y.
///
/// `buffers` are scratch of [`Conv::scratch_len`] and y.
///
/// # Panics
/// When a length is not that of its shape.
pub fn conv<T: Float>(
    threads: &Threads,
    conv: &Conv,
    [x, w]: [&[T]; 2],
    bias: Option<&[T]>,
    [scratch, y]: [&mut [T]; 2],
) {
    assert_eq!([x.len(), w.len(), y.len()], conv.lens(), "x, w and y of their shapes");
    assert!(bias.is_none_or(|b| b.len() == conv.groups * conv.outputs), "one bias a channel");
    assert!(scratch.len() >= conv.scratch_len(threads), "room for scratch");
    let parts = conv.parts(threads, conv.batch * conv.groups);
    let inner = if parts > 1 { &Threads::serial() } else { threads };
    threads.split_mut_with(y, (conv.y_unit(), parts), scratch, |first, run, scratch| {
        cpu::outputs(inner, conv, ([x, w], bias), (first, run), scratch);
    });
}

/// Writes the gradient of the input for a gradient y of the output, plus a bias for each input
/// channel, to x: the transposed convolution of y by w.
///
/// `buffers` are scratch of [`Conv::scratch_len`] and x.
///
/// # Panics
/// When a length is not that of its shape.
pub fn conv_input<T: Float>(
    threads: &Threads,
    conv: &Conv,
    [w, y]: [&[T]; 2],
    bias: Option<&[T]>,
    [scratch, x]: [&mut [T]; 2],
) {
    assert_eq!([x.len(), w.len(), y.len()], conv.lens(), "x, w and y of their shapes");
    assert!(bias.is_none_or(|b| b.len() == conv.groups * conv.inputs), "one bias a channel");
    assert!(scratch.len() >= conv.scratch_len(threads), "room for scratch");
    let parts = conv.parts(threads, conv.batch * conv.groups);
    let inner = if parts > 1 { &Threads::serial() } else { threads };
    threads.split_mut_with(x, (conv.x_unit(), parts), scratch, |first, run, scratch| {
        cpu::inputs(inner, conv, ([w, y], bias), (first, run), scratch);
    });
}

/// Writes the gradient of the weight for an input x and a gradient y of the output to w.
///
/// `buffers` are scratch of [`Conv::scratch_len`] and w.
///
/// # Panics
/// When a length is not that of its shape.
pub fn conv_weight<T: Float>(
    threads: &Threads,
    conv: &Conv,
    [x, y]: [&[T]; 2],
    [scratch, w]: [&mut [T]; 2],
) {
    assert_eq!([x.len(), w.len(), y.len()], conv.lens(), "x, w and y of their shapes");
    assert!(scratch.len() >= conv.scratch_len(threads), "room for scratch");
    if conv.batch == 0 {
        w.fill(T::ZERO);
        return;
    }
    // Turned, so that the elements of a part have no gaps: [group, tap, output channel].
    let (turned, scratch) = scratch.split_at_mut(w.len());
    let parts = conv.parts(threads, conv.groups * conv.taps());
    let inner = if parts > 1 { &Threads::serial() } else { threads };
    threads.split_mut_with(turned, (conv.outputs, parts), scratch, |first, run, scratch| {
        cpu::weights(inner, conv, [x, y], (first, run), scratch);
    });
    let (taps, outputs) = (conv.taps(), conv.outputs);
    for (w, turned) in w.chunks_exact_mut(conv.w_unit()).zip(turned.chunks_exact(conv.w_unit())) {
        for (o, row) in w.chunks_exact_mut(taps).enumerate() {
            for (w, column) in row.iter_mut().zip(turned.chunks_exact(outputs)) {
                *w = column[o];
            }
        }
    }
}

/// Writes the sum of each channel of x `[batch, channels, plane]` to `out`.
///
/// # Panics
/// When the lengths do not fit.
pub fn channel_sums<T: Float>(x: &[T], [batch, channels, plane]: [usize; 3], out: &mut [T]) {
    assert_eq!([x.len(), out.len()], [batch * channels * plane, channels], "one sum a channel");
    out.fill(T::ZERO);
    if plane == 0 {
        return;
    }
    for sample in x.chunks_exact((channels * plane).max(1)) {
        simd(
            #[inline(always)]
            || {
                for (sum, plane) in out.iter_mut().zip(sample.chunks_exact(plane)) {
                    *sum += lane_sum(plane);
                }
            },
        );
    }
}
