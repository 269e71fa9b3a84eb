//! `z = f(x, y)` elementwise with broadcasting, and the operators `+ − × ÷`.
//!
//! Per element `dx = dz · ∂f/∂x` and `dy = dz · ∂f/∂y`. An element that broadcasting repeated
//! took part in several outputs, so its gradient is the sum over them: `sum_to` its shape.

use std::ops::{Add, Div, Mul, Neg, Sub};

use tensor::{BinaryOp, CompareOp, DType, Side, Tensor, UnaryOp};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::ops::cast::in_f32;
use crate::var::Var;

struct Binary {
    op: BinaryOp,
    x: Tensor,
    y: Tensor,
}

impl Op for Binary {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn vjp(&self, dz: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        for (input, side, operand) in [(0, Side::Left, &self.x), (1, Side::Right, &self.y)] {
            if grads.wanted(input) {
                let full = self.x.binary_vjp(self.op, side, &self.y, dz)?;
                grads.give(input, full.sum_to(operand.shape())?)?;
            }
        }
        Ok(())
    }

    fn vjp_var(&self, dz: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let (x, y) = (inputs.var(0, &self.x), inputs.var(1, &self.y));
        let (dx, dy) = match self.op {
            BinaryOp::Add => (dz.clone(), dz.clone()),
            BinaryOp::Sub => (dz.clone(), dz.neg()?),
            BinaryOp::Mul => ((dz * &y)?, (dz * &x)?),
            BinaryOp::Div => {
                let dx = (dz / &y)?;
                let dy = (&dx * &(&x / &y)?)?.neg()?;
                (dx, dy)
            }
            BinaryOp::Max | BinaryOp::Min | BinaryOp::AbsoluteError => {
                // Steps: their slopes have slope 0, so their values will do.
                let ones = Tensor::full(dz.value().device(), 1.0f64, dz.value().shape())?;
                let ones = ones.cast(dz.value().dtype())?;
                let slope = |side| self.x.binary_vjp(self.op, side, &self.y, &ones);
                let times = |side| -> Result<Var> { dz * &Var::constant(slope(side)?) };
                (times(Side::Left)?, times(Side::Right)?)
            }
            BinaryOp::Pow => {
                let base = (&y * &x.pow(&(&y - 1.0)?)?)?;
                let growth = (&x.pow(&y)? * &x.ln()?)?;
                ((dz * &base)?, (dz * &growth)?)
            }
            BinaryOp::SquaredError => opposites((&(dz * &(&x - &y)?)? * 2.0)?)?,
            BinaryOp::Huber(delta) => opposites((dz * &(&x - &y)?.clamp(-delta, delta)?)?)?,
            BinaryOp::Bce => {
                let rest = (&x.neg()? + 1.0)?;
                let spread = (&rest * &x)?.clamp(1e-12, f64::INFINITY)?;
                let log = |x: &Var| x.ln()?.clamp(-100.0, f64::INFINITY);
                let dx = (&(&x - &y)? / &spread)?;
                ((dz * &dx)?, (dz * &(&log(&rest)? - &log(&x)?)?)?)
            }
            BinaryOp::BceWithLogits => ((dz * &(&x.sigmoid()? - &y)?)?, (dz * &x)?.neg()?),
            BinaryOp::KlDiv => {
                let zero = Tensor::scalar(self.y.device(), 0.0f64).cast(self.y.dtype())?;
                let never = self.y.compare(CompareOp::Eq, &zero)?;
                let growth = (&(&y.ln()? + 1.0)? - &x)?.masked_fill(&never, 0.0)?;
                ((dz * &y)?.neg()?, (dz * &growth)?)
            }
        };
        Ok(vec![dx.sum_to(self.x.shape())?, dy.sum_to(self.y.shape())?])
    }
}

/// The products of a function of `x − y`: with `d` on the left, with `−d` on the right.
fn opposites(d: Var) -> Result<(Var, Var)> {
    let opposite = d.neg()?;
    Ok((d, opposite))
}

