//! Gradients of gradients: Hessian-vector products, third derivatives, and what is refused.

use ringgrad_autograd::{Error, Gradients, InputGrads, Inputs, Op, Result, Var, gradcheck_twice};
use tensor::{DType, Device, Tensor};

fn leaf(name: &str, values: &[f64]) -> Var {
    Var::leaf(name, Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap())
}

fn constant(values: &[f64]) -> Var {
    leaf("", values).detach()
}

fn values(x: &Tensor) -> Vec<f64> {
    x.cast(DType::F64).unwrap().to_vec().unwrap()
}

fn gradient_of(gradients: &Gradients, x: &Var) -> Vec<f64> {
    values(gradients.get(x).unwrap())
}

fn cube(x: &Var) -> Result<Var> {
    (&(x * x)? * x)?.sum_all()
}

#[test]
fn a_hessian_times_a_vector_is_the_gradient_of_the_gradient_times_it() {
    let (x, v) = (leaf("x", &[1.0, -2.0, 0.5]), constant(&[2.0, 1.0, -1.0]));
    let gradient = cube(&x).unwrap().gradients(&[&x]).unwrap().remove(0);
    assert_eq!(values(gradient.value()), [3.0, 12.0, 0.75]);
    let product = (&gradient * &v).unwrap().sum_all().unwrap();
    assert_eq!(gradient_of(&product.backward().unwrap(), &x), [12.0, -12.0, -3.0]);
}

#[test]
fn every_further_derivative_works_the_same_way() {
    // Derivatives of x³ at 2: 12, 12, 6, and then a constant that depends on nothing.
    let x = leaf("x", &[2.0]);
    let mut y = cube(&x).unwrap();
    for wanted in [12.0, 12.0, 6.0] {
        y = y.gradients(&[&x]).unwrap().remove(0);
        assert_eq!(values(y.value()), [wanted]);
    }
    assert!(matches!(y.gradients(&[&x]), Err(Error::NoGradient { .. } | Error::NoLeaf)));
    let mut y = x.exp().unwrap();
    for _ in 0..5 {
        y = y.gradients(&[&x]).unwrap().remove(0);
        assert_eq!(values(y.value()), values(x.exp().unwrap().value()));
    }
}

#[test]
fn gradients_with_respect_to_intermediates_and_leaves_are_those_of_backward() {
    let x = leaf("x", &[1.5, -0.5]);
    let h = (&x * &x).unwrap();
    let loss = (&(&h * &h).unwrap() + &x).unwrap().sum_all().unwrap();
    let again = loss.gradients(&[&h, &x, &loss]).unwrap();
    let once = loss.backward_wrt(&[&x, &h, &loss]).unwrap();
    for (var, gradient) in [&h, &x, &loss].into_iter().zip(&again) {
        assert_eq!(gradient_of(&once, var), values(gradient.value()));
    }
    assert_eq!(gradient_of(&once, &h), [4.5, 0.5]);
    assert_eq!(gradient_of(&once, &x), [14.5, 0.5]);
    assert_eq!(gradient_of(&once, &loss), [1.0]);
    assert_eq!(once.len(), 3);
}

#[test]
fn what_the_loss_does_not_depend_on_is_refused_by_name() {
    let (x, unused) = (leaf("x", &[1.0]), leaf("head.bias", &[1.0]));
    let loss = (&x * &x).unwrap().sum_all().unwrap();
    let wrt = [&x, &unused, &constant(&[1.0])];
    for refused in [loss.gradients(&wrt).err(), loss.backward_wrt(&wrt).err()] {
        let message = refused.unwrap().to_string();
        assert!(message.contains("no gradient reached head.bias, a constant;"), "{message}");
    }
    for refused in [loss.gradients(&[&unused]).err(), loss.backward_wrt(&[&unused]).err()] {
        assert!(refused.unwrap().to_string().contains("head.bias"));
    }
    assert_eq!(loss.gradients(&[]).unwrap().len(), 0);
    assert!(x.detach().sum_all().unwrap().gradients(&[&x]).is_err());
}

/// The identity whose vjp counts on not being asked: `x` is wanted, `y` is not.
struct First;

