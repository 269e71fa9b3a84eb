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
        let name = vjp_name(op);
        for other in [y, dy] {
            if other.dtype() != self.dtype() {
                return Err(Error::DTypes { op: name, left: self.dtype(), right: other.dtype() });
            }
            if other.shape() != self.shape() {
                let (left, right) = (*self.shape(), *other.shape());
                let rule = "x, y and dy must have one shape";
                return Err(Error::Shapes { op: name, left, right, rule });
            }
        }
        match self.dtype() {
            DType::F32 => backward::<f32>(self, op, y, dy),
            DType::F64 => backward::<f64>(self, op, y, dy),
            found => Err(Error::DType { op: name, found, wanted: "f32 or f64" }),
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
    let name = op.name();
    let x = x.contiguous_for(name)?;
    let view = x.typed::<T>(name)?;
    Tensor::computed(name, x.device(), *x.shape(), |out| unary(x.device().threads(), op, view, out))
}

fn backward<T: Stored + Float>(x: &Tensor, op: UnaryOp, y: &Tensor, dy: &Tensor) -> Result<Tensor> {
    let name = vjp_name(op);
    let (x, y, dy) = (x.contiguous_for(name)?, y.contiguous_for(name)?, dy.contiguous_for(name)?);
    let (xs, ys, dys) = (x.typed::<T>(name)?, y.typed::<T>(name)?, dy.typed::<T>(name)?);
    let threads = x.device().threads();
    Tensor::computed(name, x.device(), *x.shape(), |dx| unary_vjp(threads, op, [xs, ys, dys], dx))
}

/// What an error calls the derivative of `op`.
fn vjp_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "neg_vjp",
        UnaryOp::Abs => "abs_vjp",
        UnaryOp::Exp => "exp_vjp",
        UnaryOp::Ln => "ln_vjp",
        UnaryOp::Sqrt => "sqrt_vjp",
        UnaryOp::Recip => "recip_vjp",
        UnaryOp::Square => "square_vjp",
        UnaryOp::Relu => "relu_vjp",
        UnaryOp::Tanh => "tanh_vjp",
        UnaryOp::Sigmoid => "sigmoid_vjp",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derivative_is_called_by_its_operation() {
        for op in UnaryOp::ALL {
            assert_eq!(vjp_name(op), format!("{}_vjp", op.name()));
        }
    }
}
