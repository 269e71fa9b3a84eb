//! The number of each op, and a loop of its own for each.

use super::BinaryOp;
use crate::PerOp;

pub(super) const ADD: u32 = 0;
pub(super) const SUB: u32 = 1;
pub(super) const MUL: u32 = 2;
pub(super) const DIV: u32 = 3;
pub(super) const MAX: u32 = 4;
pub(super) const MIN: u32 = 5;
pub(super) const POW: u32 = 6;
pub(super) const SQUARED_ERROR: u32 = 7;
pub(super) const ABSOLUTE_ERROR: u32 = 8;
pub(super) const HUBER: u32 = 9;
pub(super) const BCE: u32 = 10;
pub(super) const BCE_WITH_LOGITS: u32 = 11;
pub(super) const KL_DIV: u32 = 12;

impl BinaryOp {
    /// Runs `per_op` for this op's number.
    #[inline(always)]
    pub(super) fn dispatch<F: PerOp>(self, per_op: F) -> F::Output {
        match self {
            BinaryOp::Add => per_op.run::<{ ADD }>(),
            BinaryOp::Sub => per_op.run::<{ SUB }>(),
            BinaryOp::Mul => per_op.run::<{ MUL }>(),
            BinaryOp::Div => per_op.run::<{ DIV }>(),
            BinaryOp::Max => per_op.run::<{ MAX }>(),
            BinaryOp::Min => per_op.run::<{ MIN }>(),
            BinaryOp::Pow => per_op.run::<{ POW }>(),
            BinaryOp::SquaredError => per_op.run::<{ SQUARED_ERROR }>(),
            BinaryOp::AbsoluteError => per_op.run::<{ ABSOLUTE_ERROR }>(),
            BinaryOp::Huber(_) => per_op.run::<{ HUBER }>(),
            BinaryOp::Bce => per_op.run::<{ BCE }>(),
            BinaryOp::BceWithLogits => per_op.run::<{ BCE_WITH_LOGITS }>(),
            BinaryOp::KlDiv => per_op.run::<{ KL_DIV }>(),
        }
    }
}
