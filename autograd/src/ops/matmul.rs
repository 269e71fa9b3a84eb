//! `C = A · B`.
//!
//! From `dC · δ(A·B)`: `dA = dC · Bᵀ` and `dB = Aᵀ · dC`. Both operands are kept.

use tensor::Tensor;

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::node::Op;
use crate::var::Var;

struct Matmul {
    a: Tensor,
    b: Tensor,
}

impl Op for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn vjp(&self, dc: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let (a_t, b_t) = (self.a.transpose(0, 1)?, self.b.transpose(0, 1)?);
        grads.write(0, |out| dc.matmul_into(&b_t, out))?;
        grads.write(1, |out| a_t.matmul_into(dc, out))
    }
}

impl Var {
    /// The matrix product; see [`Tensor::matmul`].
    ///
    /// # Errors
    /// As there.
    pub fn matmul(&self, b: &Var) -> Result<Var> {
        let c = self.value().matmul(b.value())?;
        let saved = Matmul { a: self.value().clone(), b: b.value().clone() };
        Ok(Var::from_op(c, &[self, b], saved))
    }
}
