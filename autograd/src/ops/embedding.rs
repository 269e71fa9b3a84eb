//! Rows of a table by number.
//!
//! Linear in the table: the gradient of a row is the sum over the places where it was used. The
//! ids are kept, the table is not.

use tensor::{Shape, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Embedding {
    ids: Tensor,
    table: Shape,
}

impl Op for Embedding {
    fn name(&self) -> &'static str {
        "embedding"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        if dy.dtype().is_half() {
            let [n, d] = [self.table[0], self.table[1]];
            let zeros = Tensor::zeros(dy.device(), dy.dtype(), &[n, d])?;
            let rows = self.ids.numel();
            let index = self.ids.reshape(&[rows, 1])?.broadcast_to(&[rows, d])?;
            return grads.give(0, zeros.scatter_add(0, &index, &dy.reshape(&[rows, d])?)?);
        }
        grads.write(0, |out| dy.embedding_vjp_into(&self.ids, out))
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        let ([n, d], rows) = ([self.table[0], self.table[1]], self.ids.numel());
        let (device, dtype) = (dy.value().device(), dy.value().dtype());
        let zeros = Var::constant(Tensor::zeros(device, dtype, &[n, d])?);
        let index = self.ids.reshape(&[rows, 1])?.broadcast_to(&[rows, d])?;
        Ok(vec![zeros.scatter_add(0, &index, &dy.reshape(&[rows, d])?)?])
    }
}

impl Var {
    /// Rows of this table by number; see [`Tensor::embedding`].
    ///
    /// # Errors
    /// As there.
    pub fn embedding(&self, ids: &Tensor) -> Result<Var> {
        let y = self.value().embedding(ids)?;
        let saved = Embedding { ids: ids.clone(), table: *self.value().shape() };
        Ok(Var::from_op(y, &[self], saved))
    }
}
