//! The multi-layer perceptron: linear layers with rectifiers between them.

use autograd::Var;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::init::Init;
use crate::layers::{Linear, Relu, Sequential};
use crate::module::Module;
use crate::parameter::Parameter;

/// `[batch, sizes[0]] -> [batch, sizes.last()]`; see [`mlp`].
pub struct Mlp {
    layers: Sequential,
}

/// A perceptron with `sizes[0]` inputs, a hidden layer for each size between, and logits of the
/// last size. Its parameters are `layers.I.weight` and `layers.I.bias`, I counting the linear
/// layers.
///
/// # Errors
/// Fewer than two sizes, or a size of 0.
pub fn mlp(init: &Init, sizes: &[usize]) -> Result<Mlp> {
    if sizes.len() < 2 || sizes.contains(&0) {
        return Err(Error::Sizes { sizes: sizes.to_vec() });
    }
    let init = init.at("layers");
    let mut layers = Sequential::new();
    for (i, pair) in sizes.windows(2).enumerate() {
        if i > 0 {
            layers = layers.then(Relu);
        }
        layers = layers.then(Linear::new(&init.at(i), pair[0], pair[1])?);
    }
    Ok(Mlp { layers })
}

impl Module for Mlp {
    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        self.layers.forward(cx, x)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.layers.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.layers.visit_mut(visitor);
    }
}
