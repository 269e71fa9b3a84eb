//! Convolutions over one or two spatial axes, transposed ones, and the gradients of both.

use kernels::DType;
use kernels::conv::{Conv, channel_sums, conv, conv_input, conv_weight};

use super::cast::in_f32;
use super::window::{Window, sliding, spatial, with_plane};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::{Differentiable, TensorMut};

/// How a convolution over `N` spatial axes moves, and which channels see each other.
///
/// ```
/// use ringgrad_tensor::ConvSettings;
/// let halving = ConvSettings { stride: [2, 2], padding: [1, 1], ..Default::default() };
/// assert_eq!((halving.dilation, halving.groups), ([1, 1], 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvSettings<const N: usize> {
    /// Inputs between one output's window and the next one's.
    pub stride: [usize; N],
    /// Zeros added at both ends of each axis.
    pub padding: [usize; N],
    /// Inputs between neighbouring places of the kernel.
    pub dilation: [usize; N],
    /// Into how many groups the channels fall; each is a convolution of its own.
    pub groups: usize,
}

impl<const N: usize> Default for ConvSettings<N> {
    fn default() -> Self {
        ConvSettings { stride: [1; N], padding: [0; N], dilation: [1; N], groups: 1 }
    }
}

/// One convolution of fixed shapes: the form `Σ w · x · y` over all weights w, and the inputs x and
/// outputs y that they connect. Its three derivatives are the convolution
/// ([`Convolution::output`]), the transposed one ([`Convolution::input`]) and the gradient of the
/// weight ([`Convolution::weight`]); each one's gradients are the other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    op: &'static str,
    conv: Conv,
    shapes: [Shape; 3],
}

impl Convolution {
    /// The convolution of an input `[samples, channels, ..]` by a weight `[outputs, channels /
    /// groups, kernel ..]`; `op` is what errors call it.
    ///
    /// # Errors
    /// Shapes or settings that do not fit.
    pub fn new<const N: usize>(
        op: &'static str,
        x: &Shape,
        w: &Shape,
        settings: ConvSettings<N>,
    ) -> Result<Self> {
        let mismatch = |rule| Err(Error::Shapes { op, left: *x, right: *w, rule });
        spatial::<N>(op, x)?;
        let kernel = kernel_of::<N>(op, x, w)?;
        let (channels, outputs, groups) = (x[1], w[0], settings.groups);
        if groups == 0 || channels % groups != 0 || outputs % groups != 0 {
            return mismatch("the groups must divide the channels of the input and of the output");
        }
        if w[1] != channels / groups {
            return mismatch("axis 1 of the weight must be the input's channels divided by groups");
        }
        let ConvSettings { stride, padding, dilation, .. } = settings;
        let sliding = sliding(op, x, Window { kernel, stride, padding, dilation }, *w)?;
        let (inputs, outputs_each) = (w[1], outputs / groups);
        let conv = Conv { batch: x[0], groups, inputs, outputs: outputs_each, sliding };
        let y = with_plane(
            op,
            &Shape::new(op, &[&[x[0], outputs], &x[2..]].concat())?,
            sliding.output(),
        )?;
        Ok(Convolution { op, conv, shapes: [*x, *w, y] })
    }

    /// The convolution whose output is y `[samples, channels, ..]`, by a weight `[channels, inputs
    /// / groups, kernel ..]`. Of the inputs that have this output the shortest, with
    /// `output_padding` more at the end.
    ///
    /// # Errors
    /// Shapes or settings that do not fit.
    pub fn transposed<const N: usize>(
        op: &'static str,
        y: &Shape,
        w: &Shape,
        settings: ConvSettings<N>,
        output_padding: [usize; N],
    ) -> Result<Self> {
        let mismatch = |rule| Err(Error::Shapes { op, left: *y, right: *w, rule });
        let lens = spatial::<N>(op, y)?;
        let kernel = kernel_of::<N>(op, y, w)?;
        let ConvSettings { stride, padding, dilation, groups } = settings;
        if y[1] != w[0] {
            return mismatch("axis 0 of the weight must be the channels of the input");
        }
        if groups == 0 || !y[1].is_multiple_of(groups) {
            return mismatch("the groups must divide the channels of the input");
        }
        let mut shape = vec![y[0], w[1].saturating_mul(groups)];
        for axis in 0..N {
            if output_padding[axis] >= stride[axis].max(dilation[axis]) {
                return mismatch("the output padding is less than the stride or the dilation");
            }
            // (y − 1) · stride − 2 · padding + dilation · (kernel − 1) + 1 + output padding
            let last = (lens[axis] - 1).checked_mul(stride[axis]);
            let extent = (kernel[axis] - 1).checked_mul(dilation[axis]);
            let full = last.zip(extent).and_then(|(a, b)| a.checked_add(b)?.checked_add(1));
            let full = full.and_then(|full| full.checked_add(output_padding[axis]));
            let len = full.zip(padding[axis].checked_mul(2)).and_then(|(a, b)| a.checked_sub(b));
            match len {
                Some(len) if len > 0 => shape.push(len),
                _ => return mismatch("twice the padding must leave something of the output"),
            }
        }
        let x = Shape::new(op, &shape)?;
        let form = Convolution::new(op, &x, w, settings)?;
        if form.shapes[2] != *y {
            return mismatch("the output padding is less than the stride");
        }
        Ok(form)
    }

