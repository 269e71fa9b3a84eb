//! The tensor: a shared buffer seen through a layout.

use std::fmt;
use std::sync::Arc;

use kernels::{DType, Strided};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::storage::{Storage, Stored};

/// An n-dimensional array. Immutable while it is shared; cloning and viewing copy no elements.
///
/// Every operation returns a new tensor or an error that quotes the operation, the shapes and
/// the rule; none panics.
///
/// ```
/// use ringgrad_tensor::{Device, Tensor};
/// # fn main() -> Result<(), ringgrad_tensor::Error> {
/// let device = Device::cpu();
/// let x = Tensor::from_vec(&device, vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
/// let mean = (&x.sum(1, true)? / &Tensor::scalar(&device, 3.0f32))?;
/// assert_eq!(mean.to_vec::<f32>()?, [2.0, 5.0]);
/// assert_eq!(x.transpose(0, 1)?.shape()[..], [3, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tensor {
    storage: Arc<Storage>,
    layout: Layout,
}

impl Tensor {
    /// The elements of `values` in row-major order. The buffer is taken over, not copied.
    ///
    /// # Errors
    /// When `shape` does not hold exactly `values.len()` elements.
    pub fn from_vec<T: Stored>(device: &Device, values: Vec<T>, shape: &[usize]) -> Result<Self> {
        let op = "from_vec";
        let shape = Shape::new(op, shape)?;
        if shape.numel() != values.len() {
            return Err(Error::Count { op, len: values.len(), shape });
        }
        Ok(Tensor::from_storage(Storage::adopt(device, values), shape))
    }

    /// A copy of `values` in row-major order.
    ///
    /// # Errors
    /// When `shape` does not hold exactly `values.len()` elements.
    pub fn from_slice<T: Stored>(device: &Device, values: &[T], shape: &[usize]) -> Result<Self> {
        let op = "from_slice";
        let shape = Shape::new(op, shape)?;
        if shape.numel() != values.len() {
            return Err(Error::Count { op, len: values.len(), shape });
        }
        Tensor::filled(op, device, shape, |out| out.copy_from_slice(values))
    }

    /// One element without axes.
    pub fn scalar<T: Stored>(device: &Device, value: T) -> Self {
        Tensor::from_storage(Storage::adopt(device, vec![value]), Shape::SCALAR)
    }

    /// `value` everywhere.
    ///
    /// # Errors
    /// An impossible shape, or one too large for the memory.
    pub fn full<T: Stored>(device: &Device, value: T, shape: &[usize]) -> Result<Self> {
        Tensor::repeated("full", device, value, shape)
    }

    fn repeated<T: Stored>(
        op: &'static str,
        device: &Device,
        value: T,
        shape: &[usize],
    ) -> Result<Self> {
        Tensor::filled(op, device, Shape::new(op, shape)?, |out| out.fill(value))
    }

    /// Zeros of type `dtype`.
    ///
    /// # Errors
    /// An impossible shape, or one too large for the memory.
    pub fn zeros(device: &Device, dtype: DType, shape: &[usize]) -> Result<Self> {
        let op = "zeros";
        match dtype {
            DType::F16 => Tensor::repeated(op, device, half::f16::ZERO, shape),
            DType::BF16 => Tensor::repeated(op, device, half::bf16::ZERO, shape),
            DType::F32 => Tensor::repeated(op, device, 0.0f32, shape),
            DType::F64 => Tensor::repeated(op, device, 0.0f64, shape),
            DType::I64 => Tensor::repeated(op, device, 0i64, shape),
            DType::U8 => Tensor::repeated(op, device, 0u8, shape),
        }
    }

    /// A row-major tensor whose elements `fill` writes, all of them: the buffer comes with
    /// unspecified values. How an operation's result is made; `op` names it in the error.
    ///
    /// # Errors
    /// When the system has no memory of that size.
    pub fn filled<T: Stored>(
        op: &'static str,
        device: &Device,
        shape: Shape,
        fill: impl FnOnce(&mut [T]),
    ) -> Result<Self> {
        let mut buffer = taken(op, device, shape)?;
        fill(&mut buffer);
        Ok(Tensor::from_storage(Storage::taken(device, buffer), shape))
    }

    /// [`Tensor::filled`] by a kernel. An empty result needs none, and its other axes may be so
    /// long that a loop over them would not end.
    pub(crate) fn computed<T: Stored>(
        op: &'static str,
        device: &Device,
        shape: Shape,
        kernel: impl FnOnce(&mut [T]),
    ) -> Result<Self> {
        Tensor::filled(op, device, shape, |out| {
            if !out.is_empty() {
                kernel(out);
            }
        })
    }

    /// Two results of one kernel; see [`Tensor::filled`].
    pub(crate) fn filled_pair<T: Stored, U: Stored>(
        op: &'static str,
        device: &Device,
        shapes: [Shape; 2],
        fill: impl FnOnce(&mut [T], &mut [U]),
    ) -> Result<(Self, Self)> {
        // In a storage at once, so that the first goes back when there is no memory for the second.
        let mut first = Storage::taken(device, taken::<T>(op, device, shapes[0])?);
        let mut second = Storage::taken(device, taken::<U>(op, device, shapes[1])?);
        if let (Some(first), Some(second)) = (first.slice_mut(), second.slice_mut()) {
            fill(first, second);
        }
        Ok((Tensor::from_storage(first, shapes[0]), Tensor::from_storage(second, shapes[1])))
    }

