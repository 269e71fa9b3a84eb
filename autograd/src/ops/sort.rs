//! The elements in order along one axis, or the first k of them.
//!
//! Each value is one element, so its gradient goes to the place that this came from; elements
//! that were not among the first k have none. The places are kept, and are constants.

use tensor::Tensor;

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct Sort {
    name: &'static str,
    places: Tensor,
    axis: usize,
    /// Length of the axis in x.
    len: usize,
}

impl Op for Sort {
    fn name(&self) -> &'static str {
        self.name
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.sort_vjp(self.axis, &self.places, self.len)?)
    }
}

impl Var {
    /// The elements along `axis` in order, and their places; see [`Tensor::sort`].
    ///
    /// # Errors
    /// As there.
    pub fn sort(&self, axis: usize, descending: bool) -> Result<(Var, Tensor)> {
        let (values, places) = self.value().sort(axis, descending)?;
        self.sorted("sort", axis, values, places)
    }

    /// The `k` largest or smallest elements along `axis`, and their places; see [`Tensor::topk`].
    ///
    /// # Errors
    /// As there.
    pub fn topk(&self, k: usize, axis: usize, largest: bool) -> Result<(Var, Tensor)> {
        let (values, places) = self.value().topk(k, axis, largest)?;
        self.sorted("topk", axis, values, places)
    }

    fn sorted(
        &self,
        name: &'static str,
        axis: usize,
        values: Tensor,
        places: Tensor,
    ) -> Result<(Var, Tensor)> {
        let len = self.value().shape()[axis];
        // The values are those of the half's elements: widening and rounding change none.
        let sorted = in_f32([self], |[x]| {
            let saved = Sort { name, places: places.clone(), axis, len };
            Ok(Var::from_op(values.cast(x.value().dtype())?, &[x], saved))
        })?;
        Ok((sorted, places))
    }
}
