//! `y = f(x)` elementwise, for every `f` of [`UnaryOp`].

use kernels::unary::{UnaryOp, unary, unary_vjp};
use kernels::{DType, Float};

use crate::error::{Error, Result};
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// `op` of every element.
    ///
    /// # Errors
    /// Elements that are not f32 or f64.
    pub fn unary(&self, op: UnaryOp) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => forward::<f32>(self, op),
            DType::F64 => forward::<f64>(self, op),
            found => Err(Error::DType { op: op.name(), found, wanted: "f32 or f64" }),
        }
    }

    /// The derivative of [`Tensor::unary`] at this `x`, times `dy`; `y` is the result there.
    ///
    /// # Errors
    /// Three shapes or types that are not equal, or elements that are not f32 or f64.
    pub fn unary_vjp(&self, op: UnaryOp, y: &Tensor, dy: &Tensor) -> Result<Tensor> {
        for other in [y, dy] {
            if other.shape() != self.shape() {
                let (left, right) = (*self.shape(), *other.shape());
                let rule = "x, y and dy must have one shape";
                return Err(Error::Shapes { op: op.name(), left, right, rule });
            }
        }
        match self.dtype() {
            DType::F32 => backward::<f32>(self, op, y, dy),
            DType::F64 => backward::<f64>(self, op, y, dy),
            found => Err(Error::DType { op: op.name(), found, wanted: "f32 or f64" }),
        }
    }

    /// `max(x, 0)`; NaN stays NaN.
    ///
    /// # Errors
    /// Elements that are not f32 or f64.
    pub fn relu(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Relu)
    }

    /// `eˣ`.
    ///
    /// # Errors
    /// Elements that are not f32 or f64.
    pub fn exp(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Exp)
    }

    /// The natural logarithm: −∞ at 0, NaN below.
    ///
    /// # Errors
    /// Elements that are not f32 or f64.
    pub fn ln(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Ln)
    }
}

fn forward<T: Stored + Float>(x: &Tensor, op: UnaryOp) -> Result<Tensor> {
    let x = x.contiguous();
    let view = x.typed::<T>(op.name())?;
    Ok(Tensor::filled(x.device(), *x.shape(), |out| unary(x.device().threads(), op, view, out)))
}

fn backward<T: Stored + Float>(x: &Tensor, op: UnaryOp, y: &Tensor, dy: &Tensor) -> Result<Tensor> {
    let (x, y, dy) = (x.contiguous(), y.contiguous(), dy.contiguous());
    let name = op.name();
    let (xs, ys, dys) = (x.typed::<T>(name)?, y.typed::<T>(name)?, dy.typed::<T>(name)?);
    let threads = x.device().threads();
    Ok(Tensor::filled(x.device(), *x.shape(), |dx| unary_vjp(threads, op, xs, ys, dys, dx)))
}
