//! `y = x · Wᵀ + b`, a linear layer in one pass.

use kernels::DType;
use kernels::matmul::matmul;

use super::affine::{affine_in_f32, any_half};
use super::matmul::matrix;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "linear";

impl Tensor {
    /// `[.., in] -> [.., out]` for a weight `[out, in]` and a bias `[out]`, PyTorch's layout.
    /// The bias is added to the finished product, in one rounding. Halves are widened to f32, and
    /// the result is rounded once.
    ///
    /// # Errors
    /// An `x` without axes or whose last axis is not `in` long, a weight that is no matrix, a
    /// bias that is not `[out]`, two element types other than halves, integers, or a result that
    /// does not fit in memory.
    pub fn linear(&self, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        if any_half(self, [Some(weight), bias]) {
            let affine = [Some(weight), bias];
            return affine_in_f32(self, affine, |x, [w, b]| x.linear(w.unwrap_or(weight), b));
        }
        let shape = output_shape(self, weight, bias)?;
        match self.dtype() {
            DType::F32 => forward::<f32>(self, weight, bias, shape),
            DType::F64 => forward::<f64>(self, weight, bias, shape),
            found => Err(Error::DType { op: OP, found, wanted: "a float" }),
        }
    }
}

fn output_shape(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Shape> {
    let (left, right) = (*x.shape(), *weight.shape());
    if right.ndim() != 2 || left.last() != right.last() {
        let rule = "the weight is [out, in], and the last axis of x must be `in` long";
        return Err(Error::Shapes { op: OP, left, right, rule });
    }
    if let Some(bias) = bias
        && bias.shape()[..] != right[..1]
    {
        let rule = "for a weight [out, in] the bias is [out]";
        return Err(Error::Shapes { op: OP, left: right, right: *bias.shape(), rule });
    }
    for operand in [Some(weight), bias].into_iter().flatten() {
        if operand.dtype() != x.dtype() {
            return Err(Error::DTypes { op: OP, left: x.dtype(), right: operand.dtype() });
        }
    }
    let mut lens = [0; Shape::MAX_NDIM];
    lens[..left.ndim()].copy_from_slice(&left);
    lens[left.ndim() - 1] = right[0];
    Shape::new(OP, &lens[..left.ndim()])
}

fn forward<T: Differentiable>(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    shape: Shape,
) -> Result<Tensor> {
    let features = weight.shape()[1];
    let rows = x.shape()[..x.ndim() - 1].iter().product();
    let x = x.reshape(&[rows, features])?;
    let bias = bias.map(|bias| bias.contiguous_for(OP)).transpose()?;
    let bias = bias.as_ref().map(|bias| bias.typed::<T>(OP)).transpose()?;
    let (left, right) = (matrix::<T>(OP, &x)?, matrix::<T>(OP, weight)?.transposed());
    let threads = x.device().threads();
    Tensor::computed(OP, x.device(), shape, |out| matmul(threads, left, right, bias, out))
}
