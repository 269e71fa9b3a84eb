//! Which function of two variables: its name, its number, its setting.

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
            BinaryOp::Add => 0,
            BinaryOp::Sub => 1,
            BinaryOp::Mul => 2,
            BinaryOp::Div => 3,
            BinaryOp::Max => 4,
            BinaryOp::Min => 5,
            BinaryOp::Pow => 6,
            BinaryOp::SquaredError => 7,
            BinaryOp::AbsoluteError => 8,
            BinaryOp::Huber(_) => 9,
            BinaryOp::Bce => 10,
            BinaryOp::BceWithLogits => 11,
            BinaryOp::KlDiv => 12,
        }
    }

    /// Sums, products and the like, next to the losses and powers.
    #[inline(always)]
    pub(super) fn is_arithmetic(self) -> bool {
        use BinaryOp::{Add, Div, Max, Min, Mul, Sub};
        matches!(self, Add | Sub | Mul | Div | Max | Min)
    }

    /// Calls `body` with this op as a constant, so that a loop in an inlined `body` is compiled
    /// once for each op and has no match inside.
    #[inline(always)]
    pub(super) fn fixed(self, body: impl FnOnce(BinaryOp)) {
        match self {
            BinaryOp::Add => body(BinaryOp::Add),
            BinaryOp::Sub => body(BinaryOp::Sub),
            BinaryOp::Mul => body(BinaryOp::Mul),
            BinaryOp::Div => body(BinaryOp::Div),
            BinaryOp::Max => body(BinaryOp::Max),
            BinaryOp::Min => body(BinaryOp::Min),
            BinaryOp::Pow => body(BinaryOp::Pow),
            BinaryOp::SquaredError => body(BinaryOp::SquaredError),
            BinaryOp::AbsoluteError => body(BinaryOp::AbsoluteError),
            BinaryOp::Huber(a) => body(BinaryOp::Huber(a)),
            BinaryOp::Bce => body(BinaryOp::Bce),
            BinaryOp::BceWithLogits => body(BinaryOp::BceWithLogits),
            BinaryOp::KlDiv => body(BinaryOp::KlDiv),
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
