//! A small convolutional classifier.

use autograd::Var;
use tensor::{ConvSettings, Window};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::init::Init;
use crate::layers::{Conv2d, Flatten, Linear, MaxPool2d, Relu, Sequential};
use crate::module::Module;
use crate::parameter::Parameter;

/// `[samples, channels, height, width] -> [samples, classes]`; see [`cnn`].
pub struct Cnn {
    layers: Sequential,
}

/// For each of `channels` a 3×3 convolution with padding 1, a rectifier and a max-pool of 2×2;
/// then a linear layer to `classes` logits. `input` is `[channels, height, width]`. Its parameters
/// are `convI.weight` and `convI.bias`, I counting from 1, and `fc.weight` and `fc.bias`.
///
/// # Errors
/// No channels or classes, or an input that the pools leave nothing of.
pub fn cnn(init: &Init, input: [usize; 3], channels: &[usize], classes: usize) -> Result<Cnn> {
    let [mut inputs, mut height, mut width] = input;
    let mut layers = Sequential::new();
    for (i, &outputs) in channels.iter().enumerate() {
        let settings = ConvSettings { padding: [1, 1], ..Default::default() };
        let init = init.at(format!("conv{}", i + 1));
        layers = layers
            .then(Conv2d::new(&init, [inputs, outputs], [3, 3], settings)?)
            .then(Relu)
            .then(MaxPool2d::new(Window::new([2, 2])));
        (inputs, height, width) = (outputs, height / 2, width / 2);
    }
    let features = inputs * height * width;
    if channels.is_empty() || features == 0 || classes == 0 {
        return Err(Error::Cnn { input, channels: channels.to_vec(), classes });
    }
    let layers = layers.then(Flatten).then(Linear::new(&init.at("fc"), features, classes)?);
    Ok(Cnn { layers })
}

impl Module for Cnn {
    fn describe(&self) -> String {
        "Cnn".to_owned()
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
