//! Which function of one variable: its name, its number, its settings.

use super::number;

/// An elementwise function of one variable. Settings are f64 and are rounded to the element type
/// once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnaryOp {
    /// `−x`
    Neg,
    /// `|x|`
    Abs,
    /// `eˣ`
    Exp,
    /// `ln x`: −∞ at 0, NaN below.
    Ln,
    /// `√x`: NaN below 0.
    Sqrt,
    /// `1 / x`
    Recip,
    /// `x²`
    Square,
    /// `max(x, 0)`
    Relu,
    /// `tanh x`
    Tanh,
    /// `1 / (1 + e⁻ˣ)`
    Sigmoid,
    /// `sin x`, x in radians.
    Sin,
    /// `cos x`, x in radians.
    Cos,
    /// The error function.
    Erf,
    /// `x · Φ(x)`, Φ the normal distribution function (Hendrycks and Gimpel 2016, "Gaussian error
    /// linear units").
    Gelu,
    /// `½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`, the approximation of the same paper.
    GeluTanh,
    /// `x · sigmoid(x)`
    Silu,
    /// `ln(1 + eˣ)`
    Softplus,
    /// `ln(1 + x)`
    Log1p,
    /// `1 / √x`
    Rsqrt,
    /// −1, 0 or 1; a zero keeps its sign.
    Sign,
    /// The largest integer that is not above.
    Floor,
    /// The smallest integer that is not below.
    Ceil,
    /// The nearest integer, ties to even.
    Round,
    /// x above 0, else this slope times x.
    LeakyRelu(f64),
    /// x above 0, else this factor times `eˣ − 1` (Clevert et al. 2016).
    Elu(f64),
    /// x to this power.
    Powf(f64),
    /// x plus this number.
    Shift(f64),
    /// x times this number.
    Scale(f64),
    /// x within these bounds, the lower one first.
    Clamp(f64, f64),
}

impl UnaryOp {
    /// Every op in the order of its number, with some settings.
    pub const ALL: [UnaryOp; 29] = [
        UnaryOp::Neg,
        UnaryOp::Abs,
        UnaryOp::Exp,
        UnaryOp::Ln,
        UnaryOp::Sqrt,
        UnaryOp::Recip,
        UnaryOp::Square,
        UnaryOp::Relu,
        UnaryOp::Tanh,
        UnaryOp::Sigmoid,
        UnaryOp::Sin,
        UnaryOp::Cos,
        UnaryOp::Erf,
        UnaryOp::Gelu,
        UnaryOp::GeluTanh,
        UnaryOp::Silu,
        UnaryOp::Softplus,
        UnaryOp::Log1p,
        UnaryOp::Rsqrt,
        UnaryOp::Sign,
        UnaryOp::Floor,
        UnaryOp::Ceil,
        UnaryOp::Round,
        UnaryOp::LeakyRelu(0.01),
        UnaryOp::Elu(1.0),
        UnaryOp::Powf(3.0),
        UnaryOp::Shift(1.5),
        UnaryOp::Scale(-2.5),
        UnaryOp::Clamp(-1.0, 1.0),
    ];

