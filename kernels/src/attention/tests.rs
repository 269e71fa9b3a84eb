//! Attention against loops that follow the formulas, in the promised order.

use super::*;

/// A problem with contiguous operands.
struct Case<T> {
    lens: [usize; 5],
    operands: [Vec<T>; 3],
    dout: Vec<T>,
    mask: Option<Vec<u8>>,
    causal: bool,
}

/// Everything that is computed: out, probs, dq, dk, dv.
type Results<T> = [Vec<T>; 5];

fn numbers<T: Float>(len: usize, phase: f64) -> Vec<T> {
    (0..len).map(|i| T::from_f64(1.4 * (1.7 * i as f64 + phase).sin())).collect()
}

impl<T: Float> Case<T> {
    /// `lens`: b, h, lq, lk, d.
    fn new(lens: [usize; 5], causal: bool, masked: bool) -> Self {
        let [b, h, lq, lk, d] = lens;
        let kv = b * h * lk * d;
        let operands = [numbers(b * h * lq * d, 0.1), numbers(kv, 0.5), numbers(kv, 0.9)];
        // The first sample's keys are hidden altogether.
        let mask = masked.then(|| (0..b * lk).map(|i| u8::from(i >= lk && i % 3 != 0)).collect());
        Case { lens, operands, dout: numbers(b * lq * h * d, 0.3), mask, causal }
    }

    /// The kernels' results, with `[b, l, h, d]` gradients in three slices.
    fn run(&self, threads: &Threads) -> Results<T> {
        let [b, h, lq, lk, d] = self.lens;
        let (qs, ks) = ([b, h, lq, d], [b, h, lk, d]);
        let strides = |l: usize| [h * l * d, l * d, d, 1];
        let (q_strides, k_strides) = (strides(lq), strides(lk));
        let [q, k, v] = &self.operands;
        let operands = [
            Strided::contiguous(q, &qs, &q_strides),
            Strided::contiguous(k, &ks, &k_strides),
            Strided::contiguous(v, &ks, &k_strides),
        ];
        let mut out = vec![T::from_f64(7.0); b * lq * h * d];
        let mut probs = vec![T::from_f64(7.0); b * h * lq * lk];
        let seen = Seen { causal: self.causal, mask: self.mask.as_deref() };
        attention(threads, operands, seen, [&mut out, &mut probs]);
        let dout_strides = [lq * h * d, d, h * d, 1];
        let dout = Strided::new(&self.dout, 0, &qs, &dout_strides);
        let saved = Saved { operands, probs: &probs, dout, causal: self.causal };
        let mut grads = [lq, lk, lk].map(|l| vec![T::from_f64(7.0); b * l * h * d]);
        let [dq, dk, dv] = &mut grads;
        let place = |slice| Some(Place { slice, offset: 0, row: h * d });
        let places = [place(0), place(1), place(2)];
        attention_vjp(threads, saved, Gradients { slices: [dq, dk, dv], places });
        let [dq, dk, dv] = grads;
        [out, probs, dq, dk, dv]
    }

    fn sees(&self, sample: usize, i: usize, j: usize) -> bool {
        let lk = self.lens[3];
        let hidden = self.mask.as_ref().is_some_and(|mask| mask[sample * lk + j] == 0);
        !hidden && (!self.causal || j <= i)
    }

    /// The formulas, one number after the other.
    fn naive(&self) -> Results<T> {
        let [b, h, lq, lk, d] = self.lens;
        let scale = T::ONE / T::from_f64(d as f64).sqrt();
        let [q, k, v] = &self.operands;
        let mut out = vec![T::ZERO; b * lq * h * d];
        let mut probs = vec![T::ZERO; b * h * lq * lk];
        let [mut dq, mut dk, mut dv] = [lq, lk, lk].map(|l| vec![T::ZERO; b * l * h * d]);
        for head in 0..b * h {
            let (sample, p0) = (head / h, head * lq * lk);
            let q = |i: usize, c: usize| q[(head * lq + i) * d + c];
            let k = |j: usize, c: usize| k[(head * lk + j) * d + c];
            let v = |j: usize, c: usize| v[(head * lk + j) * d + c];
            let at = |l: usize, i: usize, c: usize| ((sample * l + i) * h + head % h) * d + c;
            let mut ds = vec![T::ZERO; lq * lk];
            for i in 0..lq {
                let dot = |j| (0..d).fold(T::ZERO, |acc, c| q(i, c).mul_add(k(j, c), acc));
                let seen: Vec<usize> = (0..lk).filter(|&j| self.sees(sample, i, j)).collect();
                let s: Vec<T> = seen.iter().map(|&j| dot(j) * scale).collect();
                let max =
                    s.iter().fold(s.first().copied(), |m, &x| m.map(|m| if x > m { x } else { m }));
                let mut row = vec![T::ZERO; lk];
                for (&j, &s) in seen.iter().zip(&s) {
                    row[j] = (s - max.unwrap()).exp();
                }
                let sum = crate::reduce::lane_sum(&row);
                seen.iter().for_each(|&j| row[j] = row[j] / sum);
                let dout = |c: usize| self.dout[at(lq, i, c)];
                let mut dp = vec![T::ZERO; lk];
                for &j in &seen {
                    dp[j] = (0..d).fold(T::ZERO, |acc, c| dout(c).mul_add(v(j, c), acc));
                }
                let products: Vec<T> = row.iter().zip(&dp).map(|(&p, &dp)| p * dp).collect();
                let sum = crate::reduce::lane_sum(&products);
                for &j in &seen {
                    ds[i * lk + j] = row[j] * (dp[j] - sum) * scale;
                }
                for c in 0..d {
                    out[at(lq, i, c)] =
                        (0..lk).fold(T::ZERO, |acc, j| row[j].mul_add(v(j, c), acc));
                    dq[at(lq, i, c)] =
                        (0..lk).fold(T::ZERO, |acc, j| ds[i * lk + j].mul_add(k(j, c), acc));
                }
                probs[p0 + i * lk..][..lk].copy_from_slice(&row);
            }
            for (j, c) in (0..lk).flat_map(|j| (0..d).map(move |c| (j, c))) {
                let over = |pair: &dyn Fn(usize) -> T, x: &dyn Fn(usize) -> T| {
                    (0..lq).fold(T::ZERO, |acc, i| pair(i).mul_add(x(i), acc))
                };
                dk[at(lk, j, c)] = over(&|i| ds[i * lk + j], &|i| q(i, c));
                dv[at(lk, j, c)] = over(&|i| probs[p0 + i * lk + j], &|i| self.dout[at(lq, i, c)]);
            }
        }
        [out, probs, dq, dk, dv]
    }
}

