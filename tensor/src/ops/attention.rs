//! Scaled dot-product attention over heads.

use kernels::DType;
use kernels::attention::{Gradients, Place, Saved, Seen, attention, attention_vjp};

use super::cast::in_f32;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const OP: &str = "attention";
const SELF: &str = "self_attention";
const VJP: &str = "attention_vjp";

/// What queries may see.
///
/// ```
/// use ringgrad_tensor::AttentionSettings;
/// let causal = AttentionSettings { causal: true, ..Default::default() };
/// assert!(causal.key_mask.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct AttentionSettings {
    /// Query i sees the keys up to i, and none after.
    pub causal: bool,
    /// `[b, lk]` of u8: 0 for a key that no query sees, such as padding.
    pub key_mask: Option<Tensor>,
}

/// What the derivative of an attention is computed from: its operands and its softmax.
#[derive(Clone, Debug)]
pub struct Attention {
    operands: [Tensor; 3],
    probs: Tensor,
    settings: AttentionSettings,
}

impl Tensor {
    /// Scaled dot-product attention `softmax(q · kᵀ / √d) · v` of these queries `[b, h, lq, d]`
    /// over keys and values `[b, h, lk, d]`: `[b, h, lq, d]` (Vaswani et al. 2017, "Attention is
    /// all you need", eq. 1). A query that sees no key has the output 0. The operands are read
    /// through their strides; the result is a view of `[b, lq, h, d]` in row-major order.
    ///
    /// # Errors
    /// Shapes that do not fit, other types than one float, a mask that is not u8 `[b, lk]`, or no
    /// memory.
    pub fn attention(
        &self,
        k: &Tensor,
        v: &Tensor,
        settings: &AttentionSettings,
    ) -> Result<Tensor> {
        if [self, k, v].iter().any(|x| x.dtype().is_half()) {
            return in_f32([self, k, v], |[q, k, v]| q.attention(k, v, settings));
        }
        Ok(Attention::of([self, k, v], settings)?.0)
    }

    /// Attention within a sequence: `[b, l, 3·h·d] -> [b, l, h·d]`. Each position brings its
    /// query, then its key, then its value, each with the heads side by side.
    ///
    /// # Errors
    /// As [`Tensor::attention`], or a last axis that is not three times `heads` equal parts.
    pub fn self_attention(&self, heads: usize, settings: &AttentionSettings) -> Result<Tensor> {
        if self.dtype().is_half() {
            return in_f32([self], |[x]| x.self_attention(heads, settings));
        }
        Ok(Attention::within(self, heads, settings)?.0)
    }
}

impl Attention {
    /// [`Tensor::attention`] of f32 or f64, and what its derivative needs.
    ///
    /// # Errors
    /// As there.
    pub fn of(operands: [&Tensor; 3], settings: &AttentionSettings) -> Result<(Tensor, Self)> {
        check(operands, settings)?;
        match operands[0].dtype() {
            DType::F32 => forward::<f32>(operands, settings),
            DType::F64 => forward::<f64>(operands, settings),
            found => Err(Error::DType { op: OP, found, wanted: "floats" }),
        }
    }

    /// [`Tensor::self_attention`] of f32 or f64, and what its derivative needs.
    ///
    /// # Errors
    /// As there.
    pub fn within(
        x: &Tensor,
        heads: usize,
        settings: &AttentionSettings,
    ) -> Result<(Tensor, Self)> {
        let shape = *x.shape();
        let rule = "a sequence is [b, l, 3·h·d]: queries, keys and values of all heads; give the \
                    number of heads that its last axis was made for";
        let fits = shape.ndim() == 3 && heads > 0 && shape[2].is_multiple_of(3 * heads);
        if !fits {
            return Err(Error::Shape { op: SELF, shape, rule });
        }
        let [b, l, d] = [shape[0], shape[1], shape[2] / (3 * heads)];
        let parts = x.reshape(&[b, l, 3, heads, d])?.permute(&[2, 0, 3, 1, 4])?;
        let [q, k, v] = [parts.select(0, 0)?, parts.select(0, 1)?, parts.select(0, 2)?];
        let (y, saved) = Attention::of([&q, &k, &v], settings)?;
        Ok((y.permute(&[0, 2, 1, 3])?.reshape(&[b, l, heads * d])?, saved))
    }

