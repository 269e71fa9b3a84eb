//! Elements of one axis elsewhere: flips, rolls, pads and selections by index, and the way back.
//!
//! Moving is linear, and its transpose adds each element back to where it came from: each of the
//! two is the other's vjp. Only the map is kept.

use tensor::{AxisMap, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

/// A map along one axis of length `len`.
#[derive(Clone)]
pub(super) struct Remap {
    pub(super) op: &'static str,
    pub(super) axis: usize,
    pub(super) len: usize,
    pub(super) map: AxisMap,
}

impl Op for Remap {
    fn name(&self) -> &'static str {
        self.op
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.remap_vjp(self.op, (self.axis, self.len), &self.map)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let dx = dy.value().remap_vjp(self.op, (self.axis, self.len), &self.map)?;
        Ok(vec![Var::from_op(dx, &[dy], Back(self.clone()))])
    }
}

/// The transpose of a map.
struct Back(Remap);

impl Op for Back {
    fn name(&self) -> &'static str {
        self.0.op
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.remap(self.0.op, self.0.axis, &self.0.map, 0.0)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let dx = dy.value().remap(self.0.op, self.0.axis, &self.0.map, 0.0)?;
        Ok(vec![Var::from_op(dx, &[dy], self.0.clone())])
    }
}

impl Var {
    /// Element j of `axis` becomes what the map names, or `fill`; see [`Tensor::remap`].
    ///
    /// # Errors
    /// As there.
    pub fn remap(&self, op: &'static str, axis: usize, map: &AxisMap, fill: f64) -> Result<Var> {
        let y = self.value().remap(op, axis, map, fill)?;
        let (len, map) = (self.value().shape()[axis], map.clone());
        Ok(Var::from_op(y, &[self], Remap { op, axis, len, map }))
    }

    /// The elements in reverse order along each of `axes`; see [`Tensor::flip`].
    ///
    /// # Errors
    /// As there.
    pub fn flip(&self, axes: &[usize]) -> Result<Var> {
        axes.iter().try_fold(self.clone(), |x, &axis| {
            let len = x.value().shape().get(axis).copied().unwrap_or(0);
            x.remap("flip", axis, &AxisMap::flipped(len), 0.0)
        })
    }

    /// The elements `shift` places further along `axis`; see [`Tensor::roll`].
    ///
    /// # Errors
    /// As there.
    pub fn roll(&self, axis: usize, shift: i64) -> Result<Var> {
        let len = self.value().shape().get(axis).copied().unwrap_or(0);
        self.remap("roll", axis, &AxisMap::rolled(len, shift), 0.0)
    }

    /// `value` around the elements; see [`Tensor::pad`].
    ///
    /// # Errors
    /// As there.
    pub fn pad(&self, pads: &[[usize; 2]], value: f64) -> Result<Var> {
        // Its checks cover all axes before one is moved.
        if pads.len() != self.value().ndim() {
            return Ok(Var::constant(self.value().pad(pads, value)?));
        }
        pads.iter().enumerate().try_fold(self.clone(), |x, (axis, &pad)| match pad {
            [0, 0] => Ok(x),
            _ => x.remap("pad", axis, &AxisMap::padded(x.value().shape()[axis], pad), value),
        })
    }

    /// The slices of `axis` that `index` names; the gradients of one that is named twice are added.
    /// See [`Tensor::index_select`].
    ///
    /// # Errors
    /// As there.
    pub fn index_select(&self, axis: usize, index: &Tensor) -> Result<Var> {
        let op = "index_select";
        let len = self.value().shape().get(axis).copied().unwrap_or(0);
        self.remap(op, axis, &AxisMap::selected(op, (axis, len), index)?, 0.0)
    }
}