    /// The shapes of x, w and y.
    pub fn shapes(&self) -> &[Shape; 3] {
        &self.shapes
    }

    /// y from x, w and a bias for each output channel.
    ///
    /// # Errors
    /// Operands of other shapes than this convolution's, of two types or of integers; no memory.
    pub fn output(&self, x: &Tensor, w: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        self.computed([0, 1, 2], [x, w], bias)
    }

    /// x from w, y and a bias for each input channel.
    ///
    /// # Errors
    /// As [`Convolution::output`].
    pub fn input(&self, w: &Tensor, y: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        self.computed([1, 2, 0], [w, y], bias)
    }

    /// w from x and y.
    ///
    /// # Errors
    /// As [`Convolution::output`].
    pub fn weight(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.computed([0, 2, 1], [x, y], None)
    }

    /// [`Convolution::weight`], written into `out`.
    ///
    /// # Errors
    /// As there, and a destination of another shape or type.
    pub fn weight_into(&self, x: &Tensor, y: &Tensor, out: &mut TensorMut<'_>) -> Result<()> {
        let [x, y] = self.checked([0, 2], [x, y])?;
        match x.dtype() {
            DType::F32 => self.weight_typed::<f32>(&x, &y, out.typed(self.op, &self.shapes[1])?),
            DType::F64 => self.weight_typed::<f64>(&x, &y, out.typed(self.op, &self.shapes[1])?),
            found => Err(Error::DType { op: self.op, found, wanted: "f32 or f64" }),
        }
    }

    /// `roles` names the two operands and the result among x, w and y.
    fn computed(
        &self,
        [first, second, result]: [usize; 3],
        operands: [&Tensor; 2],
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        let [a, b] = operands;
        let half = |x: &Tensor| x.dtype().is_half();
        if half(a) || half(b) || bias.is_some_and(half) {
            let roles = [first, second, result];
            return match bias {
                Some(c) => in_f32([a, b, c], |[a, b, c]| self.computed(roles, [a, b], Some(c))),
                None => in_f32([a, b], |[a, b]| self.computed(roles, [a, b], None)),
            };
        }
        let [a, b] = self.checked([first, second], [a, b])?;
        let bias = bias.map(|bias| self.checked_bias(bias, &a, result)).transpose()?;
        match a.dtype() {
            DType::F32 => self.typed::<f32>([&a, &b], bias.as_ref(), result),
            DType::F64 => self.typed::<f64>([&a, &b], bias.as_ref(), result),
            found => Err(Error::DType { op: self.op, found, wanted: "floats" }),
        }
    }

    /// The operands in row-major order, of this convolution's shapes and of one type.
    fn checked(&self, roles: [usize; 2], [a, b]: [&Tensor; 2]) -> Result<[Tensor; 2]> {
        let op = self.op;
        for (role, operand) in roles.into_iter().zip([a, b]) {
            let (left, right) = (self.shapes[role], *operand.shape());
            if left != right {
                let rule = "the operand must have the shape that the convolution was made for";
                return Err(Error::Shapes { op, left, right, rule });
            }
        }
        if a.dtype() != b.dtype() {
            return Err(Error::DTypes { op, left: a.dtype(), right: b.dtype() });
        }
        Ok([a.contiguous_for(op)?, b.contiguous_for(op)?])
    }

    fn checked_bias(&self, bias: &Tensor, operand: &Tensor, result: usize) -> Result<Tensor> {
        let (op, left, right) = (self.op, self.shapes[1], *bias.shape());
        if right[..] != self.shapes[result][1..2] {
            let rule = "the bias is one number for each output channel";
            return Err(Error::Shapes { op, left, right, rule });
        }
        if bias.dtype() != operand.dtype() {
            return Err(Error::DTypes { op, left: operand.dtype(), right: bias.dtype() });
        }
        bias.contiguous_for(op)
    }

    fn typed<T: Differentiable>(
        &self,
        [a, b]: [&Tensor; 2],
        bias: Option<&Tensor>,
        result: usize,
    ) -> Result<Tensor> {
        let (op, device, threads) = (self.op, a.device(), a.device().threads());
        let operands = [a.typed::<T>(op)?, b.typed::<T>(op)?];
        let bias = bias.map(|bias| bias.typed::<T>(op)).transpose()?;
        let shapes = [self.scratch(a)?, self.shapes[result]];
        let (_, out) = Tensor::filled_pair(op, device, shapes, |scratch, out| {
            let buffers = [scratch, out];
            match result {
                0 => conv_input(threads, &self.conv, operands, bias, buffers),
                1 => conv_weight(threads, &self.conv, operands, buffers),
                _ => conv(threads, &self.conv, operands, bias, buffers),
            }
        })?;
        Ok(out)
    }

