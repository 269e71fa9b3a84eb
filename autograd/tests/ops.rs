//! Every operation's gradient against central differences, and its additivity over a batch; with
//! a wrong gradient to show that the check can fail.

mod common;

use common::{check, check_batched, input, positive_input, spread};
use ringgrad_autograd::{InputGrads, Op, Result, Var, gradcheck};
use tensor::{BinaryOp, Device, Tensor, UnaryOp};

#[test]
fn unary_gradients_agree_with_central_differences() {
    for op in UnaryOp::ALL {
        let domain = match op {
            UnaryOp::Ln | UnaryOp::Sqrt | UnaryOp::Recip | UnaryOp::Rsqrt | UnaryOp::Log1p => {
                positive_input(&[3, 4], 0.4)
            }
            _ => input(&[3, 4], 0.2),
        };
        check_batched(op.name(), &[domain], 1, |x| x[0].unary(op));
    }
}

#[test]
fn binary_gradients_agree_and_are_summed_back_over_broadcast_axes() {
    use BinaryOp::{Add, Div, Max, Min, Mul, Pow, Sub};
    for op in [Add, Sub, Mul, Div, Max, Min, Pow] {
        for (left, right) in
            [(vec![3, 4], vec![3, 4]), (vec![2, 1, 3], vec![4, 1]), (vec![], vec![2, 2])]
        {
            let base = if op == Pow { positive_input(&left, 0.3) } else { input(&left, 0.3) };
            let inputs = [base, positive_input(&right, 0.4)];
            check(op.name(), &inputs, |x| x[0].binary(op, &x[1]));
        }
    }
}

#[test]
fn matmul_and_linear_gradients_agree_also_through_views() {
    let a = (spread(6, 0.1), vec![2, 3]);
    let b = (spread(12, 0.5), vec![3, 4]);
    check("matmul", &[a.clone(), b.clone()], |x| x[0].matmul(&x[1]));
    check("matmul of views", &[a, (spread(12, 0.5), vec![4, 3])], |x| {
        x[0].matmul(&x[1].transpose(0, 1)?)
    });
    let (x, w, bias) = ((spread(12, 0.1), vec![2, 2, 3]), (spread(12, 0.7), vec![4, 3]), 0.2);
    let bias = (spread(4, bias), vec![4]);
    let biased = [x.clone(), w.clone(), bias];
    check_batched("linear", &biased, 1, |x| x[0].linear(&x[1], Some(&x[2])));
    check_batched("linear without bias", &[x, w], 1, |x| x[0].linear(&x[1], None));
    let one = [(spread(3, 0.1), vec![3]), (spread(3, 0.7), vec![1, 3])];
    check("linear of one sample to one output", &one, |x| x[0].linear(&x[1], None));
}

#[test]
fn sums_and_views_have_the_gradients_of_what_they_move() {
    let x = || [(spread(24, 0.2), vec![2, 3, 4])];
    for axis in 0..3 {
        for keep in [false, true] {
            check("sum", &x(), |x| x[0].sum(axis, keep));
        }
    }
    check("sum_all", &x(), |x| x[0].sum_all());
    check("reshape", &x(), |x| x[0].reshape(&[4, 6]));
    check("permute", &x(), |x| x[0].permute(&[2, 0, 1]));
    check("transpose", &x(), |x| x[0].transpose(0, 2));
    check("narrow", &x(), |x| x[0].narrow(1, 1, 2));
    check("narrow of a permuted view", &x(), |x| x[0].permute(&[1, 2, 0])?.narrow(1, 2, 2));
    check("broadcast_to", &[(spread(3, 0.2), vec![3, 1])], |x| x[0].broadcast_to(&[2, 3, 4]));
}

#[test]
fn cross_entropy_gradients_agree() {
    let logits = || [input(&[3, 5], 0.6)];
    let targets = Tensor::from_vec(&Device::cpu(), vec![2i64, 0, 4], &[3]).unwrap();
    let weights = Tensor::from_vec(&Device::cpu(), vec![0.5, 0.0, 2.0], &[3]).unwrap();
    check("cross_entropy", &logits(), |x| x[0].cross_entropy(&targets));
    check("cross_entropy of three axes", &[input(&[3, 1, 5], 0.6)], |x| {
        x[0].cross_entropy(&targets.reshape(&[3, 1])?)
    });
    check("nll_loss", &logits(), |x| x[0].nll_loss(&targets, &weights));
    let q = Tensor::from_vec(&Device::cpu(), spread(15, 0.2), &[3, 5]).unwrap();
    check("soft_cross_entropy", &logits(), |x| {
        x[0].soft_cross_entropy(&q.cast(x[0].value().dtype())?)
    });
}

/// y = 2x with a vjp that says 3.
struct Wrong;

impl Op for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, (dy * &Tensor::scalar(dy.device(), 3.0f64))?)
    }
}

#[test]
fn a_wrong_gradient_is_caught_with_its_element_and_both_values() {
    let mismatches = gradcheck(&[(vec![0.5], vec![1])], |x| {
        let two = Tensor::scalar(x[0].value().device(), 2.0f64);
        Var::from_op((x[0].value() * &two)?, &[&x[0]], Wrong).sum_all()
    });
    let mismatch = &mismatches.unwrap()[0];
    assert_eq!((mismatch.input, mismatch.element, mismatch.analytic), (0, 0, 3.0));
    assert!((mismatch.numeric - 2.0).abs() < 1e-8);
}

/// y = x with a gradient of another shape.
struct Misshapen;

impl Op for Misshapen {
    fn name(&self) -> &'static str {
        "misshapen"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.reshape(&[2, 1])?)
    }
}

#[test]
fn a_vjp_that_gives_another_shape_is_an_error_with_both_shapes() {
    let x = Var::leaf("x", Tensor::from_slice(&Device::cpu(), &[1.0, 2.0], &[2]).unwrap());
    let y = Var::from_op(x.value().clone(), &[&x], Misshapen).sum_all().unwrap();
    let message = y.backward().unwrap_err().to_string();
    assert!(message.contains("misshapen") && message.contains("[2, 1]"), "{message}");
    assert!(message.contains("[2]"), "{message}");
}
