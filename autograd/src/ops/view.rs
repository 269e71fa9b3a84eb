//! `reshape`, `permute`, `transpose`, `narrow`, `broadcast_to`: the same elements elsewhere.
//!
//! A view moves elements, so its vjp moves them back: the inverse reshape or permutation, zeros
//! around a narrowed range, and the sum over what a broadcast repeated.

use tensor::{DType, Differentiable, Shape, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct Reshape {
    x_shape: Shape,
}

impl Op for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.reshape(&self.x_shape)?)
    }

    fn vjp_var(&self, dy: &Var, _: &crate::Inputs<'_>) -> Result<Vec<Var>> {
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

    fn vjp_var(&self, dy: &Var, _: &crate::Inputs<'_>) -> Result<Vec<Var>> {
        assert!(self.x_shape.iter().all(|&l| l == 1));
        Ok(vec![dy.sum_all()?.reshape(&self.x_shape)?])
    }
}

const NARROW_VJP: &str = "narrow_vjp";

struct Narrow {
    x_shape: Shape,
    axis: usize,
    start: usize,
}

impl Op for Narrow {
    fn name(&self) -> &'static str {
        "narrow"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let dx = match dy.dtype() {
            DType::F32 => self.padded::<f32>(dy)?,
            DType::F64 => self.padded::<f64>(dy)?,
            found => {
                let wanted = "f32 or f64";
                return Err(tensor::Error::DType { op: NARROW_VJP, found, wanted }.into());
            }
        };
        grads.give(0, dx)
    }
}

impl Narrow {
    /// `dy` with zeros before and behind it along the axis.
    fn padded<T: Differentiable>(&self, dy: &Tensor) -> Result<Tensor> {
        let values = dy.to_vec::<T>()?;
        let inner: usize = self.x_shape[self.axis + 1..].iter().product();
        let (row, kept) = (self.x_shape[self.axis] * inner, dy.shape()[self.axis] * inner);
        let first = self.start * inner;
        Ok(Tensor::filled::<T>(NARROW_VJP, dy.device(), self.x_shape, |dx| {
            dx.fill(T::ZERO);
            if kept > 0 {
                for (dx, dy) in dx.chunks_mut(row).zip(values.chunks(kept)) {
                    dx[first..first + kept].copy_from_slice(dy);
                }
            }
        })?)
    }
}

impl Var {
    /// Another shape; see [`Tensor::reshape`].
    ///
    /// # Errors
    /// As there.
    pub fn reshape(&self, shape: &[usize]) -> Result<Var> {
        let saved = Reshape { x_shape: *self.value().shape() };
        Ok(Var::from_op(self.value().reshape(shape)?, &[self], saved))
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
        let saved = Narrow { x_shape: *self.value().shape(), axis, start };
        Ok(Var::from_op(self.value().narrow(axis, start, len)?, &[self], saved))
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
