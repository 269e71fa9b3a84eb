//! Parts side by side along an axis, and one value in parts.
//!
//! Each element of the result is one of one part, so the gradient of a part is the range of `dy`
//! where it stands. The lengths are kept.

use tensor::Tensor;

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Cat {
    axis: usize,
    lens: Vec<usize>,
}

impl Cat {
    /// Where each part stands along the axis.
    fn ranges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.lens.iter().scan(0, |end, &len| {
            *end += len;
            Some((*end - len, len))
        })
    }
}

impl Op for Cat {
    fn name(&self) -> &'static str {
        "cat"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        for (input, (start, len)) in self.ranges().enumerate() {
            if grads.wanted(input) {
                grads.give(input, dy.narrow(self.axis, start, len)?)?;
            }
        }
        Ok(())
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        self.ranges().map(|(start, len)| dy.narrow(self.axis, start, len)).collect()
    }
}

impl Var {
    /// `parts` one after the other along `axis`; see [`Tensor::cat`].
    ///
    /// # Errors
    /// As there.
    pub fn cat(parts: &[&Var], axis: usize) -> Result<Var> {
        let values: Vec<&Tensor> = parts.iter().map(|part| part.value()).collect();
        let y = Tensor::cat(&values, axis)?;
        let lens = values.iter().map(|value| value.shape()[axis]).collect();
        Ok(Var::from_op(y, parts, Cat { axis, lens }))
    }

    /// `parts` of one shape along a new axis; see [`Tensor::stack`].
    ///
    /// # Errors
    /// As there.
    pub fn stack(parts: &[&Var], axis: usize) -> Result<Var> {
        let rows = parts.iter().map(|part| part.unsqueeze(axis)).collect::<Result<Vec<_>>>()?;
        Var::cat(&rows.iter().collect::<Vec<_>>(), axis)
    }

    /// The value in at most `chunks` parts along `axis`; see [`Tensor::chunk`].
    ///
    /// # Errors
    /// As there.
    pub fn chunk(&self, chunks: usize, axis: usize) -> Result<Vec<Var>> {
        let ranges = self.value().chunk_ranges(chunks, axis)?;
        ranges.into_iter().map(|(start, len)| self.narrow(axis, start, len)).collect()
    }

    /// The value in parts of these lengths along `axis`; see [`Tensor::split`].
    ///
    /// # Errors
    /// As there.
    pub fn split(&self, lens: &[usize], axis: usize) -> Result<Vec<Var>> {
        self.value().split(lens, axis)?;
        let ranges = Cat { axis, lens: lens.to_vec() };
        ranges.ranges().map(|(start, len)| self.narrow(axis, start, len)).collect()
    }
}