fn check<T: Float>() {
    let threads = Threads::new(3).unwrap();
    let mut lens: Vec<[usize; 5]> = (1..=33).map(|l| [2, 2, l, l, 5]).collect();
    lens.extend([[2, 1, 3, 40, 4], [2, 1, 40, 3, 4], [2, 3, 17, 35, 16], [2, 2, 0, 3, 2]]);
    lens.extend([[2, 2, 3, 0, 2], [0, 2, 3, 3, 2], [5, 4, 64, 64, 32]]);
    for lens in lens {
        for (causal, masked) in [(false, false), (true, false), (false, true), (true, true)] {
            let case = Case::<T>::new(lens, causal, masked);
            let results = case.run(&Threads::serial());
            for (i, (found, wanted)) in results.iter().zip(case.naive()).enumerate() {
                assert_eq!(*found, wanted, "{lens:?} {causal} {masked}: result {i}");
            }
            assert_eq!(case.run(&threads), results, "{lens:?}: threads");
        }
    }
}

#[test]
fn results_have_the_bits_of_the_formulas_with_any_threads() {
    check::<f32>();
    check::<f64>();
}

#[test]
fn what_sees_nothing_is_zero_and_gives_nothing() {
    let case = Case::<f32>::new([2, 2, 5, 5, 3], true, true);
    let [out, probs, dq, dk, dv] = case.run(&Threads::serial());
    // The first sample has no key to see; in the second, query 0 sees none but key 0.
    assert!(out[..30].iter().chain(&probs[..50]).all(|&x| x == 0.0));
    assert!(dq[..30].iter().chain(&dk[..30]).chain(&dv[..30]).all(|&x| x == 0.0));
    assert!(out.iter().chain(&dq).chain(&dk).chain(&dv).all(|x| x.is_finite()));
    assert!(out[30..].iter().any(|&x| x != 0.0));
}

#[test]
fn a_nan_stays_in_the_queries_that_see_it() {
    let mut case = Case::<f32>::new([1, 1, 40, 40, 4], true, false);
    case.operands[1][35 * 4] = f32::NAN;
    let [out, probs, ..] = case.run(&Threads::serial());
    for i in 0..40 {
        let row = &probs[i * 40..(i + 1) * 40];
        assert_eq!(row[..=i].iter().any(|x| x.is_nan()), i >= 35, "query {i}");
        assert!(row[i + 1..].iter().all(|&x| x == 0.0), "query {i}");
        assert_eq!(out[i * 4..(i + 1) * 4].iter().any(|x| x.is_nan()), i >= 35, "query {i}");
    }
}

#[test]
fn unwanted_gradients_leave_the_others_as_they_are() {
    let case = Case::<f64>::new([2, 2, 6, 6, 3], true, false);
    let [_, probs, dq, dk, dv] = case.run(&Threads::serial());
    let (shape, strides) = ([2, 2, 6, 3], [36, 18, 3, 1]);
    let operands = case.operands.each_ref().map(|x| Strided::contiguous(x, &shape, &strides));
    let dout = Strided::new(&case.dout, 0, &shape, &[36, 3, 6, 1]);
    let saved = Saved { operands, probs: &probs, dout, causal: true };
    // All into one slice, as rows [q, k, v] of a fused activation, or none.
    for wanted in 0..8 {
        let mut all = vec![7.0; 2 * 6 * 18];
        let place = |i: usize| Place { slice: 0, offset: 6 * i, row: 18 };
        let places = [0, 1, 2].map(|i| (wanted >> i & 1 == 1).then(|| place(i)));
        let slices = [&mut all[..], &mut [], &mut []];
        attention_vjp(&Threads::serial(), saved, Gradients { slices, places });
        for (i, grad) in [&dq, &dk, &dv].into_iter().enumerate() {
            for (row, wants) in all.chunks(18).zip(grad.chunks(6)) {
                let found = &row[6 * i..6 * i + 6];
                assert_eq!(found, if wanted >> i & 1 == 1 { wants } else { &[7.0; 6] });
            }
        }
    }
}
