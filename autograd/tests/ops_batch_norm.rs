//! Batch normalization: its gradients, a batch in shards against the whole one, and its refusals;
//! dropout, whose masks are those of the whole batch as well.

mod common;

use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use common::{check, input, spread, tensor_bits};
use kernels::random::Stream;
use ringgrad_autograd::{BatchReduce, BatchStatistics, LocalBatch, Result, Var};
use tensor::{DType, Device, Tensor};

fn local() -> Arc<dyn BatchReduce> {
    Arc::new(LocalBatch)
}

#[test]
fn batch_norm_gradients_agree() {
    for shape in [vec![5, 3], vec![3, 3, 2], vec![2, 3, 3, 2], vec![2, 3, 20]] {
        let inputs = [input(&shape, 0.3), input(&[3], 0.8), input(&[3], 1.4)];
        let name = format!("batch_norm {shape:?}");
        check(&name, &inputs, |x| Ok(x[0].batch_norm(Some(&x[1]), Some(&x[2]), 1e-5, &local())?.0));
        check(&name, &inputs[..1], |x| Ok(x[0].batch_norm(None, None, 1e-5, &local())?.0));
        check("batch_norm with given statistics", &inputs, |x| {
            let device = x[0].value().device();
            let mean = Tensor::from_slice(device, &[0.1, -0.2, 0.3], &[3])?;
            let variance = Tensor::from_slice(device, &[0.5, 1.5, 2.5], &[3])?;
            x[0].batch_norm_with([&mean, &variance], Some(&x[1]), Some(&x[2]), 1e-5)
        });
    }
}

/// Shards that wait for one another at each call and fold what all have brought, in their order.
#[derive(Debug)]
struct Meeting {
    barrier: Barrier,
    brought: Mutex<Vec<(String, Vec<f64>)>>,
}

#[derive(Debug)]
struct Shard {
    index: usize,
    meeting: Arc<Meeting>,
}

impl BatchReduce for Shard {
    fn reduce(
        &self,
        label: &str,
        partial: &[f64],
    ) -> std::result::Result<Vec<f64>, Box<dyn std::error::Error + Send + Sync>> {
        self.meeting.brought.lock().unwrap()[self.index] = (label.to_owned(), partial.to_vec());
        self.meeting.barrier.wait();
        let all = self.meeting.brought.lock().unwrap().clone();
        self.meeting.barrier.wait();
        assert!(all.iter().all(|(other, _)| other == label), "all are at one place");
        let mut sums = vec![0.0; partial.len()];
        for (_, partial) in all {
            sums.iter_mut().zip(partial).for_each(|(sum, x)| *sum += x);
        }
        Ok(sums)
    }
}

/// y, the statistics, and the gradients of x, weight and bias of some samples of a batch.
fn run(
    samples: std::ops::Range<usize>,
    batch: &Arc<dyn BatchReduce>,
) -> ([Tensor; 4], BatchStatistics) {
    let device = Device::cpu();
    let part = |phase| {
        let whole = Tensor::from_vec(&device, spread(7 * 3 * 2, phase), &[7, 3, 2]).unwrap();
        whole.narrow(0, samples.start, samples.len()).unwrap()
    };
    let [x, w, b] = [part(0.2), channels(&[0.5, 1.5, 2.5]), channels(&[0.1, 0.2, 0.3])]
        .map(|value| Var::leaf("leaf", value));
    let (y, statistics) = x.batch_norm(Some(&w), Some(&b), 1e-5, batch).unwrap();
    let loss = (&y * &Var::constant(part(0.9))).unwrap().sum_all().unwrap();
    let grads = loss.backward().unwrap();
    let [dx, dw, db] = [&x, &w, &b].map(|leaf| grads.get(leaf).unwrap().clone());
    ([y.value().clone(), dx, dw, db], statistics)
}

fn channels(values: &[f64]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap()
}

fn near(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= 1e-13 * (1.0 + want.abs()), "{got} {want}");
    }
}

