//! Parameters in and out of files.

use std::path::Path;

use autograd::Var;
use nn::checkpoint::{self, Array, Values};
use nn::{Buffer, Module, Parameter};
use ringgrad::hash::NamedValues;
use ringgrad::{Result, Tensor};

/// What a file must hold for `model`: names, shapes and types.
pub(crate) fn wanted(model: &dyn Module) -> Vec<(String, Vec<usize>, tensor::DType)> {
    nn::named_state(model)
        .into_iter()
        .map(|(name, value)| (name, value.shape().to_vec(), value.dtype()))
        .collect()
}

/// Reads the parameters and buffers of `model` from `path`; missing, extra and misshapen entries
/// are all listed in the error.
pub(crate) fn read(path: &Path, model: &dyn Module) -> Result<Vec<Array>> {
    let arrays = checkpoint::load(path)?.arrays;
    checkpoint::check_names(&arrays, &wanted(model))?;
    Ok(arrays)
}

/// Gives the parameters and buffers of `model` the values of `arrays`, which [`read`] has checked.
pub(crate) fn fill(model: &mut dyn Module, arrays: &[Array]) -> Result<()> {
    let mut done = Ok(());
    model.visit_mut(&mut |parameter| {
        if done.is_ok() {
            done = fill_one(parameter, arrays);
        }
    });
    model.visit_buffers_mut(&mut |buffer| {
        if done.is_ok() {
            done = fill_buffer(buffer, arrays);
        }
    });
    done
}

fn fill_buffer(buffer: &mut Buffer, arrays: &[Array]) -> Result<()> {
    match arrays.iter().find(|array| array.name == buffer.name()) {
        Some(Array { shape, values: Values::F32(values), .. }) => {
            let value = Tensor::from_slice(buffer.value().device(), values, shape)?;
            Ok(buffer.set(value)?)
        }
        _ => Ok(()),
    }
}

fn fill_one(parameter: &mut Parameter, arrays: &[Array]) -> Result<()> {
    let device = parameter.value().device().clone();
    match arrays.iter().find(|array| array.name == parameter.name()) {
        Some(Array { name, shape, values: Values::F32(values) }) => {
            let value = Tensor::from_slice(&device, values, shape)?;
            Ok(parameter.bind(Var::leaf(name, value))?)
        }
        _ => Ok(()),
    }
}

/// Parameters as a file has them.
pub(crate) fn arrays(params: &[NamedValues]) -> Vec<Array> {
    let array = |param: &NamedValues| Array {
        name: param.name.clone(),
        shape: param.shape.clone(),
        values: Values::F32(param.values.iter().map(|&value| value as f32).collect()),
    };
    params.iter().map(array).collect()
}

/// Writes parameters to `path` under their names.
pub(crate) fn write(path: &Path, params: &[NamedValues]) -> Result<()> {
    Ok(checkpoint::save(path, &arrays(params), &[("format", "pt".to_owned())])?)
}
