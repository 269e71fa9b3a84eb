//! Windows as a user writes them, along one spatial axis or two, and the checks on them.

use kernels::Sliding;

use crate::error::{Error, Result};
use crate::shape::Shape;

/// The window of a pool over `N` spatial axes: its size, and how it moves.
///
/// ```
/// use ringgrad_tensor::Window;
/// let overlapping = Window { stride: [2, 2], padding: [1, 1], ..Window::new([3, 3]) };
/// assert_eq!(overlapping.dilation, [1, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window<const N: usize> {
    /// Places of the window along each axis.
    pub kernel: [usize; N],
    /// Inputs between one output's window and the next one's.
    pub stride: [usize; N],
    /// Places added at both ends of each axis.
    pub padding: [usize; N],
    /// Inputs between neighbouring places of a window.
    pub dilation: [usize; N],
}

impl<const N: usize> Window<N> {
    /// Windows of this size that tile the input: the stride is the size.
    pub const fn new(kernel: [usize; N]) -> Self {
        Window { kernel, stride: kernel, padding: [0; N], dilation: [1; N] }
    }
}

/// The lengths along height and width; one axis alone is the width.
pub(super) fn plane<const N: usize>(lens: [usize; N], height: usize) -> [usize; 2] {
    let mut plane = [height; 2];
    plane[2 - N..].copy_from_slice(&lens);
    plane
}

/// The last `N` axes of a shape `[samples, channels, ..]`. Only the samples may be none.
pub(super) fn spatial<const N: usize>(op: &'static str, shape: &Shape) -> Result<[usize; N]> {
    let refused = |rule| Err(Error::Shape { op, shape: *shape, rule });
    if shape.ndim() != N + 2 {
        return refused(match N {
            1 => "[samples, channels, length] is needed: reshape first",
            _ => "[samples, channels, height, width] is needed: reshape first",
        });
    }
    if shape[1..].contains(&0) {
        return refused("no axis but the samples' may be empty");
    }
    let mut lens = [0; N];
    lens.copy_from_slice(&shape[2..]);
    Ok(lens)
}

/// The window on planes of `x`; `right` is shown beside the shape of `x` when it does not fit.
pub(super) fn sliding<const N: usize>(
    op: &'static str,
    x: &Shape,
    window: Window<N>,
    right: Shape,
) -> Result<Sliding> {
    let lens = spatial::<N>(op, x)?;
    if [window.kernel, window.stride, window.dilation].iter().flatten().any(|&n| n == 0) {
        let rule = "kernel, stride and dilation are at least 1";
        return Err(Error::Shapes { op, left: *x, right, rule });
    }
    let flat = kernels::Window {
        kernel: plane(window.kernel, 1),
        stride: plane(window.stride, 1),
        padding: plane(window.padding, 0),
        dilation: plane(window.dilation, 1),
    };
    let rule = "along each axis dilation · (kernel − 1) + 1 must not exceed the input's length \
                plus twice the padding: pad more, or take a smaller kernel or dilation";
    Sliding::new(plane(lens, 1), flat).ok_or(Error::Shapes { op, left: *x, right, rule })
}

/// [`sliding`] for a pool, whose every window must see an input.
pub(super) fn pooling<const N: usize>(
    op: &'static str,
    x: &Shape,
    window: Window<N>,
) -> Result<Sliding> {
    let right = Shape::new(op, &window.kernel)?;
    let sliding = sliding(op, x, window, right)?;
    let flat = sliding.window();
    let half = |axis| flat.extent(axis).is_some_and(|extent| flat.padding[axis] <= extent / 2);
    if !(half(0) && half(1) && sliding.sees_inputs()) {
        let rule = "the padding is at most half the window, and every window sees an input: pad \
                    less, or take a larger window";
        return Err(Error::Shapes { op, left: *x, right, rule });
    }
    Ok(sliding)
}

/// The shape `[samples, channels, ..]` of `x` with other spatial lengths, the last of `plane`.
pub(super) fn with_plane(op: &'static str, x: &Shape, plane: [usize; 2]) -> Result<Shape> {
    let mut lens = [0; 4];
    lens[..x.ndim()].copy_from_slice(x);
    let spatial = x.ndim() - 2;
    lens[2..x.ndim()].copy_from_slice(&plane[2 - spatial..]);
    Shape::new(op, &lens[..x.ndim()])
}
