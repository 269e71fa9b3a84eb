//! `y = f(x)` elementwise.
//!
//! Each output depends on one input, so the Jacobian is diagonal: `dx = dy · f'(x)`. The slopes
//! stand beside the formulas in `kernels::unary`, with their conventions at kinks. Both x and y
//! are kept, since either may make the slope cheaper.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use tensor::{Tensor, UnaryOp};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::ops::cast::in_f32;
use crate::var::Var;

struct Unary {
    op: UnaryOp,
    x: Tensor,
    y: Tensor,
}

impl Op for Unary {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.unary_vjp(self.op, &self.y, dy)?)
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let (x, y) = (inputs.var(0, &self.x), inputs.output(&self.y));
        Ok(vec![(dy * &self.slope(&x, &y)?)?])
    }
}

impl Unary {
    /// `f'(x)` as a computation.
    fn slope(&self, x: &Var, y: &Var) -> Result<Var> {
        // Where the slope is constant, or a step, its own slope is 0: the value will do.
        let fixed = || -> Result<Var> {
            let ones = (&x.value().unary(UnaryOp::Scale(0.0))? + 1.0)?;
            Ok(Var::constant(self.x.unary_vjp(self.op, &self.y, &ones)?))
        };
        match self.op {
            UnaryOp::Exp => Ok(y.clone()),
            UnaryOp::Ln => x.recip(),
            UnaryOp::Sqrt => &y.recip()? * 0.5,
            UnaryOp::Recip => y.square()?.neg(),
            UnaryOp::Square => x * 2.0,
            UnaryOp::Tanh => &y.square()?.neg()? + 1.0,
            UnaryOp::Sigmoid => y - &y.square()?,
            UnaryOp::Sin => x.cos(),
            UnaryOp::Cos => x.sin()?.neg(),
            UnaryOp::Erf => &x.square()?.neg()?.exp()? * FRAC_2_SQRT_PI,
            UnaryOp::Silu => {
                let s = x.sigmoid()?;
                &s + &(y * &(&s.neg()? + 1.0)?)?
            }
            UnaryOp::Softplus => x.sigmoid(),
            UnaryOp::Log1p => (x + 1.0)?.recip(),
            UnaryOp::Rsqrt => &(y / x)? * -0.5,
            UnaryOp::Powf(0.0) => x * 0.0,
            UnaryOp::Powf(exponent) => &x.powf(exponent - 1.0)? * exponent,
            UnaryOp::Neg
            | UnaryOp::Abs
            | UnaryOp::Relu
            | UnaryOp::Sign
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Round
            | UnaryOp::LeakyRelu(_)
            | UnaryOp::Shift(_)
            | UnaryOp::Scale(_)
            | UnaryOp::Clamp(..) => fixed(),
            UnaryOp::Gelu => gelu_slope(x),
            UnaryOp::GeluTanh => gelu_tanh_slope(x),
            UnaryOp::Elu(alpha) => {
                let below = (&x.clamp(f64::NEG_INFINITY, 0.0)?.exp()? * alpha)?;
                let above = x.value().unary(UnaryOp::Sign)?.unary(UnaryOp::Relu)?;
                &below + &Var::constant((&above * (1.0 - alpha))?)
            }
        }
    }
}

/// `Φ(x) + x · φ(x)`, Φ and φ the normal distribution function and its density.
fn gelu_slope(x: &Var) -> Result<Var> {
    let below = (&(&(x * FRAC_1_SQRT_2)?.erf()? + 1.0)? * 0.5)?;
    let density = (&(&x.square()? * -0.5)?.exp()? * (0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2))?;
    &below + &(x * &density)?
}

/// `½ (1 + t) + ½ x (1 − t²) u'`, where `t = tanh(u)` and `u = √(2/π) (x + 0.044715 x³)`.
fn gelu_tanh_slope(x: &Var) -> Result<Var> {
    let (scale, cube) = (FRAC_2_SQRT_PI * FRAC_1_SQRT_2, 0.044715);
    let square = x.square()?;
    let t = (&(x * &(&(&square * cube)? + 1.0)?)? * scale)?.tanh()?;
    let inner = (&(&(&square * (3.0 * cube))? + 1.0)? * scale)?;
    let tilt = (&(x * &inner)? * &(&t.square()?.neg()? + 1.0)?)?;
    &(&(&t + &tilt)? + 1.0)? * 0.5
}