impl Var {
    /// `op` of each pair of elements, after broadcasting and promotion; see [`Tensor::binary`]. Of
    /// integers it is a constant.
    ///
    /// # Errors
    /// As there.
    pub fn binary(&self, op: BinaryOp, y: &Var) -> Result<Var> {
        let (left, right) = (self.value().dtype(), y.value().dtype());
        let dtype = left.promote(right);
        if left != right {
            return self.cast(dtype)?.binary(op, &y.cast(dtype)?);
        }
        if dtype.is_half() {
            return in_f32([self, y], |[x, y]| x.binary(op, y));
        }
        let z = self.value().binary(op, y.value())?;
        if !dtype.is_float() {
            return Ok(Var::constant(z));
        }
        let saved = Binary { op, x: self.value().clone(), y: y.value().clone() };
        Ok(Var::from_op(z, &[self, y], saved))
    }

    /// The larger of each pair; see [`BinaryOp::Max`].
    ///
    /// # Errors
    /// As [`Var::binary`].
    pub fn maximum(&self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Max, y)
    }

    /// The smaller of each pair; see [`BinaryOp::Min`].
    ///
    /// # Errors
    /// As [`Var::binary`].
    pub fn minimum(&self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Min, y)
    }

    /// `xʸ` of each pair; see [`BinaryOp::Pow`].
    ///
    /// # Errors
    /// As [`Var::binary`].
    pub fn pow(&self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Pow, y)
    }
}

impl Add for &Var {
    type Output = Result<Var>;
    fn add(self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Add, y)
    }
}

impl Sub for &Var {
    type Output = Result<Var>;
    fn sub(self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Sub, y)
    }
}

impl Mul for &Var {
    type Output = Result<Var>;
    fn mul(self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Mul, y)
    }
}

impl Div for &Var {
    type Output = Result<Var>;
    fn div(self, y: &Var) -> Result<Var> {
        self.binary(BinaryOp::Div, y)
    }
}

impl Add<&Var> for Result<Var> {
    type Output = Result<Var>;
    fn add(self, y: &Var) -> Result<Var> {
        self.and_then(|x| &x + y)
    }
}

impl Add<f64> for &Var {
    type Output = Result<Var>;
    fn add(self, y: f64) -> Result<Var> {
        self.unary(UnaryOp::Shift(y))
    }
}

impl Sub<&Var> for Result<Var> {
    type Output = Result<Var>;
    fn sub(self, y: &Var) -> Result<Var> {
        self.and_then(|x| &x - y)
    }
}

impl Sub<f64> for &Var {
    type Output = Result<Var>;
    fn sub(self, y: f64) -> Result<Var> {
        self.unary(UnaryOp::Shift(-y))
    }
}

impl Mul<&Var> for Result<Var> {
    type Output = Result<Var>;
    fn mul(self, y: &Var) -> Result<Var> {
        self.and_then(|x| &x * y)
    }
}

impl Mul<f64> for &Var {
    type Output = Result<Var>;
    fn mul(self, y: f64) -> Result<Var> {
        self.unary(UnaryOp::Scale(y))
    }
}

impl Div<&Var> for Result<Var> {
    type Output = Result<Var>;
    fn div(self, y: &Var) -> Result<Var> {
        self.and_then(|x| &x / y)
    }
}

impl Div<f64> for &Var {
    type Output = Result<Var>;
    fn div(self, y: f64) -> Result<Var> {
        let dtype = self.value().dtype();
        let dtype = if dtype.is_float() { dtype } else { DType::F32 };
        let y = Tensor::scalar(self.value().device(), y).cast(dtype)?;
        self.binary(BinaryOp::Div, &Var::constant(y))
    }
}

impl Neg for &Var {
    type Output = Result<Var>;
    fn neg(self) -> Result<Var> {
        self.unary(UnaryOp::Neg)
    }
}
