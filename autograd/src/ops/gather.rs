//! `y[.., j, ..] = x[.., index[.., j, ..], ..]`, and `scatter_add`, which adds at indices.
//!
//! Picking is linear, and its transpose adds each element back where it was picked: the gradient
//! of either is made of the other. The index is kept.

use tensor::{Shape, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Gather {
    axis: usize,
    index: Tensor,
    x_shape: Shape,
}

impl Gather {
    /// The index's shape but for the axis: what of x can be reached.
    fn reached(&self) -> Vec<usize> {
        let mut lens = self.index.shape().to_vec();
        lens[self.axis] = self.x_shape[self.axis];
        lens
    }

    fn pads(&self) -> Vec<[usize; 2]> {
        let reached = self.reached();
        self.x_shape.iter().zip(reached).map(|(&len, reached)| [0, len - reached]).collect()
    }
}

impl Op for Gather {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let zeros = Tensor::zeros(dy.device(), dy.dtype(), &self.reached())?;
        let dx = zeros.scatter_add(self.axis, &self.index, dy)?;
        grads.give(0, dx.pad(&self.pads(), 0.0)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let (device, dtype) = (dy.value().device(), dy.value().dtype());
        let zeros = Var::constant(Tensor::zeros(device, dtype, &self.reached())?);
        Ok(vec![zeros.scatter_add(self.axis, &self.index, dy)?.pad(&self.pads(), 0.0)?])
    }
}

struct ScatterAdd {
    axis: usize,
    index: Tensor,
}

impl Op for ScatterAdd {
    fn name(&self) -> &'static str {
        "scatter_add"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.clone())?;
        if grads.wanted(1) {
            grads.give(1, dy.gather(self.axis, &self.index)?)?;
        }
        Ok(())
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.clone(), dy.gather(self.axis, &self.index)?])
    }
}

impl Var {
    /// One element of `axis` for each index; see [`Tensor::gather`].
    ///
    /// # Errors
    /// As there.
    pub fn gather(&self, axis: usize, index: &Tensor) -> Result<Var> {
        let y = self.value().gather(axis, index)?;
        let (x_shape, index) = (*self.value().shape(), index.clone());
        Ok(Var::from_op(y, &[self], Gather { axis, index, x_shape }))
    }

    /// This with the elements of `source` added at indices; see [`Tensor::scatter_add`].
    ///
    /// # Errors
    /// As there.
    pub fn scatter_add(&self, axis: usize, index: &Tensor, source: &Var) -> Result<Var> {
        let y = self.value().scatter_add(axis, index, source.value())?;
        Ok(Var::from_op(y, &[self, source], ScatterAdd { axis, index: index.clone() }))
    }
}
