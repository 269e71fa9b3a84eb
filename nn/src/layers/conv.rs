//! Convolution layers over one axis or two, and the transposed one.

use autograd::Var;
use tensor::ConvSettings;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::init::Init;
use crate::module::Module;
use crate::parameter::Parameter;

/// The weight and bias of a convolution, started as PyTorch starts them: both uniform within
/// `±1/√fan_in`, where the fan-in is axis 1 of the weight times the places of the kernel.
#[derive(Debug)]
struct Filter {
    weight: Parameter,
    bias: Option<Parameter>,
}

impl Filter {
    /// `axes` are `[axis 0, axis 1 before groups]` of the weight; `bias` is its length.
    fn new(
        init: &Init,
        axes: [usize; 2],
        kernel: &[usize],
        groups: usize,
        bias: Option<usize>,
    ) -> Result<Self> {
        let [first, second] = axes;
        if axes.contains(&0) || kernel.contains(&0) || groups == 0 || second % groups != 0 {
            return Err(Error::Convolution { axes, kernel: kernel.to_vec(), groups });
        }
        let shape = [&[first, second / groups], kernel].concat();
        let fan_in = shape[1..].iter().product();
        let weight = init.kaiming_uniform("weight", &shape, fan_in)?;
        let bias = bias.map(|len| init.kaiming_uniform("bias", &[len], fan_in)).transpose()?;
        Ok(Filter { weight, bias })
    }

    /// The shape of the weight from axis `from` on, such as `3x3`.
    fn kernel(&self) -> String {
        let lens: Vec<String> =
            self.weight.value().shape()[2..].iter().map(usize::to_string).collect();
        lens.join("x")
    }

    fn vars(&self, cx: &Context) -> (Var, Option<Var>) {
        (cx.var(&self.weight), self.bias.as_ref().map(|bias| cx.var(bias)))
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        visitor(&self.weight);
        self.bias.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        visitor(&mut self.weight);
        self.bias.iter_mut().for_each(visitor);
    }
}

/// The settings that are not the usual ones, each with its name.
fn unusual<const N: usize>(settings: &ConvSettings<N>) -> String {
    let usual = ConvSettings::<N>::default();
    let mut text = String::new();
    for (name, value, usual) in [
        ("stride", settings.stride, usual.stride),
        ("padding", settings.padding, usual.padding),
        ("dilation", settings.dilation, usual.dilation),
    ] {
        if value != usual {
            let one = value.iter().all(|&x| x == value[0]);
            let value = if one { value[0].to_string() } else { format!("{value:?}") };
            text += &format!(", {name} {value}");
        }
    }
    if settings.groups != 1 {
        text += &format!(", groups {}", settings.groups);
    }
    text
}

/// A convolution over one axis: `[samples, in, length] -> [samples, out, outputs]`; see
/// [`tensor::Tensor::conv1d`].
#[derive(Debug)]
pub struct Conv1d {
    filter: Filter,
    settings: ConvSettings<1>,
}

impl Conv1d {
    /// A layer with bias.
    ///
    /// # Errors
    /// A length of 0, or groups that do not divide the channels.
    pub fn new(
        init: &Init,
        [inputs, outputs]: [usize; 2],
        kernel: usize,
        settings: ConvSettings<1>,
    ) -> Result<Self> {
        let axes = checked([inputs, outputs], &[kernel], settings.groups)?;
        let filter = Filter::new(init, axes, &[kernel], settings.groups, Some(outputs))?;
        Ok(Conv1d { filter, settings })
    }

    /// The same without bias.
    pub fn without_bias(mut self) -> Self {
        self.filter.bias = None;
        self
    }
}

