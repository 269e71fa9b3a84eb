//! The random start of parameters.
//!
//! Every element is a function of the run's seed, the parameter's path and the element's number
//! (a counter-based generator): the order in which layers are made, and who makes them, does not
//! matter.

mod schemes;

use kernels::random::Stream;
use tensor::{DType, Device, Differentiable, Shape, Tensor};

use crate::buffer::Buffer;
use crate::error::Result;
use crate::parameter::Parameter;

pub use schemes::fans;

/// Makes parameters: where, of which type, from which seed, under which path.
#[derive(Clone, Debug)]
pub struct Init {
    device: Device,
    dtype: DType,
    seed: u64,
    path: String,
}

impl Init {
    /// f32 parameters on `device`, at the root of the model.
    pub fn new(device: &Device, seed: u64) -> Self {
        Init { device: device.clone(), dtype: DType::F32, seed, path: String::new() }
    }

    /// The same with parameters of type `dtype`, f32 or f64. Both draw the same numbers; f32
    /// rounds them. Another type is refused when a parameter is made.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = dtype;
        self
    }

    /// The same one level down: `init.at("layers").at(0)` names `layers.0`.
    pub fn at(&self, name: impl std::fmt::Display) -> Self {
        Init { path: self.name(name), ..self.clone() }
    }

    fn name(&self, name: impl std::fmt::Display) -> String {
        if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) }
    }

    /// The path in the model: empty at its root.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A parameter of `value` everywhere.
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn full(&self, name: &str, shape: &[usize], value: f64) -> Result<Parameter> {
        let name = self.name(name);
        let value = self.constant(&name, shape, value)?;
        Ok(Parameter::new(name, value))
    }

    /// A buffer of `value` everywhere.
    ///
    /// # Errors
    /// As [`Init::full`].
    pub fn buffer(&self, name: &str, shape: &[usize], value: f64) -> Result<Buffer> {
        let name = self.name(name);
        let value = self.constant(&name, shape, value)?;
        Ok(Buffer::new(name, value))
    }

    fn constant(&self, name: &str, shape: &[usize], value: f64) -> Result<Tensor> {
        match self.dtype {
            DType::F32 => Ok(Tensor::full(&self.device, value as f32, shape)?),
            DType::F64 => Ok(Tensor::full(&self.device, value, shape)?),
            dtype => {
                let name = name.to_owned();
                Err(autograd::Error::NotDifferentiable { name, dtype }.into())
            }
        }
    }

    /// A parameter of uniform numbers in `[−bound, bound)`.
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn uniform(&self, name: &str, shape: &[usize], bound: f64) -> Result<Parameter> {
        self.drawn(name, shape, |stream, i| (2.0 * stream.uniform(i) - 1.0) * bound)
    }

    /// A parameter whose element i is `draw(stream, i)`.
    fn drawn(
        &self,
        name: &str,
        shape: &[usize],
        draw: impl Fn(&Stream, u64) -> f64,
    ) -> Result<Parameter> {
        let name = self.name(name);
        let shape = Shape::new("init", shape)?;
        let stream = Stream::new(self.seed, &name, 0);
        let draw = |i| draw(&stream, i);
        let value = match self.dtype {
            DType::F32 => filled::<f32>(&self.device, shape, draw)?,
            DType::F64 => filled::<f64>(&self.device, shape, draw)?,
            dtype => return Err(autograd::Error::NotDifferentiable { name, dtype }.into()),
        };
        Ok(Parameter::new(name, value))
    }

    /// Kaiming's uniform start for a layer of `fan_in` inputs, with the slope √5 that PyTorch's
    /// layers use: bound `√(6 / ((1 + 5) · fan_in)) = 1/√fan_in` (He et al. 2015, eq. 10 with the
    /// leak of eq. 15, as a uniform distribution of that variance).
    ///
    /// # Errors
    /// An impossible shape or one too large for the memory, or a type that has no gradients.
    pub fn kaiming_uniform(&self, name: &str, shape: &[usize], fan_in: usize) -> Result<Parameter> {
        self.uniform(name, shape, 1.0 / (fan_in.max(1) as f64).sqrt())
    }
}

fn filled<T: Differentiable>(
    device: &Device,
    shape: Shape,
    draw: impl Fn(u64) -> f64,
) -> tensor::Result<Tensor> {
    Tensor::filled::<T>("init", device, shape, |out| {
        for (i, x) in out.iter_mut().enumerate() {
            *x = T::from_f64(draw(i as u64));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_of_a_type_without_gradients_or_beyond_memory_is_refused() {
        let init = Init::new(&Device::cpu(), 7).at("layers").at(0);
        for dtype in [DType::F16, DType::BF16, DType::I64, DType::U8] {
            let refused = init.clone().dtype(dtype).uniform("weight", &[2, 3], 1.0).unwrap_err();
            let wanted = format!("layers.0.weight: elements of type {dtype} have no gradients");
            assert!(refused.to_string().starts_with(&wanted), "{refused}");
        }
        assert!(init.clone().dtype(DType::F64).uniform("weight", &[2, 3], 1.0).is_ok());
        let huge = init.uniform("weight", &[(1 << 59) + 1], 1.0).unwrap_err().to_string();
        assert!(huge.starts_with("init: a tensor f32 [576460752303423489] takes"), "{huge}");
    }
}
