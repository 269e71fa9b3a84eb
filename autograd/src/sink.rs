//! Hop 3 of a gradient's life: its last contribution has arrived, it is final, and it is emitted.
//! `backward.rs` calls; `dist` implements [`Sink`] to put the gradient into a bucket.

use std::error::Error as StdError;
use std::sync::Arc;

use tensor::{DType, Device, Shape, Tensor, TensorMut};

use crate::error::Result;
use crate::node::Node;
use crate::var::LeafId;

/// Receives each leaf's gradient the moment it is final.
pub trait Sink {
    /// Takes the gradient of `leaf`, once for each leaf that the loss depends on. The order is a
    /// function of the graph alone, so ranks that build the same graph emit in the same order.
    ///
    /// # Errors
    /// Any reason to stop the backward; it comes back as [`crate::Error::Sink`].
    fn emit(
        &mut self,
        leaf: LeafId,
        gradient: Gradient<'_>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>>;
}

/// A final gradient, perhaps not computed yet: its receiver says where it shall be written.
pub struct Gradient<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) leaf: &'a Arc<Node>,
    pub(crate) device: Device,
}

/// Writes a result into a place of the receiver's choice.
pub(crate) type Write<'a> = &'a mut dyn FnMut(&mut TensorMut<'_>) -> tensor::Result<()>;

pub(crate) enum Source<'a> {
    /// A tensor that exists: several contributions were added, or the vjp made one.
    Ready(Tensor),
    /// The only contribution, which the vjp writes when it is told where.
    Write(Write<'a>),
}

impl Gradient<'_> {
    /// The leaf's shape.
    pub fn shape(&self) -> &Shape {
        &self.leaf.shape
    }

    /// The leaf's element type.
    pub fn dtype(&self) -> DType {
        self.leaf.dtype
    }

    /// Writes the gradient into `out`, which has its shape and type.
    ///
    /// # Errors
    /// A place that does not fit, or a refused operation inside the vjp.
    pub fn write_into(self, out: &mut TensorMut<'_>) -> tensor::Result<()> {
        match self.source {
            Source::Ready(gradient) => out.copy_from(&gradient),
            Source::Write(write) => write(out),
        }
    }

    /// The gradient as a tensor of its own.
    ///
    /// # Errors
    /// A refused operation inside the vjp.
    pub fn into_tensor(self) -> tensor::Result<Tensor> {
        match self.source {
            Source::Ready(gradient) => Ok(gradient),
            Source::Write(write) => written(&self.device, self.leaf, write),
        }
    }
}

/// What errors call a gradient that gets memory of its own.
const OP: &str = "backward";

/// A new tensor of the shape and type of `node`'s value, which `write` fills.
pub(crate) fn written(device: &Device, node: &Node, write: Write<'_>) -> tensor::Result<Tensor> {
    match node.dtype {
        DType::F32 => written_as::<f32>(device, node.shape, write),
        DType::F64 => written_as::<f64>(device, node.shape, write),
        found => Err(tensor::Error::DType { op: OP, found, wanted: "f32 or f64" }),
    }
}

fn written_as<T: tensor::Differentiable>(
    device: &Device,
    shape: Shape,
    write: Write<'_>,
) -> tensor::Result<Tensor> {
    let mut done = Ok(());
    let gradient = Tensor::filled::<T>(OP, device, shape, |out| {
        done = TensorMut::new(out, shape).and_then(|mut out| write(&mut out));
    })?;
    done.map(|()| gradient)
}
