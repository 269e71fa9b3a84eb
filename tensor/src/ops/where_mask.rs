//! A choice between two tensors, element by element, and the elements that a mask chooses.

use half::{bf16, f16};
use kernels::DType;
use kernels::where_mask::{masked_select, masked_select_vjp, where_mask};

use crate::error::{Error, Result};
use crate::shape::{Shape, broadcast};
use crate::storage::Stored;
use crate::tensor::Tensor;

const OP: &str = "where_mask";

impl Tensor {
    /// This tensor where `mask` is not 0, `y` elsewhere, after broadcasting all three and promoting
    /// the two. What is not chosen does not show, also if it is NaN.
    ///
    /// # Errors
    /// A mask that is not u8, or shapes that do not broadcast.
    pub fn where_mask(&self, mask: &Tensor, y: &Tensor) -> Result<Tensor> {
        let dtype = self.dtype().promote(y.dtype());
        let (x, y) = (self.cast(dtype)?, y.cast(dtype)?);
        match dtype {
            DType::F16 => chosen::<f16>(mask, &x, &y),
            DType::BF16 => chosen::<bf16>(mask, &x, &y),
            DType::F32 => chosen::<f32>(mask, &x, &y),
            DType::F64 => chosen::<f64>(mask, &x, &y),
            DType::I64 => chosen::<i64>(mask, &x, &y),
            DType::U8 => chosen::<u8>(mask, &x, &y),
        }
    }

    /// This tensor with `value` where `mask` is not 0.
    ///
    /// # Errors
    /// As [`Tensor::where_mask`], or a value that an integer tensor cannot hold.
    pub fn masked_fill(&self, mask: &Tensor, value: f64) -> Result<Tensor> {
        Error::check_number("masked_fill", self.dtype(), value)?;
        let value = Tensor::scalar(self.device(), value).cast(self.dtype())?;
        value.where_mask(mask, self)
    }

    /// The elements where `mask`, of this shape, is not 0: a vector, in row-major order.
    ///
    /// # Errors
    /// A mask that is not u8 or has another shape.
    pub fn masked_select(&self, mask: &Tensor) -> Result<Tensor> {
        match self.dtype() {
            DType::F16 => selected::<f16>(self, mask),
            DType::BF16 => selected::<bf16>(self, mask),
            DType::F32 => selected::<f32>(self, mask),
            DType::F64 => selected::<f64>(self, mask),
            DType::I64 => selected::<i64>(self, mask),
            DType::U8 => selected::<u8>(self, mask),
        }
    }

    /// The derivative of [`Tensor::masked_select`], times this vector.
    ///
    /// # Errors
    /// A mask that is not u8 or chooses another number of elements.
    pub fn masked_select_vjp(&self, mask: &Tensor) -> Result<Tensor> {
        match self.dtype() {
            DType::F16 => returned::<f16>(self, mask),
            DType::BF16 => returned::<bf16>(self, mask),
            DType::F32 => returned::<f32>(self, mask),
            DType::F64 => returned::<f64>(self, mask),
            DType::I64 => returned::<i64>(self, mask),
            DType::U8 => returned::<u8>(self, mask),
        }
    }
}

fn chosen<T: Stored>(mask: &Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let shape = broadcast(OP, &broadcast(OP, x.shape(), y.shape())?, mask.shape())?;
    let all = [mask, x, y].map(|x| x.broadcast_to(&shape)?.contiguous_for(OP));
    let [mask, x, y] = all;
    let (mask, x, y) = (mask?, x?, y?);
    let (ms, xs, ys) = (mask.typed::<u8>(OP)?, x.typed::<T>(OP)?, y.typed::<T>(OP)?);
    Tensor::computed(OP, x.device(), shape, |out| where_mask(ms, xs, ys, out))
}

/// The mask's bytes in row-major order, and how many are not 0.
fn counted(op: &'static str, mask: &Tensor) -> Result<(Tensor, usize)> {
    let mask = mask.contiguous_for(op)?;
    let count = mask.typed::<u8>(op)?.iter().filter(|mask| **mask != 0).count();
    Ok((mask, count))
}

fn selected<T: Stored>(x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let op = "masked_select";
    if x.shape() != mask.shape() {
        let (left, right) = (*x.shape(), *mask.shape());
        let rule = "the mask has the shape of the tensor: broadcast it first";
        return Err(Error::Shapes { op, left, right, rule });
    }
    let (x, (mask, count)) = (x.contiguous_for(op)?, counted(op, mask)?);
    let (xs, ms) = (x.typed::<T>(op)?, mask.typed::<u8>(op)?);
    Tensor::computed(op, x.device(), Shape::new(op, &[count])?, |out| masked_select(ms, xs, out))
}

fn returned<T: Stored>(dy: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let op = "masked_select_vjp";
    let (dy, (mask, count)) = (dy.contiguous_for(op)?, counted(op, mask)?);
    if dy.shape()[..] != [count] {
        let rule = "the gradient has one element for each that the mask chooses";
        return Err(Error::Shape { op, shape: *dy.shape(), rule });
    }
    let (ds, ms) = (dy.typed::<T>(op)?, mask.typed::<u8>(op)?);
    Tensor::computed(op, dy.device(), *mask.shape(), |dx| masked_select_vjp(ms, ds, dx))
}