    /// The lower-case name used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg",
            UnaryOp::Abs => "abs",
            UnaryOp::Exp => "exp",
            UnaryOp::Ln => "ln",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Recip => "recip",
            UnaryOp::Square => "square",
            UnaryOp::Relu => "relu",
            UnaryOp::Tanh => "tanh",
            UnaryOp::Sigmoid => "sigmoid",
            UnaryOp::Sin => "sin",
            UnaryOp::Cos => "cos",
            UnaryOp::Erf => "erf",
            UnaryOp::Gelu => "gelu",
            UnaryOp::GeluTanh => "gelu_tanh",
            UnaryOp::Silu => "silu",
            UnaryOp::Softplus => "softplus",
            UnaryOp::Log1p => "log1p",
            UnaryOp::Rsqrt => "rsqrt",
            UnaryOp::Sign => "sign",
            UnaryOp::Floor => "floor",
            UnaryOp::Ceil => "ceil",
            UnaryOp::Round => "round",
            UnaryOp::LeakyRelu(_) => "leaky_relu",
            UnaryOp::Elu(_) => "elu",
            UnaryOp::Powf(_) => "powf",
            UnaryOp::Shift(_) => "shift",
            UnaryOp::Scale(_) => "scale",
            UnaryOp::Clamp(..) => "clamp",
        }
    }

    /// What an error calls the derivative.
    pub const fn vjp_name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg_vjp",
            UnaryOp::Abs => "abs_vjp",
            UnaryOp::Exp => "exp_vjp",
            UnaryOp::Ln => "ln_vjp",
            UnaryOp::Sqrt => "sqrt_vjp",
            UnaryOp::Recip => "recip_vjp",
            UnaryOp::Square => "square_vjp",
            UnaryOp::Relu => "relu_vjp",
            UnaryOp::Tanh => "tanh_vjp",
            UnaryOp::Sigmoid => "sigmoid_vjp",
            UnaryOp::Sin => "sin_vjp",
            UnaryOp::Cos => "cos_vjp",
            UnaryOp::Erf => "erf_vjp",
            UnaryOp::Gelu => "gelu_vjp",
            UnaryOp::GeluTanh => "gelu_tanh_vjp",
            UnaryOp::Silu => "silu_vjp",
            UnaryOp::Softplus => "softplus_vjp",
            UnaryOp::Log1p => "log1p_vjp",
            UnaryOp::Rsqrt => "rsqrt_vjp",
            UnaryOp::Sign => "sign_vjp",
            UnaryOp::Floor => "floor_vjp",
            UnaryOp::Ceil => "ceil_vjp",
            UnaryOp::Round => "round_vjp",
            UnaryOp::LeakyRelu(_) => "leaky_relu_vjp",
            UnaryOp::Elu(_) => "elu_vjp",
            UnaryOp::Powf(_) => "powf_vjp",
            UnaryOp::Shift(_) => "shift_vjp",
            UnaryOp::Scale(_) => "scale_vjp",
            UnaryOp::Clamp(..) => "clamp_vjp",
        }
    }

    /// The number that device code shares.
    pub const fn code(self) -> u32 {
        match self {
            UnaryOp::Neg => number::NEG,
            UnaryOp::Abs => number::ABS,
            UnaryOp::Exp => number::EXP,
            UnaryOp::Ln => number::LN,
            UnaryOp::Sqrt => number::SQRT,
            UnaryOp::Recip => number::RECIP,
            UnaryOp::Square => number::SQUARE,
            UnaryOp::Relu => number::RELU,
            UnaryOp::Tanh => number::TANH,
            UnaryOp::Sigmoid => number::SIGMOID,
            UnaryOp::Sin => number::SIN,
            UnaryOp::Cos => number::COS,
            UnaryOp::Erf => number::ERF,
            UnaryOp::Gelu => number::GELU,
            UnaryOp::GeluTanh => number::GELU_TANH,
            UnaryOp::Silu => number::SILU,
            UnaryOp::Softplus => number::SOFTPLUS,
            UnaryOp::Log1p => number::LOG1P,
            UnaryOp::Rsqrt => number::RSQRT,
            UnaryOp::Sign => number::SIGN,
            UnaryOp::Floor => number::FLOOR,
            UnaryOp::Ceil => number::CEIL,
            UnaryOp::Round => number::ROUND,
            UnaryOp::LeakyRelu(_) => number::LEAKY_RELU,
            UnaryOp::Elu(_) => number::ELU,
            UnaryOp::Powf(_) => number::POWF,
            UnaryOp::Shift(_) => number::SHIFT,
            UnaryOp::Scale(_) => number::SCALE,
            UnaryOp::Clamp(..) => number::CLAMP,
        }
    }

    /// The settings as the formulas take them; 0 where an op has none.
    pub(super) const fn settings(self) -> [f64; 2] {
        match self {
            UnaryOp::LeakyRelu(a)
            | UnaryOp::Elu(a)
            | UnaryOp::Powf(a)
            | UnaryOp::Shift(a)
            | UnaryOp::Scale(a) => [a, 0.0],
            UnaryOp::Clamp(a, b) => [a, b],
            _ => [0.0; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_are_numbered_in_their_order_and_derivatives_named_after_them() {
        for (number, op) in UnaryOp::ALL.into_iter().enumerate() {
            assert_eq!(op.code() as usize, number, "{}", op.name());
            assert_eq!(op.vjp_name(), format!("{}_vjp", op.name()));
        }
    }
}
