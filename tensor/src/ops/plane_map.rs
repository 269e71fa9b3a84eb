//! Linear maps from planes to planes of another size: means over windows or regions, and
//! upsampling. Each comes with its adjoint, which is its gradient.

use std::sync::Arc;

use kernels::DType;
use kernels::pool::{Regions, mean_pool, mean_pool_vjp};
use kernels::upsample::{Resize, Sampling, upsample, upsample_vjp};

use super::cast::in_f32;
use super::window::{Window, pooling, spatial, with_plane};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

/// A linear map of fixed shapes, plane by plane.
#[derive(Clone, Debug)]
pub struct PlaneMap {
    op: &'static str,
    kind: Kind,
    /// Of the input and of the output.
    shapes: [Shape; 2],
}

#[derive(Clone, Debug)]
enum Kind {
    Mean(Arc<Regions>),
    Upsample(Sampling, Resize),
}

impl PlaneMap {
    /// The means of the windows on `x` `[samples, channels, ..]`; see [`Tensor::avg_pool2d`].
    ///
    /// # Errors
    /// A window that does not fit, or one with dilation.
    pub fn avg_pool<const N: usize>(
        op: &'static str,
        x: &Shape,
        window: Window<N>,
        count_padding: bool,
    ) -> Result<Self> {
        let sliding = pooling(op, x, window)?;
        if window.dilation != [1; N] {
            let (left, right) = (*x, Shape::new(op, &window.dilation)?);
            let rule = "means have no dilation: leave it at 1";
            return Err(Error::Shapes { op, left, right, rule });
        }
        let kind = Kind::Mean(Arc::new(Regions::sliding(&sliding, count_padding)));
        Ok(PlaneMap { op, kind, shapes: [*x, with_plane(op, x, sliding.output())?] })
    }

    /// The means of `output` regions along each axis; see [`Tensor::adaptive_avg_pool2d`].
    ///
    /// # Errors
    /// An `x` that is not `[samples, channels, height, width]`, or an output of 0.
    pub fn adaptive_avg_pool2d(x: &Shape, output: [usize; 2]) -> Result<Self> {
        let op = "adaptive_avg_pool2d";
        let shapes = resized(op, x, output)?;
        let kind = Kind::Mean(Arc::new(Regions::adaptive(spatial(op, x)?, output)));
        Ok(PlaneMap { op, kind, shapes })
    }

    /// The planes in another size; see [`Tensor::upsample_nearest2d`].
    ///
    /// # Errors
    /// An `x` that is not `[samples, channels, height, width]`, or an output of 0.
    pub fn upsample2d(x: &Shape, output: [usize; 2], sampling: Sampling) -> Result<Self> {
        let op = match sampling {
            Sampling::Nearest => "upsample_nearest2d",
            Sampling::Bilinear { .. } => "upsample_bilinear2d",
        };
        let shapes = resized(op, x, output)?;
        let kind = Kind::Upsample(sampling, Resize { input: spatial(op, x)?, output });
        Ok(PlaneMap { op, kind, shapes })
    }

