//! `y = f(x)` elementwise, for every `f` of [`UnaryOp`].

use kernels::unary::{UnaryOp, unary, unary_vjp};
use kernels::{DType, Float};

use super::cast::in_f32;
use crate::error::{Error, Result};
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// `op` of every element. Halves are widened to f32 and rounded once. Integers and masks become
    /// f32 first; neg, abs, square, relu, sign and the roundings leave an i64 an i64.
    ///
    /// # Errors
    /// No memory for the result.
    pub fn unary(&self, op: UnaryOp) -> Result<Tensor> {
        match self.dtype() {
            DType::F32 => forward::<f32>(self, op),
            DType::F64 => forward::<f64>(self, op),
            DType::F16 | DType::BF16 => in_f32([self], |[x]| x.unary(op)),
            DType::I64 => match integer_function(op) {
                Some(function) => integers(self, op, function),
                None => self.cast(DType::F32)?.unary(op),
            },
            DType::U8 => self.cast(DType::F32)?.unary(op),
        }
    }

    /// The derivative of [`Tensor::unary`] at this `x`, times `dy`; `y` is the result there.
    ///
    /// # Errors
    /// Three shapes or types that are not equal, or elements that are not f32 or f64.
    pub fn unary_vjp(&self, op: UnaryOp, y: &Tensor, dy: &Tensor) -> Result<Tensor> {
        let name = op.vjp_name();
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
    /// As [`Tensor::unary`].
    pub fn relu(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Relu)
    }

    /// `eˣ`.
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn exp(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Exp)
    }

    /// The natural logarithm: −∞ at 0, NaN below.
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn ln(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Ln)
    }

    /// `−x`; see [`UnaryOp::Neg`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn neg(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Neg)
    }

    /// `|x|`; see [`UnaryOp::Abs`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn abs(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Abs)
    }

    /// √x; NaN below 0; see [`UnaryOp::Sqrt`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn sqrt(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Sqrt)
    }

    /// `1 / x`; see [`UnaryOp::Recip`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn recip(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Recip)
    }

    /// `x²`; see [`UnaryOp::Square`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn square(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Square)
    }

    /// `tanh x`; see [`UnaryOp::Tanh`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn tanh(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Tanh)
    }

    /// `1 / (1 + e⁻ˣ)`; see [`UnaryOp::Sigmoid`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn sigmoid(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Sigmoid)
    }

    /// sin x, x in radians; see [`UnaryOp::Sin`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn sin(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Sin)
    }

    /// cos x, x in radians; see [`UnaryOp::Cos`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn cos(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Cos)
    }

    /// The error function; see [`UnaryOp::Erf`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn erf(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Erf)
    }

    /// `x · Φ(x)`; see [`UnaryOp::Gelu`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn gelu(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Gelu)
    }

    /// The tanh approximation of gelu; see [`UnaryOp::GeluTanh`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn gelu_tanh(&self) -> Result<Tensor> {
        self.unary(UnaryOp::GeluTanh)
    }

    /// `x · sigmoid(x)`; see [`UnaryOp::Silu`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn silu(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Silu)
    }

    /// `ln(1 + eˣ)`; see [`UnaryOp::Softplus`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn softplus(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Softplus)
    }

    /// `ln(1 + x)`; see [`UnaryOp::Log1p`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn log1p(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Log1p)
    }

    /// `1 / √x`; see [`UnaryOp::Rsqrt`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn rsqrt(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Rsqrt)
    }

    /// −1, 0 or 1; see [`UnaryOp::Sign`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn sign(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Sign)
    }

    /// The largest integer that is not above; see [`UnaryOp::Floor`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn floor(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Floor)
    }

    /// The smallest integer that is not below; see [`UnaryOp::Ceil`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn ceil(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Ceil)
    }

    /// The nearest integer, ties to even; see [`UnaryOp::Round`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn round(&self) -> Result<Tensor> {
        self.unary(UnaryOp::Round)
    }

    /// x above 0, else `slope · x`; see [`UnaryOp::LeakyRelu`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn leaky_relu(&self, slope: f64) -> Result<Tensor> {
        self.unary(UnaryOp::LeakyRelu(slope))
    }

    /// x above 0, else `alpha · (eˣ − 1)`; see [`UnaryOp::Elu`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn elu(&self, alpha: f64) -> Result<Tensor> {
        self.unary(UnaryOp::Elu(alpha))
    }

    /// x to the power of `exponent`; see [`UnaryOp::Powf`].
    ///
    /// # Errors
    /// As [`Tensor::unary`].
    pub fn powf(&self, exponent: f64) -> Result<Tensor> {
        self.unary(UnaryOp::Powf(exponent))
    }

    /// x within `min..=max`; see [`UnaryOp::Clamp`].
    ///
    /// # Errors
    /// As [`Tensor::unary`], or a `min` above `max`.
    pub fn clamp(&self, min: f64, max: f64) -> Result<Tensor> {
        if min > max {
            let (op, rule) = ("clamp", "the lower bound is not above the upper one");
            return Err(Error::Setting { op, name: "min", value: min, rule });
        }
        self.unary(UnaryOp::Clamp(min, max))
    }
}

fn forward<T: Stored + Float>(x: &Tensor, op: UnaryOp) -> Result<Tensor> {
    let name = op.name();
    let x = x.contiguous_for(name)?;
    let view = x.typed::<T>(name)?;
    Tensor::computed(name, x.device(), *x.shape(), |out| unary(x.device().threads(), op, view, out))
}

fn backward<T: Stored + Float>(x: &Tensor, op: UnaryOp, y: &Tensor, dy: &Tensor) -> Result<Tensor> {
    let name = op.vjp_name();
    let (x, y, dy) = (x.contiguous_for(name)?, y.contiguous_for(name)?, dy.contiguous_for(name)?);
    let (xs, ys, dys) = (x.typed::<T>(name)?, y.typed::<T>(name)?, dy.typed::<T>(name)?);
    let threads = x.device().threads();
    Tensor::computed(name, x.device(), *x.shape(), |dx| unary_vjp(threads, op, [xs, ys, dys], dx))
}

/// The function of integers, modulo 2⁶⁴, where there is one.
fn integer_function(op: UnaryOp) -> Option<fn(i64) -> i64> {
    Some(match op {
        UnaryOp::Neg => i64::wrapping_neg,
        UnaryOp::Abs => i64::wrapping_abs,
        UnaryOp::Square => |x| x.wrapping_mul(x),
        UnaryOp::Relu => |x| x.max(0),
        UnaryOp::Sign => i64::signum,
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round => |x| x,
        _ => return None,
    })
}

fn integers(x: &Tensor, op: UnaryOp, function: fn(i64) -> i64) -> Result<Tensor> {
    let name = op.name();
    let x = x.contiguous_for(name)?;
    let view = x.typed::<i64>(name)?;
    Tensor::computed(name, x.device(), *x.shape(), |out| {
        out.iter_mut().zip(view).for_each(|(out, &x)| *out = function(x));
    })
}
