//! `z = mask ? x : y`, elementwise, and the elements that a mask chooses.
//!
//! Each output is one of the two, so the gradient goes to that one and exactly 0 to the other, also
//! where the other is infinite or NaN. Only the mask is kept.

use tensor::{Shape, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct WhereMask {
    mask: Tensor,
    x_shape: Shape,
    y_shape: Shape,
}

impl WhereMask {
    /// The mask for each side, and its shape.
    fn sides(&self) -> Result<[(Tensor, Shape); 2]> {
        Ok([(self.mask.logical_not()?, self.x_shape), (self.mask.clone(), self.y_shape)])
    }
}

impl Op for WhereMask {
    fn name(&self) -> &'static str {
        "where_mask"
    }

    fn vjp(&self, dz: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        for (input, (cleared, shape)) in self.sides()?.into_iter().enumerate() {
            if grads.wanted(input) {
                grads.give(input, dz.masked_fill(&cleared, 0.0)?.sum_to(&shape)?)?;
            }
        }
        Ok(())
    }

    fn vjp_var(&self, dz: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let side = |(cleared, shape): &(Tensor, Shape)| dz.masked_fill(cleared, 0.0)?.sum_to(shape);
        self.sides()?.iter().map(side).collect()
    }
}

struct MaskedSelect {
    mask: Tensor,
}

impl Op for MaskedSelect {
    fn name(&self) -> &'static str {
        "masked_select"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.masked_select_vjp(&self.mask)?)
    }
}

impl Var {
    /// This where `mask` is not 0, `y` elsewhere; see [`Tensor::where_mask`].
    ///
    /// # Errors
    /// As there.
    pub fn where_mask(&self, mask: &Tensor, y: &Var) -> Result<Var> {
        let dtype = self.value().dtype().promote(y.value().dtype());
        let (x, y) = (self.cast(dtype)?, y.cast(dtype)?);
        let z = x.value().where_mask(mask, y.value())?;
        if !dtype.is_float() {
            return Ok(Var::constant(z));
        }
        let mask = mask.broadcast_to(z.shape())?;
        let (x_shape, y_shape) = (*x.value().shape(), *y.value().shape());
        Ok(Var::from_op(z, &[&x, &y], WhereMask { mask, x_shape, y_shape }))
    }

    /// This with `value` where `mask` is not 0; see [`Tensor::masked_fill`].
    ///
    /// # Errors
    /// As there.
    pub fn masked_fill(&self, mask: &Tensor, value: f64) -> Result<Var> {
        let value = Tensor::scalar(self.value().device(), value).cast(self.value().dtype())?;
        Var::constant(value).where_mask(mask, self)
    }

    /// The elements where `mask` is not 0; see [`Tensor::masked_select`].
    ///
    /// # Errors
    /// As there.
    pub fn masked_select(&self, mask: &Tensor) -> Result<Var> {
        let y = self.value().masked_select(mask)?;
        Ok(Var::from_op(y, &[self], MaskedSelect { mask: mask.clone() }))
    }

    /// Where the comparison of the values holds: a mask, which has no gradient.
    ///
    /// # Errors
    /// As [`Tensor::compare`].
    pub fn compare(&self, op: tensor::CompareOp, y: &Var) -> Result<Tensor> {
        Ok(self.value().compare(op, y.value())?)
    }
}
