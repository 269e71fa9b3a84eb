//! Which function of two variables: its name, its number, its setting.

use super::number;

/// An elementwise function of two variables. Settings are f64 and are rounded to the element type
/// once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BinaryOp {
    /// `x + y`
    Add,
    /// `x − y`
    Sub,
    /// `x · y`
    Mul,
    /// `x / y`
    Div,
    /// The larger one.
    Max,
    /// The smaller one.
    Min,
    /// `xʸ`
    Pow,
    /// `(x − y)²`
    SquaredError,
    /// `|x − y|`
    AbsoluteError,
    /// With `d = x − y` and this δ: `½ d²` where `|d| ≤ δ`, else `δ · (|d| − ½ δ)`.
    Huber(f64),
    /// `−(y · ln x + (1 − y) · ln(1 − x))`, each logarithm at least −100.
    Bce,
    /// The same of `sigmoid(x)`: `max(x, 0) − x · y + ln(1 + exp(−|x|))`.
    BceWithLogits,
    /// `y · (ln y − x)`, 0 for y = 0.
    KlDiv,
}

/// An operand of a binary op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// `x`
    Left,
    /// `y`
    Right,
}

impl BinaryOp {
    /// Every op in the order of its number, with some setting.
    pub const ALL: [BinaryOp; 13] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Max,
        BinaryOp::Min,
        BinaryOp::Pow,
        BinaryOp::SquaredError,
        BinaryOp::AbsoluteError,
        BinaryOp::Huber(0.7),
        BinaryOp::Bce,
        BinaryOp::BceWithLogits,
        BinaryOp::KlDiv,
    ];

    /// The lower-case name used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Max => "max",
            BinaryOp::Min => "min",
            BinaryOp::Pow => "pow",
            BinaryOp::SquaredError => "mse_loss",
            BinaryOp::AbsoluteError => "l1_loss",
            BinaryOp::Huber(_) => "huber_loss",
            BinaryOp::Bce => "bce_loss",
            BinaryOp::BceWithLogits => "bce_with_logits",
            BinaryOp::KlDiv => "kl_div",
        }
    }

    /// What an error calls the derivative.
    pub const fn vjp_name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add_vjp",
            BinaryOp::Sub => "sub_vjp",
            BinaryOp::Mul => "mul_vjp",
            BinaryOp::Div => "div_vjp",
            BinaryOp::Max => "max_vjp",
            BinaryOp::Min => "min_vjp",
            BinaryOp::Pow => "pow_vjp",
            BinaryOp::SquaredError => "mse_loss_vjp",
            BinaryOp::AbsoluteError => "l1_loss_vjp",
            BinaryOp::Huber(_) => "huber_loss_vjp",
            BinaryOp::Bce => "bce_loss_vjp",
            BinaryOp::BceWithLogits => "bce_with_logits_vjp",
            BinaryOp::KlDiv => "kl_div_vjp",
        }
    }

    /// The number that device code shares.
    pub const fn code(self) -> u32 {
        match self {
            BinaryOp::Add => number::ADD,
            BinaryOp::Sub => number::SUB,
            BinaryOp::Mul => number::MUL,
            BinaryOp::Div => number::DIV,
            BinaryOp::Max => number::MAX,
            BinaryOp::Min => number::MIN,
            BinaryOp::Pow => number::POW,
            BinaryOp::SquaredError => number::SQUARED_ERROR,
            BinaryOp::AbsoluteError => number::ABSOLUTE_ERROR,
            BinaryOp::Huber(_) => number::HUBER,
            BinaryOp::Bce => number::BCE,
            BinaryOp::BceWithLogits => number::BCE_WITH_LOGITS,
            BinaryOp::KlDiv => number::KL_DIV,
        }
    }

    /// The setting as the formulas take it; 0 where an op has none.
    pub(super) const fn setting(self) -> f64 {
        match self {
            BinaryOp::Huber(delta) => delta,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_are_numbered_in_their_order_and_derivatives_named_after_them() {
        for (number, op) in BinaryOp::ALL.into_iter().enumerate() {
            assert_eq!(op.code() as usize, number, "{}", op.name());
            assert_eq!(op.vjp_name(), format!("{}_vjp", op.name()));
        }
    }
}