impl Module for Conv1d {
    fn describe(&self) -> String {
        let shape = self.filter.weight.value().shape();
        let (inputs, outputs) = (shape[1] * self.settings.groups, shape[0]);
        let (kernel, settings) = (self.filter.kernel(), unusual(&self.settings));
        format!("Conv1d({inputs} -> {outputs}, {kernel}{settings})")
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let (weight, bias) = self.filter.vars(cx);
        Ok(x.conv1d(&weight, bias.as_ref(), self.settings)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.filter.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.filter.visit_mut(visitor);
    }
}

/// A convolution over two axes: `[samples, in, height, width] -> [samples, out, ..]`; see
/// [`tensor::Tensor::conv2d`].
#[derive(Debug)]
pub struct Conv2d {
    filter: Filter,
    settings: ConvSettings<2>,
}

impl Conv2d {
    /// A layer with bias.
    ///
    /// # Errors
    /// A length of 0, or groups that do not divide the channels.
    pub fn new(
        init: &Init,
        [inputs, outputs]: [usize; 2],
        kernel: [usize; 2],
        settings: ConvSettings<2>,
    ) -> Result<Self> {
        let axes = checked([inputs, outputs], &kernel, settings.groups)?;
        let filter = Filter::new(init, axes, &kernel, settings.groups, Some(outputs))?;
        Ok(Conv2d { filter, settings })
    }

    /// The same without bias.
    pub fn without_bias(mut self) -> Self {
        self.filter.bias = None;
        self
    }
}

impl Module for Conv2d {
    fn describe(&self) -> String {
        let shape = self.filter.weight.value().shape();
        let (inputs, outputs) = (shape[1] * self.settings.groups, shape[0]);
        let (kernel, settings) = (self.filter.kernel(), unusual(&self.settings));
        format!("Conv2d({inputs} -> {outputs}, {kernel}{settings})")
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let (weight, bias) = self.filter.vars(cx);
        Ok(x.conv2d(&weight, bias.as_ref(), self.settings)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.filter.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.filter.visit_mut(visitor);
    }
}

/// A transposed convolution over two axes; see [`tensor::Tensor::conv_transpose2d`].
#[derive(Debug)]
pub struct ConvTranspose2d {
    filter: Filter,
    settings: ConvSettings<2>,
    output_padding: [usize; 2],
}

impl ConvTranspose2d {
    /// A layer with bias, without output padding.
    ///
    /// # Errors
    /// A length of 0, or groups that do not divide the channels.
    pub fn new(
        init: &Init,
        [inputs, outputs]: [usize; 2],
        kernel: [usize; 2],
        settings: ConvSettings<2>,
    ) -> Result<Self> {
        let [outputs, inputs] = checked([inputs, outputs], &kernel, settings.groups)?;
        let axes = [inputs, outputs];
        let filter = Filter::new(init, axes, &kernel, settings.groups, Some(outputs))?;
        Ok(ConvTranspose2d { filter, settings, output_padding: [0; 2] })
    }

    /// The same without bias.
    pub fn without_bias(mut self) -> Self {
        self.filter.bias = None;
        self
    }

    /// The same with this many rows and columns more at the end of the output.
    pub fn output_padding(mut self, output_padding: [usize; 2]) -> Self {
        self.output_padding = output_padding;
        self
    }
}

impl Module for ConvTranspose2d {
    fn describe(&self) -> String {
        let shape = self.filter.weight.value().shape();
        let (inputs, outputs) = (shape[0], shape[1] * self.settings.groups);
        let (kernel, settings) = (self.filter.kernel(), unusual(&self.settings));
        format!("ConvTranspose2d({inputs} -> {outputs}, {kernel}{settings})")
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let (weight, bias) = self.filter.vars(cx);
        Ok(x.conv_transpose2d(&weight, bias.as_ref(), self.settings, self.output_padding)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.filter.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.filter.visit_mut(visitor);
    }
}

/// `[outputs, inputs]`, when the groups divide both.
fn checked([inputs, outputs]: [usize; 2], kernel: &[usize], groups: usize) -> Result<[usize; 2]> {
    if groups == 0 || outputs % groups != 0 || inputs % groups != 0 {
        let axes = [outputs, inputs];
        return Err(Error::Convolution { axes, kernel: kernel.to_vec(), groups });
    }
    Ok([outputs, inputs])
}
