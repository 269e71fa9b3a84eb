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
/// ```
/// use autograd::Var;
/// use ringgrad_nn::{Context, Init, Module, cross_entropy, mlp};
/// use tensor::{DType, Device, Tensor};
/// # fn main() -> Result<(), ringgrad_nn::Error> {
/// let device = Device::cpu();
/// let model = mlp(&Init::new(&device, 1), &[8, 5, 3])?;
/// let x = Var::constant(Tensor::zeros(&device, DType::F32, &[2, 8])?);
/// let logits = model.forward(&Context::eval(), &x)?;
/// assert_eq!(logits.value().shape()[..], [2, 3]);
///
/// let classes = Tensor::from_vec(&device, vec![2i64, 0], &[2])?;
/// let loss = cross_entropy(&logits, &classes)?;
/// assert_eq!(loss.count(), 2.0);
/// # Ok(())
/// # }
/// ```
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
    fn describe(&self) -> String {
        "Mlp".to_owned()
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        cx.run(&self.layers, x)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.layers.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.layers.visit_mut(visitor);
    }
}
