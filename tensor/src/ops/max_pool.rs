//! `y = max x` over windows that slide along the spatial axes.

use kernels::pool::{max_pool, max_pool_vjp};
use kernels::{DType, Sliding};

use super::window::{Window, pooling, with_plane};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

/// Places that fit a byte.
const BYTE: usize = 1 << 8;

/// Where in its window each output of a max-pool lay: what the gradient needs.
#[derive(Clone, Debug)]
pub struct MaxPlaces {
    op: &'static str,
    sliding: Sliding,
    x: Shape,
    /// u8 where that holds every place of the window, else i64.
    places: Tensor,
}

impl MaxPlaces {
    /// The gradient of the input for a gradient `dy` of the output: each element of `dy` goes to
    /// the input that was the output.
    ///
    /// # Errors
    /// A `dy` of another shape than the output, or of elements that are not f32 or f64.
    pub fn vjp(&self, dy: &Tensor) -> Result<Tensor> {
        if dy.shape() != self.places.shape() {
            let (left, right) = (*self.places.shape(), *dy.shape());
            let rule = "the gradient has the shape of the output";
            return Err(Error::Shapes { op: self.op, left, right, rule });
        }
        match (dy.dtype(), self.places.dtype()) {
            (DType::F32, DType::U8) => self.backward::<f32, u8>(dy),
            (DType::F32, _) => self.backward::<f32, i64>(dy),
            (DType::F64, DType::U8) => self.backward::<f64, u8>(dy),
            (DType::F64, _) => self.backward::<f64, i64>(dy),
            (found, _) => Err(Error::DType { op: self.op, found, wanted: "f32 or f64" }),
        }
    }

    fn backward<T: Differentiable, P: Stored>(&self, dy: &Tensor) -> Result<Tensor> {
        let (op, dy) = (self.op, dy.contiguous_for(self.op)?);
        let (threads, places) = (dy.device().threads(), self.places.typed::<P>(op)?);
        let dys = dy.typed::<T>(op)?;
        Tensor::computed(op, dy.device(), self.x, |dx| {
            max_pool_vjp(threads, &self.sliding, places, dys, dx);
        })
    }
}

fn pooled<const N: usize>(
    op: &'static str,
    x: &Tensor,
    window: Window<N>,
) -> Result<(Tensor, MaxPlaces)> {
    let sliding = pooling(op, x.shape(), window)?;
    let y = with_plane(op, x.shape(), sliding.output())?;
    let byte = window.kernel.iter().product::<usize>() <= BYTE;
    let dtype = x.dtype();
    let wide = if dtype.is_half() { x.cast(DType::F32)? } else { x.contiguous_for(op)? };
    let (value, places) = match (wide.dtype(), byte) {
        (DType::F32, true) => forward::<f32, u8>(op, &wide, &sliding, y),
        (DType::F32, false) => forward::<f32, i64>(op, &wide, &sliding, y),
        (DType::F64, true) => forward::<f64, u8>(op, &wide, &sliding, y),
        (DType::F64, false) => forward::<f64, i64>(op, &wide, &sliding, y),
        (found, _) => Err(Error::DType { op, found, wanted: "floats" }),
    }?;
    Ok((value.cast(dtype)?, MaxPlaces { op, sliding, x: *x.shape(), places }))
}

fn forward<T: Differentiable, P: Stored>(
    op: &'static str,
    x: &Tensor,
    sliding: &Sliding,
    y: Shape,
) -> Result<(Tensor, Tensor)> {
    let (xs, threads) = (x.typed::<T>(op)?, x.device().threads());
    Tensor::filled_pair(op, x.device(), [y, y], |y, places: &mut [P]| {
        max_pool(threads, sliding, xs, (y, places));
    })
}

impl Tensor {
    /// The largest element of each window of `[samples, channels, length]`. Padding is not looked
    /// at; a NaN is larger than every number.
    ///
    /// # Errors
    /// A window that does not fit, padding of more than half a window, a window that sees padding
    /// alone, integers, or no memory.
    pub fn max_pool1d(&self, window: Window<1>) -> Result<Tensor> {
        Ok(self.max_pool1d_places(window)?.0)
    }

    /// [`Tensor::max_pool1d`] over two axes: `[samples, channels, height, width]`.
    ///
    /// # Errors
    /// As there.
    pub fn max_pool2d(&self, window: Window<2>) -> Result<Tensor> {
        Ok(self.max_pool2d_places(window)?.0)
    }

    /// [`Tensor::max_pool1d`] with what its gradient needs. Of equals the first one counts.
    ///
    /// # Errors
    /// As there.
    pub fn max_pool1d_places(&self, window: Window<1>) -> Result<(Tensor, MaxPlaces)> {
        pooled("max_pool1d", self, window)
    }

    /// [`Tensor::max_pool2d`] with what its gradient needs. Of equals the first in row-major order
    /// of the window counts.
    ///
    /// # Errors
    /// As there.
    pub fn max_pool2d_places(&self, window: Window<2>) -> Result<(Tensor, MaxPlaces)> {
        pooled("max_pool2d", self, window)
    }
}
