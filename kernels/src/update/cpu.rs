//! The loops of the update rules, one for each shape that a rule's settings give its formula.

use super::{Sgd, Update};
use crate::Float;
use crate::simd::simd;

/// Next parameters, and the next momentum buffer where there is one.
type Out<'a, T> = (&'a mut [T], Option<&'a mut [T]>);

/// The live values of the elements that one call covers.
struct Inputs<'a, T> {
    param: &'a [T],
    grad_sum: &'a [T],
    buffer: Option<&'a [T]>,
}

/// The settings in the element type.
#[derive(Clone, Copy)]
struct Scalars<T> {
    lr: T,
    momentum: T,
    /// 1 − dampening.
    fresh: T,
    weight_decay: T,
    count: T,
}

/// Steps the elements from `first` on; the lengths fit and there is a buffer with momentum.
pub(super) fn sgd<T: Float>(rule: &Sgd, u: &Update<'_, T>, first: usize, out: Out<'_, T>) {
    let s = Scalars {
        lr: T::from_f64(rule.lr),
        momentum: T::from_f64(rule.momentum),
        fresh: T::from_f64(1.0 - rule.dampening),
        weight_decay: T::from_f64(rule.weight_decay),
        count: T::from_f64(u.count),
    };
    let part = first..first + out.0.len();
    let inputs = Inputs {
        param: &u.param[part.clone()],
        grad_sum: &u.grad_sum[part.clone()],
        buffer: u.state.first().map(|buffer| &buffer[part]),
    };
    simd(
        #[inline(always)]
        || {
            // Two calls, so that neither loop asks for the penalty at each element.
            if rule.weight_decay == 0.0 {
                descend(
                    (rule, u.step),
                    s,
                    inputs,
                    out,
                    #[inline(always)]
                    |g: T, _: T| g / s.count,
                );
            } else {
                descend(
                    (rule, u.step),
                    s,
                    inputs,
                    out,
                    #[inline(always)]
                    |g: T, p: T| g / s.count + s.weight_decay * p,
                );
            }
        },
    );
}

/// The step along `d(grad_sum, param)`, by the kind of momentum.
#[inline(always)]
fn descend<T: Float>(
    (rule, step): (&Sgd, u64),
    s: Scalars<T>,
    inputs: Inputs<'_, T>,
    (param_out, buffer_out): Out<'_, T>,
    d: impl Fn(T, T) -> T,
) {
    let Inputs { param, grad_sum, buffer } = inputs;
    let inputs = param.iter().zip(grad_sum);
    let (Some(buffer), Some(buffer_out)) = (buffer, buffer_out) else {
        for (next, (&p, &g)) in param_out.iter_mut().zip(inputs) {
            *next = p - s.lr * d(g, p);
        }
        return;
    };
    let outputs = param_out.iter_mut().zip(buffer_out.iter_mut());
    match (step == 0, rule.nesterov) {
        (true, false) => {
            for ((next, next_b), (&p, &g)) in outputs.zip(inputs) {
                *next_b = d(g, p);
                *next = p - s.lr * *next_b;
            }
        }
        (true, true) => {
            for ((next, next_b), (&p, &g)) in outputs.zip(inputs) {
                let d = d(g, p);
                *next_b = d;
                *next = p - s.lr * (d + s.momentum * d);
            }
        }
        (false, false) => {
            for ((next, next_b), ((&p, &g), &b)) in outputs.zip(inputs.zip(buffer)) {
                *next_b = s.momentum * b + s.fresh * d(g, p);
                *next = p - s.lr * *next_b;
            }
        }
        (false, true) => {
            for ((next, next_b), ((&p, &g), &b)) in outputs.zip(inputs.zip(buffer)) {
                let d = d(g, p);
                let b = s.momentum * b + s.fresh * d;
                *next_b = b;
                *next = p - s.lr * (d + s.momentum * b);
            }
        }
    }
}
