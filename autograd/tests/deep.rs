//! Long graphs, graphs on many threads, and walks inside walks.

use ringgrad_autograd::{Error, InputGrads, Op, Result, Var};
use tensor::{Device, Tensor};

fn leaf(device: &Device, name: &str, values: &[f64]) -> Var {
    Var::leaf(name, Tensor::from_slice(device, values, &[values.len()]).unwrap())
}

fn values(x: &Tensor) -> Vec<f64> {
    x.to_vec().unwrap()
}

/// Runs `work` on a thread with a stack of one mebibyte.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

const LONG: usize = 200_000;

#[test]
fn a_second_derivative_through_200_000_operations_needs_no_deep_stack() {
    let live = on_a_small_stack(|| {
        let device = Device::cpu();
        let x = leaf(&device, "x", &[3.0]);
        let zero = Var::constant(Tensor::scalar(&device, 0.0f64));
        let mut y = x.clone();
        for _ in 0..LONG {
            y = (&y + &zero).unwrap();
        }
        let loss = (&y * &y).unwrap().sum_all().unwrap();
        drop(y);
        let gradient = loss.gradients(&[&x]).unwrap().remove(0);
        assert_eq!(values(gradient.value()), [6.0]);
        // The graph of the gradient holds the chain as well.
        drop(loss);
        let second = gradient.sum_all().unwrap().backward().unwrap();
        assert_eq!(values(second.get(&x).unwrap()), [2.0]);
        drop(gradient);
        device.live_bytes()
    });
    assert!(live < 64, "{live} bytes stayed");
}

#[test]
fn a_chain_that_its_gradient_depends_on_link_by_link_needs_no_deep_stack() {
    on_a_small_stack(|| {
        let device = Device::cpu();
        let x = leaf(&device, "x", &[1.0]);
        let mut y = x.clone();
        // Each product saves its operands, and its gradient is a function of them.
        for _ in 0..LONG / 4 {
            y = (&y * &x).unwrap();
        }
        let gradient = y.sum_all().unwrap().gradients(&[&x]).unwrap().remove(0);
        drop(y);
        // x^(n + 1) at 1: n + 1 and (n + 1) · n.
        let n = (LONG / 4) as f64;
        assert_eq!(values(gradient.value()), [n + 1.0]);
        let second = gradient.sum_all().unwrap().backward().unwrap();
        assert_eq!(values(second.get(&x).unwrap()), [(n + 1.0) * n]);
    });
}

#[test]
fn second_derivatives_leave_no_memory_behind() {
    let device = Device::cpu();
    let x = leaf(&device, "x", &[0.5, -1.0, 2.0]);
    let mut before = None;
    for _ in 0..200 {
        let y = x.tanh().unwrap().square().unwrap().sum_all().unwrap();
        let gradient = y.gradients(&[&x]).unwrap().remove(0);
        drop(gradient.square().unwrap().sum_all().unwrap().backward().unwrap());
        drop((y, gradient));
        assert_eq!(*before.get_or_insert(device.live_bytes()), device.live_bytes());
    }
}

/// A number of steps of gradient descent; the bits of every loss and of the last weights.
fn descent(steps: usize) -> Vec<u64> {
    let device = Device::cpu();
    let x = Tensor::from_slice(&device, &[0.3, -1.2, 0.7, 0.1, 2.0, -0.4], &[3, 2]).unwrap();
    let x = Var::constant(x);
    let mut w = Tensor::from_slice(&device, &[0.2, -0.5, 1.1, 0.4], &[2, 2]).unwrap();
    let rate = Tensor::scalar(&device, 0.05f64);
    let mut bits = Vec::new();
    for _ in 0..steps {
        let leaf = Var::leaf("w", w.clone());
        let loss = x.linear(&leaf, None).unwrap().tanh().unwrap().square().unwrap();
        let loss = loss.sum_all().unwrap();
        bits.push(loss.value().item::<f64>().unwrap().to_bits());
        let gradients = loss.backward().unwrap();
        let change = (gradients.get(&leaf).unwrap() * &rate).unwrap();
        w = (&w - &change).unwrap();
    }
    bits.extend(values(&w).iter().map(|x| x.to_bits()));
    bits
}

#[test]
fn eight_threads_with_a_graph_each_get_the_bits_of_one() {
    let alone = descent(200);
    assert_eq!(alone.len(), 204);
    assert_ne!(alone[0], alone[199]);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| descent(200))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

/// y = x³, whose vjp asks another graph for the slope.
struct Cube {
    x: Tensor,
}

impl Op for Cube {
    fn name(&self) -> &'static str {
        "cube"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let x = Var::leaf("inner", self.x.clone());
        let cube = (&(&x * &x)? * &x)?;
        let inner = (&cube * &Var::constant(dy.clone()))?.sum_all()?.backward()?;
        grads.give(0, inner.get(&x)?.clone())
    }
}

fn cube(x: &Var) -> Result<Var> {
    let value = (&(x.value() * x.value())? * x.value())?;
    Ok(Var::from_op(value, &[x], Cube { x: x.value().clone() }))
}

#[test]
fn a_vjp_may_walk_a_graph_of_its_own() {
    let device = Device::cpu();
    let (x, w) = (leaf(&device, "x", &[2.0, -1.0]), leaf(&device, "w", &[3.0, 0.5]));
    let loss = (&cube(&cube(&x).unwrap()).unwrap() * &w).unwrap().sum_all().unwrap();
    let gradients = loss.backward().unwrap();
    // x⁹ has the slope 9x⁸.
    assert_eq!(values(gradients.get(&x).unwrap()), [9.0 * 256.0 * 3.0, 9.0 * 0.5]);
    assert_eq!(values(gradients.get(&w).unwrap()), [512.0, -1.0]);
    assert_eq!(gradients.len(), 2);
}

#[test]
fn leaves_without_a_gradient_are_listed_by_name() {
    let device = Device::cpu();
    let leaves =
        ["used", "head.bias", "head.weight"].map(|name| (leaf(&device, name, &[1.0]), name));
    let gradients = leaves[0].0.square().unwrap().sum_all().unwrap().backward().unwrap();
    let asked = leaves.iter().map(|(leaf, name)| (leaf.id().unwrap(), *name));
    match gradients.of(asked).unwrap_err() {
        Error::NoGradient { names } => assert_eq!(names, ["head.bias", "head.weight"]),
        other => panic!("{other}"),
    }
    for (leaf, name) in &leaves[1..] {
        assert!(gradients.get(leaf).unwrap_err().to_string().contains(name));
    }
    // A product with a constant 0 is a use: its gradient is 0 and there.
    let zero = Var::constant(Tensor::scalar(&device, 0.0f64));
    let silent = (&leaves[1].0 * &zero).unwrap().sum_all().unwrap().backward().unwrap();
    assert_eq!(values(silent.get(&leaves[1].0).unwrap()), [0.0]);
}
