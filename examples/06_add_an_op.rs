//! An operation of your own: its value, its vjp, a vjp that can be differentiated again, and the
//! checks that tell whether they are right.
//!
//! `cargo run --release --example 06_add_an_op`

use ringgrad::autograd::{self, InputGrads, Inputs, Op, gradcheck, gradcheck_twice};
use ringgrad::nn::{Context, Init, Linear, Module, Parameter, Sequential, summary};
use ringgrad::tensor::DType;
use ringgrad::{Device, Result, Tensor, Var, nn};

/// `y = x · sigmoid(β · x)` with a number β, known as swish (Ramachandran et al. 2017, "Searching
/// for activation functions", eq. 1). With `s = sigmoid(β · x)` the slope is
/// `s + β · x · s · (1 − s)`.
struct Swish {
    x: Tensor,
    beta: f64,
}

impl Op for Swish {
    fn name(&self) -> &'static str {
        "swish"
    }

    /// What `backward` calls: exactly one gradient for each input that wants one.
    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> autograd::Result<()> {
        let s = (&self.x * self.beta)?.sigmoid()?;
        let rest = (&(&s * -1.0)? + 1.0)?;
        let bend = (&(&self.x * &(&s * &rest)?)? * self.beta)?;
        grads.give(0, (dy * &(&s + &bend)?)?)
    }

    /// The same over variables: what gradients of gradients are made of. Without it they are an
    /// error that names the operation.
    fn vjp_var(&self, dy: &Var, inputs: &Inputs<'_>) -> autograd::Result<Vec<Var>> {
        let x = inputs.var(0, &self.x);
        let s = (&x * self.beta)?.sigmoid()?;
        let rest = (&(&s * -1.0)? + 1.0)?;
        let bend = (&(&x * &(&s * &rest)?)? * self.beta)?;
        Ok(vec![(dy * &(&s + &bend)?)?])
    }
}

fn swish(x: &Var, beta: f64) -> autograd::Result<Var> {
    let value = x.value();
    let y = (value * &(value * beta)?.sigmoid()?)?;
    Ok(Var::from_op(y, &[x], Swish { x: value.clone(), beta }))
}

/// The operation as a layer.
struct SwishLayer;

impl Module for SwishLayer {
    fn describe(&self) -> String {
        "Swish".to_owned()
    }

    fn forward(&self, _: &Context, x: &Var) -> nn::Result<Var> {
        Ok(swish(x, 1.5)?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}

fn main() -> Result<()> {
    // Central differences know whether the gradient is right, and the gradient's gradient.
    let inputs = [(vec![0.3, -0.7, 1.1, -2.4], vec![2, 2])];
    let f = |x: &[Var]| swish(&x[0], 1.5)?.sum_all();
    assert_eq!(gradcheck(&inputs, f)?, []);
    assert_eq!(gradcheck_twice(&inputs, f)?, []);

    // The graph, for `dot -Tsvg`.
    let device = Device::cpu();
    let x = Var::leaf("x", Tensor::from_vec(&device, vec![0.5f32, -1.0], &[2])?);
    let loss = swish(&x, 1.5)?.sum_all()?;
    let dot = loss.to_dot();
    assert!(dot.contains("swish"));
    println!("{dot}");

    // A backward that looks at every gradient names the operation that made the first NaN.
    let root = Var::leaf("x", Tensor::from_vec(&device, vec![-1.0f32, 4.0], &[2])?).sqrt()?;
    let error = swish(&root, 1.5)?.sum_all()?.backward_checked().unwrap_err();
    println!("{error}\n");
    assert!(error.to_string().contains("swish"));

    // In a network it is a layer like any other.
    let init = Init::new(&device, 1);
    let model = Sequential::new()
        .then(Linear::new(&init.at("up"), 8, 16)?)
        .then(SwishLayer)
        .then(Linear::new(&init.at("down"), 16, 2)?);
    let batch = Var::constant(Tensor::zeros(&device, DType::F32, &[4, 8])?);
    println!("{}", summary(&model, &Context::eval(), &batch)?);
    Ok(())
}