impl Op for First {
    fn name(&self) -> &'static str {
        "first"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        assert!(grads.wanted(0) && !grads.wanted(1));
        grads.give(0, dy.clone())
    }

    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        assert!(inputs.wanted(0) && !inputs.wanted(1));
        Ok(vec![dy.clone(), dy.clone()])
    }
}

#[test]
fn what_leads_to_no_wanted_gradient_is_not_walked() {
    let (x, y) = (leaf("x", &[1.0]), leaf("y", &[2.0]));
    let both = Var::from_op(x.value().clone(), &[&x, &y], First);
    let loss = both.sum_all().unwrap();
    assert_eq!(gradient_of(&loss.backward_wrt(&[&x]).unwrap(), &x), [1.0]);
    assert_eq!(values(loss.gradients(&[&x]).unwrap()[0].value()), [1.0]);
}

/// An operation with the given differentiable vjp.
struct Custom(fn(&Var) -> Result<Vec<Var>>);

impl Op for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.clone())
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        (self.0)(dy)
    }
}

#[test]
fn a_differentiable_vjp_keeps_the_contract_or_is_refused() {
    let refusal = |vjp: fn(&Var) -> Result<Vec<Var>>| {
        let x = leaf("x", &[1.0, 2.0]);
        let y = Var::from_op(x.value().clone(), &[&x], Custom(vjp)).sum_all().unwrap();
        y.gradients(&[&x]).unwrap_err().to_string()
    };
    assert!(refusal(|_| Ok(vec![])).contains("custom: the vjp gave 0 gradients for input 0"));
    let two = refusal(|dy| Ok(vec![dy.clone(), dy.clone()]));
    assert!(two.contains("a gradient for input 1; the operation has 1 inputs"), "{two}");
    let shape = refusal(|dy| Ok(vec![dy.sum_all()?]));
    assert!(shape.contains("custom") && shape.contains("f64 []"), "{shape}");
    let dtype = refusal(|dy| Ok(vec![dy.cast(DType::F32)?]));
    assert!(dtype.contains("f32 [2] for input 0, which is f64 [2]"), "{dtype}");
}

/// x in a second life, without a differentiable vjp.
struct Once;

impl Op for Once {
    fn name(&self) -> &'static str {
        "once"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.clone())
    }
}

#[test]
fn an_operation_with_a_first_derivative_only_is_named() {
    let x = leaf("x", &[1.0]);
    let y = Var::from_op(x.value().clone(), &[&x], Once).sum_all().unwrap();
    assert!(y.backward().is_ok());
    let message = y.gradients(&[&x]).unwrap_err().to_string();
    assert!(message.starts_with("once: its vjp cannot be differentiated again"), "{message}");
}

#[test]
fn a_wrong_second_derivative_is_caught() {
    // x² whose differentiable vjp forgets that the slope depends on x.
    struct Square(Tensor);
    impl Op for Square {
        fn name(&self) -> &'static str {
            "square"
        }
        fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
            grads.give(0, (&(dy * &self.0)? + &(dy * &self.0)?)?)
        }
        fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
            let slope = Var::constant((&self.0 + &self.0)?);
            Ok(vec![(dy * &slope)?])
        }
    }
    let input = [(vec![0.5, -1.0], vec![2])];
    let wrong = gradcheck_twice(&input, |x| {
        let y = (x[0].value() * x[0].value())?;
        Var::from_op(y, &[&x[0]], Square(x[0].value().clone())).sum_all()
    });
    let wrong = wrong.unwrap();
    assert_eq!((wrong.len(), wrong[0].element, wrong[0].analytic), (2, 0, 0.0));
    assert!(wrong[0].numeric.abs() > 0.5);
    assert_eq!(gradcheck_twice(&input, |x| cube(&x[0])).unwrap(), []);
    assert_eq!(gradcheck_twice(&input, |x| x[0].sum_all()).unwrap(), []);
}

#[test]
fn halves_pass_through_both_walks() {
    let x = leaf("x", &[1.5, -0.5]);
    let y = x.cast(DType::BF16).unwrap().cast(DType::F64).unwrap();
    let gradient = cube(&y).unwrap().gradients(&[&x]).unwrap().remove(0);
    assert_eq!(values(gradient.value()), [6.75, 0.75]);
    let second = gradient.sum_all().unwrap().backward().unwrap();
    assert_eq!(gradient_of(&second, &x), [9.0, -3.0]);
}
