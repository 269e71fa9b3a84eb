//! The walk itself: order, sinks, depth, memory, and what is refused.

use std::error::Error as StdError;

use ringgrad_autograd::{Error, Gradient, LeafId, Sink, Var};
use tensor::{Device, Tensor, TensorMut};

fn leaf(device: &Device, name: &str, values: &[f64], shape: &[usize]) -> Var {
    Var::leaf(name, Tensor::from_slice(device, values, shape).unwrap())
}

fn values(x: &Tensor) -> Vec<f64> {
    x.to_vec().unwrap()
}

/// Records the order of emission, and where a gradient was written by the vjp itself.
#[derive(Default)]
struct Recorder {
    order: Vec<LeafId>,
    gradients: Vec<Vec<f64>>,
}

impl Sink for Recorder {
    fn emit(
        &mut self,
        leaf: LeafId,
        gradient: Gradient<'_>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>> {
        let shape = *gradient.shape();
        let mut place = vec![f64::NAN; shape.numel()];
        gradient.write_into(&mut TensorMut::new(&mut place, shape)?)?;
        self.order.push(leaf);
        self.gradients.push(place);
        Ok(())
    }
}

#[test]
fn gradients_of_repeated_use_add_up() {
    let device = Device::cpu();
    let x = leaf(&device, "x", &[2.0, -3.0], &[2]);
    let y = (&(&x * &x).unwrap() + &x).unwrap();
    let gradients = y.sum_all().unwrap().backward().unwrap();
    assert_eq!(values(gradients.get(&x).unwrap()), [5.0, -5.0]);
}

