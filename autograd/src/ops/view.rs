//! Views: the same elements under another shape, in another order, or some of them.
//!
//! A view moves elements, so its vjp moves them back: the inverse reshape or permutation, zeros
//! around a narrowed or stepped range, and the sum over what a broadcast repeated.

use std::ops::Range;

use tensor::{AxisMap, Shape, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::ops::remap::Remap;
use crate::var::Var;

struct Reshape {
    op: &'static str,
    x_shape: Shape,
}

impl Op for Reshape {
    fn name(&self) -> &'static str {
        self.op
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.reshape(&self.x_shape)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.reshape(&self.x_shape)?])
    }
}

struct Permute {
    inverse: Vec<usize>,
}

impl Op for Permute {
    fn name(&self) -> &'static str {
        "permute"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.permute(&self.inverse)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.permute(&self.inverse)?])
    }
}

struct BroadcastTo {
    x_shape: Shape,
}

impl Op for BroadcastTo {
    fn name(&self) -> &'static str {
        "broadcast_to"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.sum_to(&self.x_shape)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.sum_to(&self.x_shape)?])
    }
}

impl Var {
    /// Another shape; see [`Tensor::reshape`].
    ///
    /// # Errors
    /// As there.
    pub fn reshape(&self, shape: &[usize]) -> Result<Var> {
        Ok(self.reshaped("reshape", self.value().reshape(shape)?))
    }

    /// Another shape with one length left open; see [`Tensor::reshape_infer`].
    ///
    /// # Errors
    /// As there.
    pub fn reshape_infer(&self, lens: &[Option<usize>]) -> Result<Var> {
        Ok(self.reshaped("reshape_infer", self.value().reshape_infer(lens)?))
    }

    /// Without an axis of length 1; see [`Tensor::squeeze`].
    ///
    /// # Errors
    /// As there.
    pub fn squeeze(&self, axis: usize) -> Result<Var> {
        Ok(self.reshaped("squeeze", self.value().squeeze(axis)?))
    }

    /// With a new axis of length 1; see [`Tensor::unsqueeze`].
    ///
    /// # Errors
    /// As there.
    pub fn unsqueeze(&self, axis: usize) -> Result<Var> {
        Ok(self.reshaped("unsqueeze", self.value().unsqueeze(axis)?))
    }

    /// Axes `first..=last` as one; see [`Tensor::flatten`].
    ///
    /// # Errors
    /// As there.
    pub fn flatten(&self, first: usize, last: usize) -> Result<Var> {
        Ok(self.reshaped("flatten", self.value().flatten(first, last)?))
    }

    /// `y`, the elements of this value in their order.
    fn reshaped(&self, op: &'static str, y: Tensor) -> Var {
        let x_shape = *self.value().shape();
        Var::from_op(y, &[self], Reshape { op, x_shape })
    }

    /// The axes in another order; see [`Tensor::permute`].
    ///
    /// # Errors
    /// As there.
    pub fn permute(&self, axes: &[usize]) -> Result<Var> {
        let y = self.value().permute(axes)?;
        let mut inverse = vec![0; axes.len()];
        for (to, &from) in axes.iter().enumerate() {
            inverse[from] = to;
        }
        Ok(Var::from_op(y, &[self], Permute { inverse }))
    }

    /// Two axes exchanged; see [`Tensor::transpose`].
    ///
    /// # Errors
    /// As there.
    pub fn transpose(&self, first: usize, second: usize) -> Result<Var> {
        let y = self.value().transpose(first, second)?;
        let mut inverse: Vec<usize> = (0..y.ndim()).collect();
        inverse.swap(first, second);
        Ok(Var::from_op(y, &[self], Permute { inverse }))
    }

    /// Elements `start .. start + len` of `axis`; see [`Tensor::narrow`].
    ///
    /// # Errors
    /// As there.
    pub fn narrow(&self, axis: usize, start: usize, len: usize) -> Result<Var> {
        let y = self.value().narrow(axis, start, len)?;
        Ok(self.part("narrow", y, axis, AxisMap::stepped(start, len, 1)))
    }

    /// Every `step`-th element of a range of `axis`; see [`Tensor::slice`].
    ///
    /// # Errors
    /// As there.
    pub fn slice(&self, axis: usize, range: Range<usize>, step: usize) -> Result<Var> {
        let start = range.start;
        let y = self.value().slice(axis, range, step)?;
        let map = AxisMap::stepped(start, y.shape()[axis], step);
        Ok(self.part("slice", y, axis, map))
    }

    /// `y`, the elements of `axis` that `map` names.
    fn part(&self, op: &'static str, y: Tensor, axis: usize, map: AxisMap) -> Var {
        let len = self.value().shape()[axis];
        Var::from_op(y, &[self], Remap { op, axis, len, map })
    }

    /// Element `index` of `axis`, which is dropped; see [`Tensor::select`].
    ///
    /// # Errors
    /// As there.
    pub fn select(&self, axis: usize, index: usize) -> Result<Var> {
        self.narrow(axis, index, 1)?.squeeze(axis)
    }

    /// The elements as tiles, one after the other along each axis; see [`Tensor::repeat`].
    ///
    /// # Errors
    /// As there.
    pub fn repeat(&self, repeats: &[usize]) -> Result<Var> {
        let result = *self.value().repeat(repeats)?.shape();
        let added = repeats.len() - self.value().ndim();
        let lens = [&vec![1; added][..], self.value().shape()].concat();
        let ones = lens.iter().flat_map(|&len| [1, len]).collect::<Vec<_>>();
        let wide = lens.iter().zip(repeats).flat_map(|(&len, &n)| [n, len]).collect::<Vec<_>>();
        self.reshape(&ones)?.broadcast_to(&wide)?.reshape(&result)
    }

    /// Repeats axes of length 1; see [`Tensor::broadcast_to`].
    ///
    /// # Errors
    /// As there.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Var> {
        let saved = BroadcastTo { x_shape: *self.value().shape() };
        Ok(Var::from_op(self.value().broadcast_to(shape)?, &[self], saved))
    }
}