    fn weight_typed<T: Differentiable>(&self, x: &Tensor, y: &Tensor, w: &mut [T]) -> Result<()> {
        let (op, device) = (self.op, x.device());
        let operands = [x.typed::<T>(op)?, y.typed::<T>(op)?];
        let threads = device.threads();
        Tensor::filled(op, device, self.scratch(x)?, |scratch| {
            conv_weight(threads, &self.conv, operands, [scratch, w]);
        })?;
        Ok(())
    }

    /// Memory that a kernel works in; it comes from the device's pool and goes back to it.
    fn scratch(&self, like: &Tensor) -> Result<Shape> {
        Shape::new(self.op, &[self.conv.scratch_len(like.device().threads())])
    }
}

/// The kernel's lengths of a weight, which has an element.
fn kernel_of<const N: usize>(op: &'static str, x: &Shape, w: &Shape) -> Result<[usize; N]> {
    if w.ndim() != N + 2 || w.contains(&0) {
        let rule = "a weight is [channels, channels / groups, kernel ..], no length 0, with as \
                    many axes as the input";
        return Err(Error::Shapes { op, left: *x, right: *w, rule });
    }
    let mut kernel = [0; N];
    kernel.copy_from_slice(&w[2..]);
    Ok(kernel)
}

impl Tensor {
    /// The convolution (cross-correlation) of `[samples, in, length]` by a weight `[out, in /
    /// groups, kernel]`, plus a bias `[out]`: `[samples, out, outputs]` with `outputs = (length +
    /// 2 · padding − dilation · (kernel − 1) − 1) / stride + 1`, rounded down.
    ///
    /// Padding counts as 0 and is multiplied: by an infinite weight it gives NaN. Halves are
    /// widened to f32 and rounded once.
    ///
    /// # Errors
    /// Shapes or settings that do not fit, two element types, integers, or no memory.
    pub fn conv1d(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        settings: ConvSettings<1>,
    ) -> Result<Tensor> {
        let form = Convolution::new("conv1d", self.shape(), weight.shape(), settings)?;
        form.output(self, weight, bias)
    }

    /// [`Tensor::conv1d`] over two axes: `[samples, in, height, width]` by `[out, in / groups,
    /// kernel height, kernel width]`.
    ///
    /// # Errors
    /// As there.
    pub fn conv2d(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        settings: ConvSettings<2>,
    ) -> Result<Tensor> {
        let form = Convolution::new("conv2d", self.shape(), weight.shape(), settings)?;
        form.output(self, weight, bias)
    }

    /// The transposed convolution of `[samples, in, length]` by a weight `[in, out / groups,
    /// kernel]`, plus a bias `[out]`: the gradient of a convolution with these settings with
    /// respect to its input. Its length is `(length − 1) · stride − 2 · padding + dilation ·
    /// (kernel − 1) + 1 + output_padding`.
    ///
    /// # Errors
    /// As [`Tensor::conv1d`].
    pub fn conv_transpose1d(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        settings: ConvSettings<1>,
        output_padding: [usize; 1],
    ) -> Result<Tensor> {
        let (op, shape) = ("conv_transpose1d", self.shape());
        let form = Convolution::transposed(op, shape, weight.shape(), settings, output_padding)?;
        form.input(weight, self, bias)
    }

    /// [`Tensor::conv_transpose1d`] over two axes.
    ///
    /// # Errors
    /// As [`Tensor::conv1d`].
    pub fn conv_transpose2d(
        &self,
        weight: &Tensor,
        bias: Option<&Tensor>,
        settings: ConvSettings<2>,
        output_padding: [usize; 2],
    ) -> Result<Tensor> {
        let (op, shape) = ("conv_transpose2d", self.shape());
        let form = Convolution::transposed(op, shape, weight.shape(), settings, output_padding)?;
        form.input(weight, self, bias)
    }

    /// The sums of the channels of `[samples, channels, ..]`, written into `out` `[channels]`: the
    /// gradient of a convolution's bias.
    ///
    /// # Errors
    /// Fewer than two axes, elements that are not f32 or f64, or a destination of another shape
    /// or type.
    pub fn sum_channels_into(&self, out: &mut TensorMut<'_>) -> Result<()> {
        let op = "sum_channels_into";
        if self.ndim() < 2 {
            let rule = "[samples, channels, ..] is needed: reshape first";
            return Err(Error::Shape { op, shape: *self.shape(), rule });
        }
        let x = self.contiguous_for(op)?;
        let sizes = [x.shape()[0], x.shape()[1], x.shape()[2..].iter().product()];
        let shape = Shape::new(op, &sizes[1..2])?;
        match x.dtype() {
            DType::F32 => channel_sums(x.typed::<f32>(op)?, sizes, out.typed(op, &shape)?),
            DType::F64 => channel_sums(x.typed::<f64>(op)?, sizes, out.typed(op, &shape)?),
            found => return Err(Error::DType { op, found, wanted: "f32 or f64" }),
        }
        Ok(())
    }
}