    /// Three results of one kernel; see [`Tensor::filled`].
    pub(crate) fn filled_triple<T: Stored>(
        op: &'static str,
        device: &Device,
        shapes: [Shape; 3],
        fill: impl FnOnce([&mut [T]; 3]),
    ) -> Result<[Self; 3]> {
        let mut first = Storage::taken(device, taken::<T>(op, device, shapes[0])?);
        let mut second = Storage::taken(device, taken::<T>(op, device, shapes[1])?);
        let mut third = Storage::taken(device, taken::<T>(op, device, shapes[2])?);
        let slices = (first.slice_mut(), second.slice_mut(), third.slice_mut());
        if let (Some(first), Some(second), Some(third)) = slices {
            fill([first, second, third]);
        }
        let [x, y, z] = shapes;
        let tensor = Tensor::from_storage;
        Ok([tensor(first, x), tensor(second, y), tensor(third, z)])
    }

    /// `storage` holds exactly `shape.numel()` elements.
    fn from_storage(storage: Storage, shape: Shape) -> Self {
        Tensor { storage: Arc::new(storage), layout: Layout::contiguous(shape, 0) }
    }

    /// The same storage through another layout, derived from this one by [`Layout`]'s methods.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        Tensor { storage: Arc::clone(&self.storage), layout }
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// Shape, strides and offset.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.shape().ndim()
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.shape().numel()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.storage.dtype()
    }

    /// Where the elements are.
    pub fn device(&self) -> &Device {
        self.storage.device()
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// When the elements are not of type `T`, or a repeated view has more than fit in memory.
    pub fn to_vec<T: Stored>(&self) -> Result<Vec<T>> {
        let (op, shape, dtype) = ("to_vec", *self.shape(), self.dtype());
        let view = self.strided::<T>(op)?;
        let mut out = Vec::new();
        out.try_reserve_exact(self.numel()).map_err(|_| Error::Memory { op, shape, dtype })?;
        out.resize(self.numel(), T::default());
        if !out.is_empty() {
            kernels::copy::copy(self.device().threads(), view, &mut out);
        }
        Ok(out)
    }

    /// The one element.
    ///
    /// # Errors
    /// When there is not exactly one, or when it is not of type `T`.
    pub fn item<T: Stored>(&self) -> Result<T> {
        let op = "item";
        let view = self.strided::<T>(op)?;
        if self.numel() != 1 {
            let rule = "exactly one element is needed: reduce or narrow first";
            return Err(Error::Shape { op, shape: *self.shape(), rule });
        }
        Ok(view.data()[view.offset()])
    }

    /// The elements as a slice, when they lie in row-major order without gaps and are of type
    /// `T`.
    pub fn as_slice<T: Stored>(&self) -> Option<&[T]> {
        self.strided::<T>("as_slice").ok()?.as_slice()
    }

    /// The elements for writing, when this tensor is the only view of its storage, covers it
    /// wholly and holds elements of type `T`.
    pub fn as_mut_slice<T: Stored>(&mut self) -> Option<&mut [T]> {
        let numel = self.numel();
        let whole = self.layout.is_contiguous() && self.layout.offset() == 0;
        let slice = Arc::get_mut(&mut self.storage)?.slice_mut::<T>()?;
        (whole && slice.len() == numel).then_some(slice)
    }

    /// How many tensors see this tensor's storage, this one included.
    pub fn views(&self) -> usize {
        Arc::strong_count(&self.storage)
    }

    /// The elements of a contiguous tensor, when they are of type `T`. Callers make it contiguous
    /// first; a gapped view would be reported as a wrong type.
    pub(crate) fn typed<T: Stored>(&self, op: &'static str) -> Result<&[T]> {
        let (found, wanted) = (self.dtype(), T::DTYPE.name());
        self.strided::<T>(op)?.as_slice().ok_or(Error::DType { op, found, wanted })
    }

    /// The view that a kernel reads, when the elements are of type `T`.
    pub(crate) fn strided<T: Stored>(&self, op: &'static str) -> Result<Strided<'_, T>> {
        let wanted = T::DTYPE.name();
        let data = self.storage.slice().ok_or(Error::DType { op, found: self.dtype(), wanted })?;
        let layout = &self.layout;
        Ok(Strided::new(data, layout.offset(), layout.shape(), layout.strides()))
    }
}

/// A buffer for a result of `shape`, with unspecified values.
fn taken<T: Stored>(op: &'static str, device: &Device, shape: Shape) -> Result<Vec<T>> {
    let none = Error::Memory { op, shape, dtype: T::DTYPE };
    device.pool().take(shape.numel()).ok_or(none)
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({} {} on {})", self.dtype(), self.shape(), self.device().kind())
    }
}
