//! What a vjp must give, and what is said to one that gives something else.

use ringgrad_autograd::{Error, Gradients, InputGrads, Op, Result, Var};
use tensor::{Device, Tensor, TensorMut};

/// An operation of one input whose vjp is the given function.
struct Custom(fn(&Tensor, &mut InputGrads<'_>) -> Result<()>);

impl Op for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        (self.0)(dy, grads)
    }
}

fn leaf(name: &str, values: &[f32]) -> Var {
    Var::leaf(name, Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap())
}

/// The gradient of w through the custom operation, at the leaf itself and behind a sum.
fn gradients(vjp: fn(&Tensor, &mut InputGrads<'_>) -> Result<()>) -> [Result<Vec<f32>>; 2] {
    [false, true].map(|inner| {
        let w = leaf("w", &[3.0, 4.0]);
        let zero = Var::constant(Tensor::scalar(&Device::cpu(), 0.0f32));
        let x = if inner { (&w + &zero)? } else { w.clone() };
        let y = Var::from_op(Tensor::scalar(&Device::cpu(), 1.0f32), &[&x], Custom(vjp));
        Ok(y.backward()?.get(&w)?.to_vec()?)
    })
}

fn one() -> Tensor {
    Tensor::full(&Device::cpu(), 1.0f32, &[2]).unwrap()
}

fn fill(out: &mut TensorMut<'_>) -> tensor::Result<()> {
    out.copy_from(&one())
}

fn assert_refused(vjp: fn(&Tensor, &mut InputGrads<'_>) -> Result<()>, parts: &[&str]) {
    for result in gradients(vjp) {
        let message = result.unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn exactly_one_gradient_is_taken_given_or_written() {
    for result in gradients(|_, grads| grads.give(0, one())) {
        assert_eq!(result.unwrap(), [1.0, 1.0]);
    }
    for result in gradients(|_, grads| grads.write(0, fill)) {
        assert_eq!(result.unwrap(), [1.0, 1.0]);
    }
}

#[test]
fn none_or_two_gradients_for_a_wanted_input_are_refused_with_their_number() {
    assert_refused(|_, _| Ok(()), &["custom: the vjp gave 0 gradients for input 0"]);
    let two = &["custom: the vjp gave 2 gradients for input 0", "exactly one"];
    assert_refused(|_, g| g.give(0, one()).and_then(|()| g.give(0, one())), two);
    assert_refused(|_, g| g.write(0, fill).and_then(|()| g.write(0, fill)), two);
    assert_refused(|_, g| g.give(0, one()).and_then(|()| g.write(0, fill)), two);
    assert_refused(|_, g| g.write(0, fill).and_then(|()| g.give(0, one())), two);
    // Also when the vjp hides the refusal.
    let hidden = |_: &Tensor, g: &mut InputGrads<'_>| {
        g.give(0, one())?;
        let _ = g.give(0, one());
        Ok(())
    };
    assert_refused(hidden, two);
}

#[test]
fn a_gradient_for_an_input_that_does_not_exist_or_does_not_fit_is_refused() {
    assert_refused(|_, g| g.give(5, one()), &["custom", "input 5", "1 inputs"]);
    assert_refused(|_, g| g.write(1, fill), &["custom", "input 1", "1 inputs"]);
    let wrong = |_: &Tensor, g: &mut InputGrads<'_>| {
        g.give(0, Tensor::full(&Device::cpu(), 1.0f64, &[3]).unwrap())
    };
    assert_refused(wrong, &["custom", "f64 [3]", "input 0", "f32 [2]"]);
}

#[test]
fn a_closure_that_writes_nothing_gave_no_gradient() {
    assert_refused(|_, g| g.write(0, |_| Ok(())), &["custom: the vjp gave 0 gradients"]);
}

#[test]
fn a_gradient_that_is_not_wanted_is_dropped() {
    let w = leaf("w", &[3.0, 4.0]);
    let constant = w.detach();
    let both = |_: &Tensor, g: &mut InputGrads<'_>| {
        assert!(g.wanted(0) && !g.wanted(1) && !g.wanted(2));
        g.give(1, one())?;
        g.write(1, |_| panic!("nobody wants it"))?;
        g.give(0, one())
    };
    let value = Tensor::scalar(&Device::cpu(), 1.0f32);
    let y = Var::from_op(value, &[&w, &constant], Custom(both));
    assert_eq!(y.backward().unwrap().get(&w).unwrap().to_vec::<f32>().unwrap(), [1.0, 1.0]);
}

#[test]
fn a_leaf_of_a_type_without_gradients_is_refused_by_name_and_type() {
    let device = Device::cpu();
    let single = |t: Tensor| Var::leaf("classes", t).reshape(&[]).unwrap().backward();
    for (tensor, dtype) in [
        (Tensor::full(&device, 1i64, &[1]).unwrap(), "i64"),
        (Tensor::full(&device, 1u8, &[1]).unwrap(), "u8"),
        (Tensor::full(&device, 0.0f32, &[1]).unwrap().cast(tensor::DType::F16).unwrap(), "f16"),
    ] {
        let message = Var::leaf("n", tensor.clone()).backward().unwrap_err().to_string();
        assert!(message.starts_with(&format!("n: elements of type {dtype}")), "{message}");
        assert!(matches!(single(tensor), Err(Error::NotDifferentiable { .. })));
    }
    // A leaf that the loss reaches through a custom operation only.
    let classes = Var::leaf("classes", Tensor::full(&device, 1i64, &[2]).unwrap());
    let value = Tensor::scalar(&device, 1.0f32);
    let y = Var::from_op(value, &[&classes], Custom(|_, g| g.give(0, one())));
    assert!(y.backward().unwrap_err().to_string().starts_with("classes: elements of type i64"));
}

#[test]
fn gradients_answer_for_no_leaf_that_came_after_them() {
    for _ in 0..100 {
        let gradients = {
            let w = leaf("w", &[3.0, 4.0]);
            (&w * &w).unwrap().sum_all().unwrap().backward().unwrap()
        };
        let later: Vec<Var> = (0..8).map(|i| leaf("later", &[i as f32; 3])).collect();
        assert!(later.iter().all(|leaf| gradients.get(leaf).is_err()));
        assert_eq!(gradients.len(), 1);
    }
}

#[test]
fn one_set_of_gradients_takes_one_backward() {
    let (w, v) = (leaf("w", &[3.0]), leaf("v", &[5.0]));
    let mut gradients = Gradients::default();
    let square = |x: &Var| (x * x).unwrap().sum_all().unwrap();
    square(&w).backward_into(&mut gradients).unwrap();
    let message = square(&w).backward_into(&mut gradients).unwrap_err().to_string();
    assert!(message.contains("w has one already"), "{message}");
    assert_eq!(gradients.get(&w).unwrap().to_vec::<f32>().unwrap(), [6.0]);
    square(&v).backward_into(&mut gradients).unwrap();
    assert_eq!(gradients.get(&v).unwrap().to_vec::<f32>().unwrap(), [10.0]);
}