    /// The operation's name.
    pub fn name(&self) -> &'static str {
        self.op
    }

    /// The output for `x`.
    ///
    /// # Errors
    /// An operand of another shape than the map's, integers, or no memory.
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        self.mapped(x, false)
    }

    /// The gradient of the input for a gradient `dy` of the output.
    ///
    /// # Errors
    /// As [`PlaneMap::apply`].
    pub fn adjoint(&self, dy: &Tensor) -> Result<Tensor> {
        self.mapped(dy, true)
    }

    fn mapped(&self, x: &Tensor, adjoint: bool) -> Result<Tensor> {
        let (op, side) = (self.op, usize::from(adjoint));
        if self.shapes[side] != *x.shape() {
            let (left, right) = (self.shapes[side], *x.shape());
            let rule = "the operand must have the shape that the map was made for";
            return Err(Error::Shapes { op, left, right, rule });
        }
        match x.dtype() {
            DType::F32 => self.typed::<f32>(&x.contiguous_for(op)?, adjoint),
            DType::F64 => self.typed::<f64>(&x.contiguous_for(op)?, adjoint),
            DType::F16 | DType::BF16 => in_f32([x], |[x]| self.mapped(x, adjoint)),
            found => Err(Error::DType { op, found, wanted: "floats" }),
        }
    }

    fn typed<T: Differentiable>(&self, x: &Tensor, adjoint: bool) -> Result<Tensor> {
        let (xs, threads) = (x.typed::<T>(self.op)?, x.device().threads());
        let shape = self.shapes[usize::from(!adjoint)];
        Tensor::computed(self.op, x.device(), shape, |out| match (&self.kind, adjoint) {
            (Kind::Mean(regions), false) => mean_pool(threads, regions, xs, out),
            (Kind::Mean(regions), true) => mean_pool_vjp(threads, regions, xs, out),
            (Kind::Upsample(sampling, resize), false) => {
                upsample(threads, *sampling, resize, xs, out);
            }
            (Kind::Upsample(sampling, resize), true) => {
                upsample_vjp(threads, *sampling, resize, xs, out);
            }
        })
    }
}

/// `x` and the shape with another plane. Made before any loop over the lengths: a shape is an
/// error where its elements could not be counted.
fn resized(op: &'static str, x: &Shape, output: [usize; 2]) -> Result<[Shape; 2]> {
    spatial::<2>(op, x)?;
    let y = with_plane(op, x, output)?;
    if output.contains(&0) {
        let rule = "the output has at least one row and one column";
        return Err(Error::Shapes { op, left: *x, right: y, rule });
    }
    Ok([*x, y])
}

impl Tensor {
    /// The mean of each window of `[samples, channels, length]`: the sum of the inputs that exist,
    /// divided by the places of the window with `count_padding`, else by those inputs' number.
    ///
    /// # Errors
    /// A window that does not fit, padding of more than half a window, dilation, integers, or no
    /// memory.
    pub fn avg_pool1d(&self, window: Window<1>, count_padding: bool) -> Result<Tensor> {
        PlaneMap::avg_pool("avg_pool1d", self.shape(), window, count_padding)?.apply(self)
    }

    /// [`Tensor::avg_pool1d`] over two axes: `[samples, channels, height, width]`.
    ///
    /// # Errors
    /// As there.
    pub fn avg_pool2d(&self, window: Window<2>, count_padding: bool) -> Result<Tensor> {
        PlaneMap::avg_pool("avg_pool2d", self.shape(), window, count_padding)?.apply(self)
    }

    /// Means over `output` regions along each axis of `[samples, channels, height, width]`: region
    /// i is `⌊i · length / output⌋ .. ⌈(i + 1) · length / output⌉`. `[1, 1]` is the mean of each
    /// plane.
    ///
    /// # Errors
    /// Another number of axes, an output of 0, integers, or no memory.
    pub fn adaptive_avg_pool2d(&self, output: [usize; 2]) -> Result<Tensor> {
        PlaneMap::adaptive_avg_pool2d(self.shape(), output)?.apply(self)
    }

    /// Planes of `output` rows and columns, each element the input at `⌊i · length / output⌋`
    /// along each axis. The input may also be the larger one.
    ///
    /// # Errors
    /// As [`Tensor::adaptive_avg_pool2d`].
    pub fn upsample_nearest2d(&self, output: [usize; 2]) -> Result<Tensor> {
        PlaneMap::upsample2d(self.shape(), output, Sampling::Nearest)?.apply(self)
    }

    /// Planes of `output` rows and columns, interpolated between the four inputs around each; with
    /// `align_corners` the corners of both lie on each other, otherwise the edges.
    ///
    /// # Errors
    /// As [`Tensor::adaptive_avg_pool2d`].
    pub fn upsample_bilinear2d(&self, output: [usize; 2], align_corners: bool) -> Result<Tensor> {
        PlaneMap::upsample2d(self.shape(), output, Sampling::Bilinear { align_corners })?
            .apply(self)
    }
}
