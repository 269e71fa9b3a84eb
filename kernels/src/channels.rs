//! Tensors of channels, `[samples, channels, inner]`: sums by channel, and elementwise functions
//! that differ from channel to channel.

use crate::Float;
use crate::lanes::lane_sums;

/// The lengths of a row-major tensor of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    /// Length of axis 0.
    pub samples: usize,
    /// Length of axis 1.
    pub channels: usize,
    /// Elements of the axes behind, multiplied.
    pub inner: usize,
}

impl Channels {
    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.samples * self.channels * self.inner
    }

    /// Where the plane of a channel of a sample starts.
    fn plane(&self, sample: usize, channel: usize) -> usize {
        (sample * self.channels + channel) * self.inner
    }
}

/// `Σ f(element)` over samples and planes, for the channels from number `first` on. The terms of a
/// plane are added in lanes, the planes in the order of the samples, from +0.
#[inline(always)]
pub(crate) fn channel_sums<T: Float, U: Float, const K: usize, const N: usize>(
    slices: [&[T]; K],
    shape: Channels,
    (first, sums): (usize, &mut [[U; N]]),
    f: impl Fn([usize; 2], [T; K]) -> [U; N],
) {
    sums.fill([U::ZERO; N]);
    for sample in 0..shape.samples {
        for (channel, sums) in (first..).zip(&mut *sums) {
            let start = shape.plane(sample, channel);
            let place = [sample, channel];
            let terms = if shape.inner == 1 {
                f(place, slices.map(|slice| slice[start]))
            } else {
                let planes = slices.map(|slice| &slice[start..start + shape.inner]);
                lane_sums(
                    planes,
                    #[inline(always)]
                    |x| f(place, x),
                )
            };
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += term;
            }
        }
    }
}

/// `out = f(element)` for the samples from number `first` on, where `plane` gives the f of each
/// sample and channel.
#[inline(always)]
pub(crate) fn map_planes<T: Float, const K: usize, F: Fn([T; K]) -> T>(
    slices: [&[T]; K],
    shape: Channels,
    (first, out): (usize, &mut [T]),
    plane: impl Fn([usize; 2]) -> F,
) {
    let planes = out.chunks_exact_mut(shape.inner).enumerate();
    for (i, out) in planes {
        let (sample, channel) = (first + i / shape.channels, i % shape.channels);
        let start = shape.plane(sample, channel);
        let f = plane([sample, channel]);
        let slices = slices.map(|slice| &slice[start..start + out.len()]);
        for (i, out) in out.iter_mut().enumerate() {
            *out = f(slices.map(|slice| slice[i]));
        }
    }
}