    /// q, k and v.
    pub fn operands(&self) -> &[Tensor; 3] {
        &self.operands
    }

    /// Which pairs of queries and keys see each other.
    pub fn settings(&self) -> &AttentionSettings {
        &self.settings
    }

    /// The derivative with respect to q, k and v, times `dout` of the output's shape; `None` for
    /// those that are not wanted.
    ///
    /// # Errors
    /// A `dout` of another shape or type, or no memory.
    pub fn vjp(&self, dout: &Tensor, wanted: [bool; 3]) -> Result<[Option<Tensor>; 3]> {
        match dout.dtype() {
            DType::F32 => self.backward::<f32>(dout, wanted),
            DType::F64 => self.backward::<f64>(dout, wanted),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// The derivative of [`Attention::within`], times `dout` of `[b, l, h·d]`: in one piece.
    ///
    /// # Errors
    /// As [`Attention::vjp`].
    pub fn within_vjp(&self, dout: &Tensor) -> Result<Tensor> {
        let shape = self.operands[0].shape();
        let [b, heads, l, d] = [0, 1, 2, 3].map(|axis| shape[axis]);
        let dout = dout.reshape(&[b, l, heads, d])?.permute(&[0, 2, 1, 3])?;
        match dout.dtype() {
            DType::F32 => self.backward_within::<f32>(&dout),
            DType::F64 => self.backward_within::<f64>(&dout),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }

    /// What the kernel reads; the shapes fit.
    fn saved<'a, T: Differentiable>(&'a self, dout: &'a Tensor) -> Result<Saved<'a, T>> {
        let [q, k, v] = &self.operands;
        if dout.shape() != q.shape() {
            let rule = "the gradient has the shape of the output, which is that of the queries";
            let (left, right) = (*q.shape(), *dout.shape());
            return Err(Error::Shapes { op: VJP, left, right, rule });
        }
        Ok(Saved {
            operands: [q.strided(VJP)?, k.strided(VJP)?, v.strided(VJP)?],
            probs: self.probs.typed(VJP)?,
            dout: dout.strided(VJP)?,
            causal: self.settings.causal,
        })
    }

    fn backward<T: Differentiable>(
        &self,
        dout: &Tensor,
        wanted: [bool; 3],
    ) -> Result<[Option<Tensor>; 3]> {
        let saved = self.saved::<T>(dout)?;
        let [q, k, v] = &self.operands;
        let place =
            |slice: usize, x: &Tensor| Place { slice, offset: 0, row: x.shape()[1] * x.shape()[3] };
        let places = [(0, q), (1, k), (2, v)].map(|(i, x)| wanted[i].then(|| place(i, x)));
        // An unwanted gradient takes no memory.
        let mut shapes = [Shape::new(VJP, &[0])?; 3];
        for ((shape, x), wanted) in shapes.iter_mut().zip(&self.operands).zip(wanted) {
            if wanted {
                *shape = x.shape().permuted_heads(VJP)?;
            }
        }
        let grads = Tensor::filled_triple::<T>(VJP, q.device(), shapes, |slices| {
            self.fill(saved, Gradients { slices, places });
        })?;
        let mut all = [None, None, None];
        for ((out, grad), wanted) in all.iter_mut().zip(grads).zip(wanted) {
            if wanted {
                *out = Some(grad.permute(&[0, 2, 1, 3])?);
            }
        }
        Ok(all)
    }

    fn backward_within<T: Differentiable>(&self, dout: &Tensor) -> Result<Tensor> {
        let saved = self.saved::<T>(dout)?;
        let shape = self.operands[0].shape();
        let [b, heads, l, d] = [0, 1, 2, 3].map(|axis| shape[axis]);
        let width = heads * d;
        let place = |i| Some(Place { slice: 0, offset: i * width, row: 3 * width });
        let places = [place(0), place(1), place(2)];
        let shape = Shape::new(VJP, &[b, l, 3 * width])?;
        Tensor::computed::<T>(VJP, dout.device(), shape, |out| {
            self.fill(saved, Gradients { slices: [out, &mut [], &mut []], places });
        })
    }

    /// Without a pair of a query and a key, nothing depends on anything.
    fn fill<T: Differentiable>(&self, saved: Saved<'_, T>, grads: Gradients<'_, T>) {
        if saved.dout.numel() == 0 || self.probs.numel() == 0 {
            grads.slices.into_iter().for_each(|slice| slice.fill(T::ZERO));
        } else {
            attention_vjp(self.probs.device().threads(), saved, grads);
        }
    }
}

fn check([q, k, v]: [&Tensor; 3], settings: &AttentionSettings) -> Result<()> {
    for (x, y) in [(q, k), (k, v)] {
        let (left, right) = (*x.shape(), *y.shape());
        let one = left.ndim() == 4 && right.ndim() == 4;
        let axes: &[usize] = if std::ptr::eq(x, q) { &[0, 1, 3] } else { &[0, 1, 2, 3] };
        if !one || axes.iter().any(|&axis| left[axis] != right[axis]) {
            let rule = "queries are [b, h, lq, d], keys and values [b, h, lk, d]";
            return Err(Error::Shapes { op: OP, left, right, rule });
        }
        if x.dtype() != y.dtype() {
            return Err(Error::DTypes { op: OP, left: x.dtype(), right: y.dtype() });
        }
    }
    let Some(mask) = &settings.key_mask else { return Ok(()) };
    if mask.dtype() != DType::U8 {
        let wanted = "a mask of type u8";
        return Err(Error::DType { op: OP, found: mask.dtype(), wanted });
    }
    let (left, right) = (*k.shape(), *mask.shape());
    if right[..] != [left[0], left[2]] {
        let rule = "a mask of keys is [b, lk], b and lk being axes 0 and 2 of the keys";
        return Err(Error::Shapes { op: OP, left, right, rule });
    }
    Ok(())
}

fn forward<T: Differentiable>(
    operands: [&Tensor; 3],
    settings: &AttentionSettings,
) -> Result<(Tensor, Attention)> {
    let [q, k, v] = operands;
    let shape = q.shape();
    let pairs = Shape::new(OP, &[shape[0], shape[1], shape[2], k.shape()[2]])?;
    let shapes = [shape.permuted_heads(OP)?, pairs];
    let views = [q.strided::<T>(OP)?, k.strided(OP)?, v.strided(OP)?];
    let mask = settings.key_mask.as_ref().map(|mask| mask.contiguous_for(OP)).transpose()?;
    let mask = mask.as_ref().map(|mask| mask.typed::<u8>(OP)).transpose()?;
    let seen = Seen { causal: settings.causal, mask };
    let (y, probs) = Tensor::filled_pair(OP, q.device(), shapes, |out, probs| {
        attention(q.device().threads(), views, seen, [out, probs]);
    })?;
    let operands = operands.map(Tensor::clone);
    let saved = Attention { operands, probs, settings: settings.clone() };
    Ok((y.permute(&[0, 2, 1, 3])?, saved))
}

impl Shape {
    /// `[b, l, h, d]` of `[b, h, l, d]`: how a layer puts its heads side by side.
    fn permuted_heads(&self, op: &'static str) -> Result<Shape> {
        Shape::new(op, &[self[0], self[2], self[1], self[3]])
    }
}
