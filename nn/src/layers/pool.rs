//! Layers without parameters that change the size of planes.

use autograd::Var;
use tensor::{Sampling, Window};

use crate::context::Context;
use crate::error::Result;
use crate::module::Module;
use crate::parameter::Parameter;

/// The largest element of each window; see [`tensor::Tensor::max_pool2d`].
#[derive(Clone, Copy, Debug)]
pub struct MaxPool2d {
    window: Window<2>,
}

impl MaxPool2d {
    /// A pool with this window: `MaxPool2d::new(Window::new([2, 2]))`.
    pub fn new(window: Window<2>) -> Self {
        MaxPool2d { window }
    }
}

impl Module for MaxPool2d {
    fn describe(&self) -> String {
        format!("MaxPool2d({})", described(&self.window))
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        Ok(x.max_pool2d(self.window)?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}

/// The mean of each window, padding counted as zeros; see [`tensor::Tensor::avg_pool2d`].
#[derive(Clone, Copy, Debug)]
pub struct AvgPool2d {
    window: Window<2>,
    count_padding: bool,
}

impl AvgPool2d {
    /// A pool with this window.
    pub fn new(window: Window<2>) -> Self {
        AvgPool2d { window, count_padding: true }
    }

    /// The same with padding left out of the mean.
    pub fn without_padding_in_the_mean(mut self) -> Self {
        self.count_padding = false;
        self
    }
}

impl Module for AvgPool2d {
    fn describe(&self) -> String {
        format!("AvgPool2d({})", described(&self.window))
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        Ok(x.avg_pool2d(self.window, self.count_padding)?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}

fn described(window: &Window<2>) -> String {
    let Window { kernel, stride, padding, dilation } = *window;
    let mut text = format!("{}x{}", kernel[0], kernel[1]);
    for (name, value, usual) in
        [("stride", stride, kernel), ("padding", padding, [0; 2]), ("dilation", dilation, [1; 2])]
    {
        if value != usual {
            text += &format!(", {name} {value:?}");
        }
    }
    text
}

/// Means over a fixed number of regions; see [`tensor::Tensor::adaptive_avg_pool2d`].
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveAvgPool2d {
    output: [usize; 2],
}

impl AdaptiveAvgPool2d {
    /// A pool to `[height, width]`; `[1, 1]` is the mean of each plane.
    pub fn new(output: [usize; 2]) -> Self {
        AdaptiveAvgPool2d { output }
    }
}

impl Module for AdaptiveAvgPool2d {
    fn describe(&self) -> String {
        format!("AdaptiveAvgPool2d({}x{})", self.output[0], self.output[1])
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        Ok(x.adaptive_avg_pool2d(self.output)?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}

/// Planes in another size; see [`tensor::Tensor::upsample_nearest2d`] and
/// [`tensor::Tensor::upsample_bilinear2d`].
#[derive(Clone, Copy, Debug)]
pub struct Upsample {
    size: Size,
    sampling: Sampling,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Times([usize; 2]),
    To([usize; 2]),
}

impl Upsample {
    /// To `factors` times the height and the width.
    pub fn by(factors: [usize; 2], sampling: Sampling) -> Self {
        Upsample { size: Size::Times(factors), sampling }
    }

    /// To `[height, width]`.
    pub fn to(size: [usize; 2], sampling: Sampling) -> Self {
        Upsample { size: Size::To(size), sampling }
    }
}

impl Module for Upsample {
    fn describe(&self) -> String {
        let size = match self.size {
            Size::Times([rows, columns]) => format!("times {rows}x{columns}"),
            Size::To([rows, columns]) => format!("to {rows}x{columns}"),
        };
        let sampling = match self.sampling {
            Sampling::Nearest => "nearest",
            Sampling::Bilinear { align_corners: false } => "bilinear",
            Sampling::Bilinear { align_corners: true } => "bilinear, corners aligned",
        };
        format!("Upsample({size}, {sampling})")
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        let output = match (self.size, &x.value().shape()[..]) {
            (Size::Times(factors), &[_, _, height, width]) => {
                [height.saturating_mul(factors[0]), width.saturating_mul(factors[1])]
            }
            // An input without a plane is refused whatever the size.
            (Size::Times(output) | Size::To(output), _) => output,
        };
        Ok(match self.sampling {
            Sampling::Nearest => x.upsample_nearest2d(output)?,
            Sampling::Bilinear { align_corners } => x.upsample_bilinear2d(output, align_corners)?,
        })
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}

/// `[samples, ..] -> [samples, elements]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flatten;

impl Module for Flatten {
    fn describe(&self) -> String {
        "Flatten".to_owned()
    }

    fn forward(&self, _: &Context, x: &Var) -> Result<Var> {
        let shape = x.value().shape();
        let (samples, rest) =
            shape.split_first().map_or((1, 1), |(&n, rest)| (n, rest.iter().product()));
        Ok(x.reshape(&[samples, rest])?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}
