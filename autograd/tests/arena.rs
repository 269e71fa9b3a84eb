//! The parameters' flat memory: what a step must cover, who may hold what, and what is refused.

use kernels::update::{Sgd, UpdateRule};
use ringgrad_autograd::{Error, LeafArena, Result};
use tensor::{DType, Device, Tensor};

fn rule(lr: f64, momentum: f64) -> UpdateRule {
    let (dampening, weight_decay) = (0.0, 0.0);
    UpdateRule::Sgd(Sgd { lr, momentum, dampening, nesterov: false, weight_decay })
}

fn named(name: &str, values: &[f32]) -> (String, Tensor) {
    (name.to_owned(), Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap())
}

/// a = [1, 2], z = [], b = [3].
fn arena(state_buffers: usize) -> LeafArena {
    let values = [named("a", &[1.0, 2.0]), named("z", &[]), named("b", &[3.0])];
    LeafArena::new(&Device::cpu(), &values, state_buffers).unwrap()
}

fn params(arena: &LeafArena) -> Vec<f32> {
    arena.params().to_vec().unwrap()
}

fn step(arena: &mut LeafArena, gradients: &[f32]) -> Result<()> {
    let rule = rule(1.0, 0.0);
    let mut next = arena.next_step(&rule, 1.0)?;
    next.write(0..gradients.len(), gradients)?;
    next.finish()?.flip();
    Ok(())
}

fn assert_says<T>(result: Result<T>, parts: &[&str]) {
    let message = result.err().expect("an error").to_string();
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[test]
fn a_step_in_parts_is_taken_when_every_element_was_written_once() {
    let (mut arena, rule) = (arena(0), rule(1.0, 0.0));
    let mut next = arena.next_step(&rule, 2.0).unwrap();
    next.write(next.arena().range(2), &[2.0f32]).unwrap();
    next.write(next.arena().range(0), &[4.0f32, 6.0]).unwrap();
    next.write(next.arena().range(1), &[0.0f32; 0]).unwrap();
    next.finish().unwrap().flip();
    assert_eq!((params(&arena), arena.steps()), (vec![-1.0, -1.0, 2.0], 1));
}

#[test]
fn elements_that_were_not_written_or_written_twice_stop_the_step() {
    let (mut arena, rule) = (arena(0), rule(1.0, 0.0));
    let mut next = arena.next_step(&rule, 1.0).unwrap();
    next.write(0..2, &[1.0f32; 2]).unwrap();
    assert_says(next.write(1..3, &[1.0f32; 2]), &["1..3", "every element once"]);
    assert_says(next.finish(), &["1 of 3 elements", "in b"]);
    assert_says(arena.next_step(&rule, 1.0).unwrap().finish(), &["3 of 3", "in a"]);
    // Neither attempt has left a trace.
    assert_eq!((params(&arena), arena.steps()), (vec![1.0, 2.0, 3.0], 0));
    step(&mut arena, &[1.0, 1.0, 1.0]).unwrap();
    assert_eq!(params(&arena), [0.0, 1.0, 2.0]);
}

#[test]
fn a_write_that_does_not_fit_the_arena_is_refused_with_the_numbers() {
    let (mut arena, rule) = (arena(0), rule(1.0, 0.0));
    let mut next = arena.next_step(&rule, 1.0).unwrap();
    assert_says(next.write(0..3, &[0.0f32; 2]), &["2 gradients", "0..3 of 3"]);
    assert_says(next.write(2..5, &[0.0f32; 3]), &["2..5 of 3"]);
    #[expect(clippy::reversed_empty_ranges, reason = "the mistake under test")]
    let reversed = 3..1;
    assert_says(next.write(reversed, &[0.0f32; 0]), &["3..1 of 3"]);
    assert_says(next.write(0..3, &[0.0f64; 3]), &["f64 [3]", "f32 [3]"]);
    next.write(0..3, &[0.0f32; 3]).unwrap();
}

#[test]
fn a_step_with_an_impossible_rule_or_count_is_not_opened() {
    let plain = rule(1.0, 0.0);
    for count in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_says(arena(0).next_step(&plain, count).map(drop), &["count is", "positive"]);
    }
    assert_says(arena(0).next_step(&rule(f64::NAN, 0.0), 1.0).map(drop), &["lr is NaN"]);
    let buffers = &["keeps 1 state buffers", "has 0"];
    assert_says(arena(0).next_step(&rule(1.0, 0.9), 1.0).map(drop), buffers);
    assert_says(arena(2).next_step(&plain, 1.0).map(drop), &["keeps 0", "has 2"]);
    assert!(arena(1).next_step(&rule(1.0, 0.9), 1.0).is_ok());
}

#[test]
fn a_view_or_a_graph_that_still_holds_values_is_told_as_what_it_is() {
    let mut arena = arena(0);
    let view = arena.leaf(0).unwrap().value().clone();
    step(&mut arena, &[1.0; 3]).unwrap();
    assert_says(step(&mut arena, &[1.0; 3]), &["1 plain views", "no graph"]);
    assert_eq!(view.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    drop(view);
    step(&mut arena, &[1.0; 3]).unwrap();
    let leaf = arena.leaf(2).unwrap();
    assert!(arena.check_released().is_ok(), "one model may hold its leaf");
    let graph = (&leaf * &leaf).unwrap();
    assert_says(arena.check_released(), &["a graph with the leaves b"]);
    assert_says(step(&mut arena, &[1.0; 3]), &["a graph with the leaves b"]);
    assert_says(arena.set_params(&[0.0f32; 3]), &["a graph with the leaves b"]);
    drop((graph, leaf));
    step(&mut arena, &[1.0; 3]).unwrap();
    assert_eq!(params(&arena), [-2.0, -1.0, 0.0]);
}

#[test]
fn leaves_are_named_by_numbers_of_the_arena() {
    let arena = arena(0);
    assert_says(arena.leaf(3), &["leaf 3 does not exist", "has 3"]);
    assert_eq!(arena.leaf(1).unwrap().value().numel(), 0);
    assert_eq!((arena.name(2), arena.range(2)), ("b", 2..3));
}

#[test]
fn parameters_without_gradients_of_two_types_or_beyond_memory_are_refused() {
    let device = Device::cpu();
    let new = |values: &[(String, Tensor)]| LeafArena::new(&device, values, 0);
    let half = ("h".to_owned(), Tensor::zeros(&device, DType::F16, &[2]).unwrap());
    assert_says(new(&[half]), &["h: elements of type f16", "f32 or f64"]);
    let double = ("d".to_owned(), Tensor::zeros(&device, DType::F64, &[2]).unwrap());
    assert_says(new(&[named("a", &[1.0]), double]), &["d has", "f64", "a of type f32"]);
    let huge = Tensor::scalar(&device, 1.0f32).broadcast_to(&[(1 << 59) + 1]).unwrap();
    let huge = |name: &str| (name.to_owned(), huge.clone());
    let no_memory = new(&[huge("h")]);
    assert!(matches!(no_memory, Err(Error::Tensor(tensor::Error::Memory { .. }))));
    assert_says(new(&[huge("g"), huge("h")]), &["parameters", "not a possible shape"]);
}
