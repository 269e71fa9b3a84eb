//! Tensors of numbers in a row.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// `0, 1, … len − 1` in the type `T`.
    ///
    /// # Errors
    /// No memory of that size.
    pub fn arange<T: Stored>(device: &Device, len: usize) -> Result<Tensor> {
        let op = "arange";
        Tensor::filled(op, device, Shape::new(op, &[len])?, |out| {
            for (i, x) in out.iter_mut().enumerate() {
                *x = T::from_f64(i as f64);
            }
        })
    }

    /// `len` numbers from `start` to `end`, both included: number i is `start + i · (end − start)
    /// / (len − 1)`, computed in f64, and the last is `end`. One number is `start`.
    ///
    /// # Errors
    /// An end that is not finite, or no memory of that size.
    pub fn linspace<T: Stored>(
        device: &Device,
        start: f64,
        end: f64,
        len: usize,
    ) -> Result<Tensor> {
        let op = "linspace";
        for (name, value) in [("start", start), ("end", end)] {
            if !value.is_finite() {
                let rule = "both ends are finite numbers";
                return Err(Error::Setting { op, name, value, rule });
            }
        }
        Tensor::filled(op, device, Shape::new(op, &[len])?, |out: &mut [T]| {
            let steps = len.saturating_sub(1) as f64;
            for (i, x) in out.iter_mut().enumerate() {
                let last = i > 0 && i + 1 == len;
                let inside = start + if i == 0 { 0.0 } else { i as f64 * (end - start) / steps };
                *x = T::from_f64(if last { end } else { inside });
            }
        })
    }

    /// The identity matrix `[n, n]`.
    ///
    /// # Errors
    /// No memory of that size.
    pub fn eye<T: Stored>(device: &Device, n: usize) -> Result<Tensor> {
        let op = "eye";
        Tensor::filled(op, device, Shape::new(op, &[n, n])?, |out: &mut [T]| {
            for (i, x) in out.iter_mut().enumerate() {
                *x = T::from_f64(if i / n == i % n { 1.0 } else { 0.0 });
            }
        })
    }
}
