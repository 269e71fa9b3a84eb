//! Mean pools and upsampling: linear maps of planes.
//!
//! The gradient of a linear map is its adjoint, and that of the adjoint is the map. Nothing of x
//! is kept.

use tensor::{PlaneMap, Sampling, Tensor, Window};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Mapped {
    map: PlaneMap,
    /// Whether the operation is the adjoint.
    adjoint: bool,
}

fn value(map: &PlaneMap, x: &Tensor, adjoint: bool) -> tensor::Result<Tensor> {
    if adjoint { map.adjoint(x) } else { map.apply(x) }
}

impl Op for Mapped {
    fn name(&self) -> &'static str {
        self.map.name()
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, value(&self.map, dy, !self.adjoint)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![mapped(self.map.clone(), dy, !self.adjoint)?])
    }
}

fn mapped(map: PlaneMap, x: &Var, adjoint: bool) -> Result<Var> {
    if x.value().dtype().is_half() {
        return in_f32([x], |[x]| mapped(map, x, adjoint));
    }
    let y = value(&map, x.value(), adjoint)?;
    Ok(Var::from_op(y, &[x], Mapped { map, adjoint }))
}

impl Var {
    /// The mean of each window; see [`Tensor::avg_pool1d`].
    ///
    /// # Errors
    /// As there.
    pub fn avg_pool1d(&self, window: Window<1>, count_padding: bool) -> Result<Var> {
        let shape = self.value().shape();
        mapped(PlaneMap::avg_pool("avg_pool1d", shape, window, count_padding)?, self, false)
    }

    /// The mean of each window; see [`Tensor::avg_pool2d`].
    ///
    /// # Errors
    /// As there.
    pub fn avg_pool2d(&self, window: Window<2>, count_padding: bool) -> Result<Var> {
        let shape = self.value().shape();
        mapped(PlaneMap::avg_pool("avg_pool2d", shape, window, count_padding)?, self, false)
    }

    /// Means over `output` regions along each axis; see [`Tensor::adaptive_avg_pool2d`].
    ///
    /// # Errors
    /// As there.
    pub fn adaptive_avg_pool2d(&self, output: [usize; 2]) -> Result<Var> {
        mapped(PlaneMap::adaptive_avg_pool2d(self.value().shape(), output)?, self, false)
    }

    /// Planes of another size by the nearest input; see [`Tensor::upsample_nearest2d`].
    ///
    /// # Errors
    /// As there.
    pub fn upsample_nearest2d(&self, output: [usize; 2]) -> Result<Var> {
        self.upsampled(output, Sampling::Nearest)
    }

    /// Planes of another size by interpolation; see [`Tensor::upsample_bilinear2d`].
    ///
    /// # Errors
    /// As there.
    pub fn upsample_bilinear2d(&self, output: [usize; 2], align_corners: bool) -> Result<Var> {
        self.upsampled(output, Sampling::Bilinear { align_corners })
    }

    fn upsampled(&self, output: [usize; 2], sampling: Sampling) -> Result<Var> {
        mapped(PlaneMap::upsample2d(self.value().shape(), output, sampling)?, self, false)
    }
}