#[test]
fn a_leaf_is_emitted_once_when_its_last_contribution_has_arrived_last_layer_first() {
    let device = Device::cpu();
    let x = leaf(&device, "x", &[1.0, 2.0], &[1, 2]).detach();
    let first = leaf(&device, "first", &[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let bias = leaf(&device, "bias", &[0.5, 0.25], &[2]);
    let second = leaf(&device, "second", &[1.0, -1.0], &[1, 2]);
    let h = x.linear(&first, Some(&bias)).unwrap();
    let y = h.linear(&second, None).unwrap().sum_all().unwrap();
    let mut recorder = Recorder::default();
    y.backward_into(&mut recorder).unwrap();
    assert_eq!(recorder.order, [&second, &bias, &first].map(|leaf| leaf.id().unwrap()));
    assert_eq!(recorder.gradients[0], [5.5, 11.25]);
    assert_eq!(recorder.gradients[1], [1.0, -1.0]);
    assert_eq!(recorder.gradients[2], [1.0, 2.0, -1.0, -2.0]);
}

#[test]
fn a_leaf_used_by_two_layers_waits_for_both() {
    let device = Device::cpu();
    let w = leaf(&device, "tied", &[1.0, 2.0, 0.0, 1.0], &[2, 2]);
    let b = leaf(&device, "bias", &[0.0, 0.0], &[2]);
    let x = Var::constant(Tensor::from_slice(&device, &[1.0, 1.0], &[1, 2]).unwrap());
    let h = x.linear(&w, Some(&b)).unwrap();
    let y = h.linear(&w, None).unwrap().sum_all().unwrap();
    let mut recorder = Recorder::default();
    y.backward_into(&mut recorder).unwrap();
    assert_eq!(recorder.order, [&b, &w].map(|leaf| leaf.id().unwrap()));
    // h = [3, 1]; dy/dw through the second use is [3, 1] in each row, through the first
    // Wᵀ·1 = [1, 3] times x.
    assert_eq!(recorder.gradients[1], [4.0, 2.0, 6.0, 4.0]);
}

#[test]
fn the_order_of_emission_is_the_same_on_every_run() {
    let order = || {
        let device = Device::cpu();
        let leaves: Vec<Var> =
            (0..20).map(|i| leaf(&device, &format!("w{i}"), &[i as f64, 1.0], &[2])).collect();
        let mut sum = leaves[0].clone();
        for pair in leaves.chunks(2) {
            sum = (&sum + &(&pair[0] * &pair[1]).unwrap()).unwrap();
        }
        let mut recorder = Recorder::default();
        sum.sum_all().unwrap().backward_into(&mut recorder).unwrap();
        let place = |id| leaves.iter().position(|leaf| leaf.id() == Some(id)).unwrap();
        recorder.order.into_iter().map(place).collect::<Vec<_>>()
    };
    let first = order();
    assert_eq!(first.len(), 20);
    assert_eq!(first[..2], [18, 19]);
    (0..5).for_each(|_| assert_eq!(order(), first));
}

#[test]
fn a_chain_of_200_000_operations_survives_on_a_stack_of_one_mebibyte() {
    let work = || {
        let device = Device::cpu();
        let x = leaf(&device, "x", &[1.0], &[1]);
        let one = Var::constant(Tensor::scalar(&device, 1.0f64));
        let mut y = x.clone();
        for _ in 0..200_000 {
            y = (&y + &one).unwrap();
        }
        let gradients = y.sum_all().unwrap().backward().unwrap();
        assert_eq!(values(gradients.get(&x).unwrap()), [1.0]);
        drop(y);
        device.live_bytes()
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap();
    assert!(thread.join().unwrap() < 64);
}

#[test]
fn forwards_without_backward_leave_no_memory_behind() {
    let device = Device::cpu();
    let x = leaf(&device, "x", &[1.0; 64], &[8, 8]);
    let mut before = None;
    for _ in 0..10_000 {
        let y = x.matmul(&x).unwrap().relu().unwrap().sum_all().unwrap();
        drop(y);
        assert_eq!(*before.get_or_insert(device.live_bytes()), device.live_bytes());
    }
}

#[test]
fn a_missing_gradient_is_an_error_that_names_its_leaf() {
    let device = Device::cpu();
    let used = leaf(&device, "used", &[1.0], &[1]);
    let unused = leaf(&device, "head.bias", &[1.0], &[1]);
    let gradients = used.sum_all().unwrap().backward().unwrap();
    let message = gradients.get(&unused).unwrap_err().to_string();
    assert!(message.contains("no gradient reached head.bias"), "{message}");
    let detached = (&used.detach() * &unused).unwrap().sum_all().unwrap().backward().unwrap();
    assert!(detached.get(&used).is_err());
}

#[test]
fn a_backward_that_cannot_be_is_refused_with_the_rule() {
    let device = Device::cpu();
    let x = leaf(&device, "x", &[1.0, 2.0], &[2]);
    assert!(matches!(x.backward(), Err(Error::NotScalar { .. })));
    assert!(matches!(x.detach().sum_all().unwrap().backward(), Err(Error::NoLeaf)));
}

#[test]
fn a_sink_that_refuses_stops_the_walk_and_its_reason_comes_back() {
    struct Refuses(usize);
    impl Sink for Refuses {
        fn emit(
            &mut self,
            _: LeafId,
            _: Gradient<'_>,
        ) -> Result<(), Box<dyn StdError + Send + Sync>> {
            self.0 += 1;
            Err("no room".into())
        }
    }
    let device = Device::cpu();
    let (x, y) = (leaf(&device, "x", &[1.0], &[1]), leaf(&device, "y", &[1.0], &[1]));
    let loss = (&x * &y).unwrap().sum_all().unwrap();
    let mut sink = Refuses(0);
    let message = loss.backward_into(&mut sink).unwrap_err().to_string();
    assert!(message.contains("gradient of x was refused: no room"), "{message}");
    assert_eq!(sink.0, 1);
}

#[test]
fn a_graph_can_be_walked_twice_and_on_another_thread() {
    let device = Device::cpu();
    let x = leaf(&device, "x", &[3.0], &[1]);
    let loss = (&x * &x).unwrap().sum_all().unwrap();
    let here = values(loss.backward().unwrap().get(&x).unwrap());
    let there = std::thread::scope(|scope| {
        scope.spawn(|| values(loss.backward().unwrap().get(&x).unwrap())).join().unwrap()
    });
    assert_eq!((&here[..], here == there), (&[6.0][..], true));
}
