//! Convolutions over one or two spatial axes, and transposed ones.
//!
//! A convolution, the transposed one and the gradient of the weight are the three derivatives of
//! one form `Σ w · x · y` ([`Convolution`]). Each is linear in two of w, x and y, and its gradient
//! with respect to one of them is the derivative by that one, with `dout` in the result's place:
//! for `y = conv(x, w)`, `dx = input(w, dy)` and `dw = weight(x, dy)`. Both operands are kept. The
//! bias is added to each output of its channel: `db = Σ dout` over samples and places. Gradients
//! of parameters come first, so that they are on their way while dx is computed.

use tensor::{ConvSettings, Convolution, Tensor};

use super::cast::in_f32;
use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

/// One of the form's three variables, which an operation computes from the other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    X,
    W,
    Y,
}

struct Conv {
    form: Convolution,
    name: &'static str,
    result: Role,
    /// The operands' roles, in the order of the inputs; input 2 is the bias, where there is one.
    roles: [Role; 2],
    operands: [Tensor; 2],
    biased: bool,
}

const BIAS: usize = 2;

/// The gradient of the operand of role `wanted`; `dout` takes the place of the result, `other` is
/// the other operand.
fn derived(
    form: &Convolution,
    wanted: Role,
    result: (Role, &Tensor),
    other: (Role, &Tensor),
) -> tensor::Result<Tensor> {
    let of = |role| if result.0 == role { result.1 } else { other.1 };
    match wanted {
        Role::X => form.input(of(Role::W), of(Role::Y), None),
        Role::W => form.weight(of(Role::X), of(Role::Y)),
        Role::Y => form.output(of(Role::X), of(Role::W), None),
    }
}

impl Op for Conv {
    fn name(&self) -> &'static str {
        self.name
    }

    fn vjp(&self, dout: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        if self.biased && grads.wanted(BIAS) {
            grads.write(BIAS, |out| dout.sum_channels_into(out))?;
        }
        // The weight is given before x.
        let mut inputs = [0, 1];
        inputs.sort_by_key(|&input| self.roles[input] != Role::W);
        for input in inputs {
            if !grads.wanted(input) {
                continue;
            }
            let other = (self.roles[1 - input], &self.operands[1 - input]);
            if self.roles[input] == Role::W {
                let (x, y) = if self.result == Role::Y { (other.1, dout) } else { (dout, other.1) };
                grads.write(input, |out| self.form.weight_into(x, y, out))?;
            } else {
                let result = (self.result, dout);
                grads.give(input, derived(&self.form, self.roles[input], result, other)?)?;
            }
        }
        Ok(())
    }

    fn vjp_var(&self, dout: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let mut grads = Vec::with_capacity(3);
        for input in 0..2 {
            let other = inputs.var(1 - input, &self.operands[1 - input]);
            let (role, other_role) = (self.roles[input], self.roles[1 - input]);
            let value = derived(
                &self.form,
                role,
                (self.result, dout.value()),
                (other_role, other.value()),
            )?;
            let saved = Conv {
                form: self.form,
                name: self.name,
                result: role,
                roles: [self.result, other_role],
                operands: [dout.value().clone(), other.value().clone()],
                biased: false,
            };
            grads.push(Var::from_op(value, &[dout, &other], saved));
        }
        if self.biased {
            let shape = dout.value().shape();
            let (channels, plane) = (shape[1], shape[2..].iter().product());
            let planes = dout.reshape(&[shape[0], channels, plane])?;
            grads.push(planes.sum(2, false)?.sum(0, false)?);
        }
        Ok(grads)
    }
}

/// How an operation uses the form that it makes of its operands' shapes.
struct Plan {
    name: &'static str,
    form: Convolution,
    transposed: bool,
}

/// The operation on operands of one type that is not a half.
fn computed(plan: &Plan, x: &Var, w: &Var, bias: Option<&Var>) -> Result<Var> {
    let (form, value) = (plan.form, bias.map(Var::value));
    let (result, role, value) = if plan.transposed {
        (Role::X, Role::Y, form.input(w.value(), x.value(), value)?)
    } else {
        (Role::Y, Role::X, form.output(x.value(), w.value(), value)?)
    };
    let saved = Conv {
        form,
        name: plan.name,
        result,
        roles: [role, Role::W],
        operands: [x.value().clone(), w.value().clone()],
        biased: bias.is_some(),
    };
    Ok(match bias {
        Some(bias) => Var::from_op(value, &[x, w, bias], saved),
        None => Var::from_op(value, &[x, w], saved),
    })
}

fn widened(plan: &Plan, x: &Var, w: &Var, bias: Option<&Var>) -> Result<Var> {
    let half = |x: &Var| x.value().dtype().is_half();
    match bias {
        Some(b) if half(x) || half(w) || half(b) => {
            in_f32([x, w, b], |[x, w, b]| computed(plan, x, w, Some(b)))
        }
        None if half(x) || half(w) => in_f32([x, w], |[x, w]| computed(plan, x, w, None)),
        _ => computed(plan, x, w, bias),
    }
}

impl Var {
    fn convolution<const N: usize>(
        &self,
        name: &'static str,
        (weight, bias): (&Var, Option<&Var>),
        settings: ConvSettings<N>,
        output_padding: Option<[usize; N]>,
    ) -> Result<Var> {
        let (x, w) = (self.value().shape(), weight.value().shape());
        let form = match output_padding {
            Some(padding) => Convolution::transposed(name, x, w, settings, padding)?,
            None => Convolution::new(name, x, w, settings)?,
        };
        widened(&Plan { name, form, transposed: output_padding.is_some() }, self, weight, bias)
    }

    /// A convolution over one axis; see [`Tensor::conv1d`].
    ///
    /// # Errors
    /// As there.
    pub fn conv1d(
        &self,
        weight: &Var,
        bias: Option<&Var>,
        settings: ConvSettings<1>,
    ) -> Result<Var> {
        self.convolution("conv1d", (weight, bias), settings, None)
    }

    /// A convolution over two axes; see [`Tensor::conv2d`].
    ///
    /// # Errors
    /// As there.
    pub fn conv2d(
        &self,
        weight: &Var,
        bias: Option<&Var>,
        settings: ConvSettings<2>,
    ) -> Result<Var> {
        self.convolution("conv2d", (weight, bias), settings, None)
    }

    /// A transposed convolution over one axis; see [`Tensor::conv_transpose1d`].
    ///
    /// # Errors
    /// As there.
    pub fn conv_transpose1d(
        &self,
        weight: &Var,
        bias: Option<&Var>,
        settings: ConvSettings<1>,
        output_padding: [usize; 1],
    ) -> Result<Var> {
        self.convolution("conv_transpose1d", (weight, bias), settings, Some(output_padding))
    }

    /// A transposed convolution over two axes; see [`Tensor::conv_transpose2d`].
    ///
    /// # Errors
    /// As there.
    pub fn conv_transpose2d(
        &self,
        weight: &Var,
        bias: Option<&Var>,
        settings: ConvSettings<2>,
        output_padding: [usize; 2],
    ) -> Result<Var> {
        self.convolution("conv_transpose2d", (weight, bias), settings, Some(output_padding))
    }
}
