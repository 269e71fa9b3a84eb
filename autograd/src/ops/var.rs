//! Variance and standard deviation along some axes.
//!
//! With n elements, their mean m and the correction c, the variance is `v = Σ (x − m)² / (n − c)`.
//! The terms that come from m sum to 0, so `dv/dx = 2 (x − m) / (n − c)`. For `s = √v` that is
//! divided by 2s; where s is 0 there is no derivative, and the gradient is 0. x is kept, and s.

use tensor::{Axes, Tensor};

use super::cast::in_f32;
use super::mean::number;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Variance {
    x: Tensor,
    axes: Axes,
    correction: usize,
}

impl Variance {
    /// `(x − m) · dy · factor / (n − c)`, where `dy` has the reduced axes with length 1.
    fn slope(&self, x: &Var, dy: &Var, factor: f64) -> Result<Var> {
        let count = self.axes.count("var", self.x.shape())?;
        let left = count.checked_sub(self.correction).filter(|&left| left > 0);
        let factor = left.map_or(f64::NAN, |left| factor / left as f64);
        let factor = Var::constant(number(&self.x, factor)?);
        &(x - &x.mean(self.axes, true)?)? * &(dy * &factor)?
    }

    /// `dy` with the reduced axes of length 1.
    fn kept(&self, dy: &Var) -> Result<Var> {
        dy.reshape(&self.axes.reduced("var", self.x.shape(), true)?)
    }
}

impl Op for Variance {
    fn name(&self) -> &'static str {
        "var"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, self.x.var_vjp(self.axes, self.correction, dy)?)
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![self.slope(&inputs.var(0, &self.x), &self.kept(dy)?, 2.0)?])
    }
}

struct Deviation {
    variance: Variance,
    y: Tensor,
}

impl Op for Deviation {
    fn name(&self) -> &'static str {
        "std"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let Variance { x, axes, correction } = &self.variance;
        grads.give(0, x.std_vjp(*axes, *correction, &self.y, dy)?)
    }

    /// NaN where the deviation is 0.
    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let Variance { x, axes, correction } = &self.variance;
        let x = inputs.var(0, x);
        let ratio = (&self.variance.kept(dy)? / &x.std(*axes, *correction, true)?)?;
        Ok(vec![self.variance.slope(&x, &ratio, 1.0)?])
    }
}

impl Var {
    /// The variance along `axes`; see [`Tensor::var`].
    ///
    /// # Errors
    /// As there.
    pub fn var(&self, axes: impl Into<Axes>, correction: usize, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.var(axes, correction, keep_axes));
        }
        let y = self.value().var(axes, correction, keep_axes)?;
        Ok(Var::from_op(y, &[self], Variance { x: self.value().clone(), axes, correction }))
    }

    /// The standard deviation along `axes`, with gradient 0 where it is 0; see [`Tensor::std`].
    ///
    /// # Errors
    /// As there.
    pub fn std(&self, axes: impl Into<Axes>, correction: usize, keep_axes: bool) -> Result<Var> {
        let axes = axes.into();
        if self.value().dtype().is_half() {
            return in_f32([self], |[x]| x.std(axes, correction, keep_axes));
        }
        let y = self.value().std(axes, correction, keep_axes)?;
        let variance = Variance { x: self.value().clone(), axes, correction };
        Ok(Var::from_op(y.clone(), &[self], Deviation { variance, y }))
    }
}
