//! The memory behind tensors: one typed buffer, and the device that it goes back to.

use half::{bf16, f16};
use kernels::{DType, Element};

use crate::device::Device;
use crate::pool::Pooled;

/// A buffer of one element type, returned to its device's pool when the last view is gone.
#[derive(Debug)]
pub(crate) struct Storage {
    data: Data,
    device: Device,
    /// Whether the buffer came from the device's pool. One that a user brought is freed: a pool
    /// that kept those would grow with each of them.
    pooled: bool,
}

/// The host's buffers, by element type.
#[derive(Debug)]
pub enum Data {
    /// IEEE 754 binary16.
    F16(Vec<f16>),
    /// Upper half of a binary32.
    BF16(Vec<bf16>),
    /// IEEE 754 binary32.
    F32(Vec<f32>),
    /// IEEE 754 binary64.
    F64(Vec<f64>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Bytes.
    U8(Vec<u8>),
}

/// An element type that a tensor can hold. Implemented for the types of [`DType`] only.
pub trait Stored: Element + Pooled {
    #[doc(hidden)]
    fn wrap(buffer: Vec<Self>) -> Data;
    #[doc(hidden)]
    fn slice(data: &Data) -> Option<&[Self]>;
    #[doc(hidden)]
    fn slice_mut(data: &mut Data) -> Option<&mut [Self]>;
}

impl Storage {
    /// A buffer from the device's pool, all of whose elements its taker writes before others read.
    pub(crate) fn taken<T: Stored>(device: &Device, buffer: Vec<T>) -> Self {
        Storage { data: T::wrap(buffer), device: device.clone(), pooled: true }
    }

    /// The caller's buffer, not copied.
    pub(crate) fn adopt<T: Stored>(device: &Device, buffer: Vec<T>) -> Self {
        device.pool().adopt(&buffer);
        Storage { data: T::wrap(buffer), device: device.clone(), pooled: false }
    }

    fn release<T: Stored>(&self, buffer: Vec<T>) {
        if self.pooled {
            self.device.pool().give_back(buffer);
        } else {
            self.device.pool().forget(&buffer);
        }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The whole buffer, when its elements are of type `T`.
    pub(crate) fn slice<T: Stored>(&self) -> Option<&[T]> {
        T::slice(&self.data)
    }

    /// The whole buffer for writing, when its elements are of type `T`.
    pub(crate) fn slice_mut<T: Stored>(&mut self) -> Option<&mut [T]> {
        T::slice_mut(&mut self.data)
    }

    pub(crate) fn dtype(&self) -> DType {
        match &self.data {
            Data::F16(_) => DType::F16,
            Data::BF16(_) => DType::BF16,
            Data::F32(_) => DType::F32,
            Data::F64(_) => DType::F64,
            Data::I64(_) => DType::I64,
            Data::U8(_) => DType::U8,
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.data, Data::U8(Vec::new())) {
            Data::F16(buffer) => self.release(buffer),
            Data::BF16(buffer) => self.release(buffer),
            Data::F32(buffer) => self.release(buffer),
            Data::F64(buffer) => self.release(buffer),
            Data::I64(buffer) => self.release(buffer),
            Data::U8(buffer) => self.release(buffer),
        }
    }
}

impl Stored for f16 {
    fn wrap(buffer: Vec<Self>) -> Data {
        Data::F16(buffer)
    }
    fn slice(data: &Data) -> Option<&[Self]> {
        if let Data::F16(buffer) = data { Some(buffer) } else { None }
    }
    fn slice_mut(data: &mut Data) -> Option<&mut [Self]> {
        if let Data::F16(buffer) = data { Some(buffer) } else { None }
    }
}

impl Stored for bf16 {
    fn wrap(buffer: Vec<Self>) -> Data {
        Data::BF16(buffer)
    }
    fn slice(data: &Data) -> Option<&[Self]> {
        if let Data::BF16(buffer) = data { Some(buffer) } else { None }
    }
    fn slice_mut(data: &mut Data) -> Option<&mut [Self]> {
        if let Data::BF16(buffer) = data { Some(buffer) } else { None }
    }
}

impl Stored for f32 {
    fn wrap(buffer: Vec<Self>) -> Data {
        Data::F32(buffer)
    }
    fn slice(data: &Data) -> Option<&[Self]> {
        if let Data::F32(buffer) = data { Some(buffer) } else { None }
    }
    fn slice_mut(data: &mut Data) -> Option<&mut [Self]> {
        if let Data::F32(buffer) = data { Some(buffer) } else { None }
    }
}

impl Stored for f64 {
    fn wrap(buffer: Vec<Self>) -> Data {
        Data::F64(buffer)
    }
    fn slice(data: &Data) -> Option<&[Self]> {
        if let Data::F64(buffer) = data { Some(buffer) } else { None }
    }
    fn slice_mut(data: &mut Data) -> Option<&mut [Self]> {
        if let Data::F64(buffer) = data { Some(buffer) } else { None }
    }
}

impl Stored for i64 {
    fn wrap(buffer: Vec<Self>) -> Data {
        Data::I64(buffer)
    }
    fn slice(data: &Data) -> Option<&[Self]> {
        if let Data::I64(buffer) = data { Some(buffer) } else { None }
    }
    fn slice_mut(data: &mut Data) -> Option<&mut [Self]> {
        if let Data::I64(buffer) = data { Some(buffer) } else { None }
    }
}

impl Stored for u8 {
    fn wrap(buffer: Vec<Self>) -> Data {
        Data::U8(buffer)
    }
    fn slice(data: &Data) -> Option<&[Self]> {
        if let Data::U8(buffer) = data { Some(buffer) } else { None }
    }
    fn slice_mut(data: &mut Data) -> Option<&mut [Self]> {
        if let Data::U8(buffer) = data { Some(buffer) } else { None }
    }
}
