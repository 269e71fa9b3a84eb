//! The number of each op, and a loop of its own for each.

use super::UnaryOp;
use crate::PerOp;

pub(super) const NEG: u32 = 0;
pub(super) const ABS: u32 = 1;
pub(super) const EXP: u32 = 2;
pub(super) const LN: u32 = 3;
pub(super) const SQRT: u32 = 4;
pub(super) const RECIP: u32 = 5;
pub(super) const SQUARE: u32 = 6;
pub(super) const RELU: u32 = 7;
pub(super) const TANH: u32 = 8;
pub(super) const SIGMOID: u32 = 9;
pub(super) const SIN: u32 = 10;
pub(super) const COS: u32 = 11;
pub(super) const ERF: u32 = 12;
pub(super) const GELU: u32 = 13;
pub(super) const GELU_TANH: u32 = 14;
pub(super) const SILU: u32 = 15;
pub(super) const SOFTPLUS: u32 = 16;
pub(super) const LOG1P: u32 = 17;
pub(super) const RSQRT: u32 = 18;
pub(super) const SIGN: u32 = 19;
pub(super) const FLOOR: u32 = 20;
pub(super) const CEIL: u32 = 21;
pub(super) const ROUND: u32 = 22;
pub(super) const LEAKY_RELU: u32 = 23;
pub(super) const ELU: u32 = 24;
pub(super) const POWF: u32 = 25;
pub(super) const SHIFT: u32 = 26;
pub(super) const SCALE: u32 = 27;
pub(super) const CLAMP: u32 = 28;

impl UnaryOp {
    /// Runs `per_op` for this op's number.
    #[inline(always)]
    pub(super) fn dispatch<F: PerOp>(self, per_op: F) -> F::Output {
        match self {
            UnaryOp::Neg => per_op.run::<{ NEG }>(),
            UnaryOp::Abs => per_op.run::<{ ABS }>(),
            UnaryOp::Exp => per_op.run::<{ EXP }>(),
            UnaryOp::Ln => per_op.run::<{ LN }>(),
            UnaryOp::Sqrt => per_op.run::<{ SQRT }>(),
            UnaryOp::Recip => per_op.run::<{ RECIP }>(),
            UnaryOp::Square => per_op.run::<{ SQUARE }>(),
            UnaryOp::Relu => per_op.run::<{ RELU }>(),
            UnaryOp::Tanh => per_op.run::<{ TANH }>(),
            UnaryOp::Sigmoid => per_op.run::<{ SIGMOID }>(),
            UnaryOp::Sin => per_op.run::<{ SIN }>(),
            UnaryOp::Cos => per_op.run::<{ COS }>(),
            UnaryOp::Erf => per_op.run::<{ ERF }>(),
            UnaryOp::Gelu => per_op.run::<{ GELU }>(),
            UnaryOp::GeluTanh => per_op.run::<{ GELU_TANH }>(),
            UnaryOp::Silu => per_op.run::<{ SILU }>(),
            UnaryOp::Softplus => per_op.run::<{ SOFTPLUS }>(),
            UnaryOp::Log1p => per_op.run::<{ LOG1P }>(),
            UnaryOp::Rsqrt => per_op.run::<{ RSQRT }>(),
            UnaryOp::Sign => per_op.run::<{ SIGN }>(),
            UnaryOp::Floor => per_op.run::<{ FLOOR }>(),
            UnaryOp::Ceil => per_op.run::<{ CEIL }>(),
            UnaryOp::Round => per_op.run::<{ ROUND }>(),
            UnaryOp::LeakyRelu(_) => per_op.run::<{ LEAKY_RELU }>(),
            UnaryOp::Elu(_) => per_op.run::<{ ELU }>(),
            UnaryOp::Powf(_) => per_op.run::<{ POWF }>(),
            UnaryOp::Shift(_) => per_op.run::<{ SHIFT }>(),
            UnaryOp::Scale(_) => per_op.run::<{ SCALE }>(),
            UnaryOp::Clamp(..) => per_op.run::<{ CLAMP }>(),
        }
    }
}