impl Var {
    /// `op` of every element; see [`Tensor::unary`]. Of integers it is a constant.
    ///
    /// # Errors
    /// As there.
    pub fn unary(&self, op: UnaryOp) -> Result<Var> {
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.unary(op));
        }
        let y = self.value().unary(op)?;
        if !self.value().dtype().is_float() {
            return Ok(Var::constant(y));
        }
        let saved = Unary { op, x: self.value().clone(), y: y.clone() };
        Ok(Var::from_op(y, &[self], saved))
    }

    /// `max(x, 0)`, with slope 0 at 0; see [`UnaryOp::Relu`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn relu(&self) -> Result<Var> {
        self.unary(UnaryOp::Relu)
    }

    /// `eˣ`; see [`UnaryOp::Exp`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn exp(&self) -> Result<Var> {
        self.unary(UnaryOp::Exp)
    }

    /// The natural logarithm; see [`UnaryOp::Ln`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn ln(&self) -> Result<Var> {
        self.unary(UnaryOp::Ln)
    }

    /// `−x`; see [`UnaryOp::Neg`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn neg(&self) -> Result<Var> {
        self.unary(UnaryOp::Neg)
    }

    /// `|x|`; see [`UnaryOp::Abs`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn abs(&self) -> Result<Var> {
        self.unary(UnaryOp::Abs)
    }

    /// √x; NaN below 0; see [`UnaryOp::Sqrt`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn sqrt(&self) -> Result<Var> {
        self.unary(UnaryOp::Sqrt)
    }

    /// `1 / x`; see [`UnaryOp::Recip`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn recip(&self) -> Result<Var> {
        self.unary(UnaryOp::Recip)
    }

    /// `x²`; see [`UnaryOp::Square`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn square(&self) -> Result<Var> {
        self.unary(UnaryOp::Square)
    }

    /// `tanh x`; see [`UnaryOp::Tanh`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn tanh(&self) -> Result<Var> {
        self.unary(UnaryOp::Tanh)
    }

    /// `1 / (1 + e⁻ˣ)`; see [`UnaryOp::Sigmoid`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn sigmoid(&self) -> Result<Var> {
        self.unary(UnaryOp::Sigmoid)
    }

    /// sin x, x in radians; see [`UnaryOp::Sin`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn sin(&self) -> Result<Var> {
        self.unary(UnaryOp::Sin)
    }

    /// cos x, x in radians; see [`UnaryOp::Cos`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn cos(&self) -> Result<Var> {
        self.unary(UnaryOp::Cos)
    }

    /// The error function; see [`UnaryOp::Erf`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn erf(&self) -> Result<Var> {
        self.unary(UnaryOp::Erf)
    }

    /// `x · Φ(x)`; see [`UnaryOp::Gelu`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn gelu(&self) -> Result<Var> {
        self.unary(UnaryOp::Gelu)
    }

    /// The tanh approximation of gelu; see [`UnaryOp::GeluTanh`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn gelu_tanh(&self) -> Result<Var> {
        self.unary(UnaryOp::GeluTanh)
    }

    /// `x · sigmoid(x)`; see [`UnaryOp::Silu`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn silu(&self) -> Result<Var> {
        self.unary(UnaryOp::Silu)
    }

    /// `ln(1 + eˣ)`; see [`UnaryOp::Softplus`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn softplus(&self) -> Result<Var> {
        self.unary(UnaryOp::Softplus)
    }

    /// `ln(1 + x)`; see [`UnaryOp::Log1p`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn log1p(&self) -> Result<Var> {
        self.unary(UnaryOp::Log1p)
    }

    /// `1 / √x`; see [`UnaryOp::Rsqrt`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn rsqrt(&self) -> Result<Var> {
        self.unary(UnaryOp::Rsqrt)
    }

    /// −1, 0 or 1; see [`UnaryOp::Sign`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn sign(&self) -> Result<Var> {
        self.unary(UnaryOp::Sign)
    }

    /// The largest integer that is not above; see [`UnaryOp::Floor`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn floor(&self) -> Result<Var> {
        self.unary(UnaryOp::Floor)
    }

    /// The smallest integer that is not below; see [`UnaryOp::Ceil`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn ceil(&self) -> Result<Var> {
        self.unary(UnaryOp::Ceil)
    }

    /// The nearest integer, ties to even; see [`UnaryOp::Round`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn round(&self) -> Result<Var> {
        self.unary(UnaryOp::Round)
    }

    /// x above 0, else `slope · x`; see [`UnaryOp::LeakyRelu`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn leaky_relu(&self, slope: f64) -> Result<Var> {
        self.unary(UnaryOp::LeakyRelu(slope))
    }

    /// x above 0, else `alpha · (eˣ − 1)`; see [`UnaryOp::Elu`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn elu(&self, alpha: f64) -> Result<Var> {
        self.unary(UnaryOp::Elu(alpha))
    }

    /// x to the power of `exponent`; see [`UnaryOp::Powf`].
    ///
    /// # Errors
    /// As [`Var::unary`].
    pub fn powf(&self, exponent: f64) -> Result<Var> {
        self.unary(UnaryOp::Powf(exponent))
    }

    /// x within `min..=max`; see [`UnaryOp::Clamp`].
    ///
    /// # Errors
    /// As [`Var::unary`], or a `min` above `max`.
    pub fn clamp(&self, min: f64, max: f64) -> Result<Var> {
        if min > max {
            let (op, rule) = ("clamp", "the lower bound is not above the upper one");
            return Err(tensor::Error::Setting { op, name: "min", value: min, rule }.into());
        }
        self.unary(UnaryOp::Clamp(min, max))
    }
}