#[test]
fn shards_that_meet_normalize_like_the_whole_batch() {
    let whole = run(0..7, &local());
    let cuts = [0..2, 2..2, 2..7];
    let meeting = Arc::new(Meeting {
        barrier: Barrier::new(cuts.len()),
        brought: Mutex::new(vec![Default::default(); cuts.len()]),
    });
    let parts: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = (0..)
            .zip(cuts)
            .map(|(index, samples)| {
                let batch: Arc<dyn BatchReduce> =
                    Arc::new(Shard { index, meeting: Arc::clone(&meeting) });
                scope.spawn(move || run(samples, &batch))
            })
            .collect();
        started.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    for (_, statistics) in &parts {
        assert_eq!(statistics, &parts[0].1, "every shard has the same statistics");
        assert_eq!(statistics.count, 14.0);
        near(&statistics.mean, &whole.1.mean);
        near(&statistics.unbiased_variance(), &whole.1.unbiased_variance());
    }
    let rows = |i: usize| -> Vec<f64> {
        parts.iter().flat_map(|(part, _)| part[i].to_vec::<f64>().unwrap()).collect()
    };
    let sums = |i: usize| -> Vec<f64> {
        let all: Vec<Vec<f64>> = parts.iter().map(|(p, _)| p[i].to_vec().unwrap()).collect();
        (0..3).map(|c| all.iter().map(|part| part[c]).sum()).collect()
    };
    for i in 0..2 {
        near(&rows(i), &whole.0[i].to_vec::<f64>().unwrap());
    }
    for i in 2..4 {
        near(&sums(i), &whole.0[i].to_vec::<f64>().unwrap());
    }
    // The control: alone, a shard would be normalized differently.
    let alone = run(0..2, &local());
    let apart = alone.0[0].to_vec::<f64>().unwrap()[0] - whole.0[0].to_vec::<f64>().unwrap()[0];
    assert!(apart.abs() > 1e-3, "{apart}");
}

#[derive(Debug)]
struct Refuses;

impl BatchReduce for Refuses {
    fn reduce(
        &self,
        _: &str,
        _: &[f64],
    ) -> std::result::Result<Vec<f64>, Box<dyn std::error::Error + Send + Sync>> {
        Err("no other shard is in reach".into())
    }
}

#[test]
fn one_value_a_channel_and_what_does_not_fit_are_refused() {
    let zeros =
        |shape: &[usize]| Var::leaf("x", Tensor::zeros(&Device::cpu(), DType::F32, shape).unwrap());
    let says = |y: Result<(Var, BatchStatistics)>, parts: &[&str]| {
        let message = y.unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    let plain = |x: &Var| x.batch_norm(None, None, 1e-5, &local());
    says(plain(&zeros(&[1, 3])), &["batch_norm", "[1, 3]", "more than one value"]);
    says(plain(&zeros(&[0, 3])), &["[0, 3]", "more than one value"]);
    says(plain(&zeros(&[3])), &["[3]", "channels are axis 1"]);
    assert!(plain(&zeros(&[1, 3, 2])).is_ok());
    let w = zeros(&[4]);
    says(zeros(&[2, 3]).batch_norm(Some(&w), None, 1e-5, &local()), &["[2, 3]", "[4]", "axis 1"]);
    says(zeros(&[2, 3]).batch_norm(None, None, f64::NAN, &local()), &["eps is NaN"]);
    let refuses: Arc<dyn BatchReduce> = Arc::new(Refuses);
    says(zeros(&[2, 3]).batch_norm(None, None, 1e-5, &refuses), &["batch_norm", "in reach"]);
}

#[test]
fn constant_channels_and_halves_stay_finite() {
    let x = Tensor::full(&Device::cpu(), 0.1f32, &[4, 3]).unwrap();
    let leaf = Var::leaf("x", x);
    let x = leaf.cast(DType::F16).unwrap();
    let (y, statistics) = x.batch_norm(None, None, 1e-5, &local()).unwrap();
    assert_eq!((y.value().dtype(), statistics.count), (DType::F16, 4.0));
    let finite = |x: &Tensor| tensor_bits(x).iter().all(|&x| f64::from_bits(x).is_finite());
    assert!(finite(y.value()));
    let sum = y.cast(DType::F32).unwrap().sum_all().unwrap();
    assert!(finite(sum.backward().unwrap().get(&leaf).unwrap()));
}

#[test]
fn dropout_masks_of_a_batch_are_those_of_its_shards() {
    let stream = Stream::new(3, "drop", 5);
    check("dropout", &[input(&[4, 5], 0.2)], |x| x[0].dropout(0.4, &stream, 7));
    let x = Var::leaf("x", Tensor::from_vec(&Device::cpu(), spread(20, 0.2), &[4, 5]).unwrap());
    let whole = x.dropout(0.4, &stream, 10).unwrap();
    let parts = [(0, 1), (1, 3)].map(|(start, len)| {
        let part = x.narrow(0, start, len).unwrap();
        tensor_bits(part.dropout(0.4, &stream, 10 + 5 * start as u64).unwrap().value())
    });
    assert_eq!(parts.concat(), tensor_bits(whole.value()));
    let grads = whole.sum_all().unwrap().backward().unwrap();
    let mask = grads.get(&x).unwrap().to_vec::<f64>().unwrap();
    assert!(mask.contains(&0.0) && mask.contains(&(1.0 / 0.6)), "{mask:?}");
    assert!(x.dropout(1.0, &stream, 0).unwrap().value().to_vec::<f64>().unwrap() == [0.0; 20]);
    assert_eq!(x.dropout(0.0, &stream, 0).unwrap().id(), x.id());
    let message = x.dropout(1.5, &stream, 0).unwrap_err().to_string();
    assert!(
        message.contains("dropout: p is 1.5") && message.contains("within 0 and 1"),
        "{message}"
    );
}
