//! The update rules against steps worked out by hand and against their formulas.

use super::*;

const PLAIN: Sgd =
    Sgd { lr: 0.5, momentum: 0.0, dampening: 0.0, nesterov: false, weight_decay: 0.0 };
const ADAM: Adam = Adam {
    lr: 0.01,
    beta1: 0.9,
    beta2: 0.999,
    eps: 1e-8,
    weight_decay: 0.0,
    decoupled: false,
    amsgrad: false,
};
const RMSPROP: RmsProp =
    RmsProp { lr: 0.5, alpha: 0.75, eps: 1e-8, momentum: 0.0, centered: false, weight_decay: 0.0 };
const ADAGRAD: Adagrad =
    Adagrad { lr: 0.5, lr_decay: 0.0, initial: 0.0, eps: 1e-10, weight_decay: 0.0 };

/// One rule of each kind and number of buffers.
fn rules() -> [UpdateRule; 10] {
    let sgd = Sgd { momentum: 0.9, weight_decay: 0.01, ..PLAIN };
    let rmsprop = RmsProp { momentum: 0.9, weight_decay: 0.01, ..RMSPROP };
    [
        PLAIN.into(),
        sgd.into(),
        Sgd { nesterov: true, ..sgd }.into(),
        Adam { weight_decay: 0.01, ..ADAM }.into(),
        Adam { weight_decay: 0.01, decoupled: true, ..ADAM }.into(),
        Adam { amsgrad: true, ..ADAM }.into(),
        RmsProp { momentum: 0.0, ..rmsprop }.into(),
        rmsprop.into(),
        RmsProp { centered: true, ..rmsprop }.into(),
        Adagrad { weight_decay: 0.01, lr_decay: 0.1, ..ADAGRAD }.into(),
    ]
}

/// The parameter and the state after each step with the mean gradients `grads`, from p = 4. The
/// sums are over 2 samples. A first step that used the state would show its NaN.
fn steps(rule: impl Into<UpdateRule>, start: f64, grads: &[f64]) -> Vec<Vec<f64>> {
    let rule = rule.into();
    rule.validate().unwrap();
    let mut now = vec![f64::NAN; 1 + rule.state_buffers()];
    now[0] = start;
    let mut all = Vec::new();
    for (step, grad) in (0..).zip(grads) {
        let mut next = vec![0.0; now.len()];
        let state: Vec<&[f64]> = now[1..].chunks(1).collect();
        let u = Update {
            rule: &rule,
            step,
            mean: Mean::over(2.0),
            param: &now[..1],
            grad_sum: &[2.0 * grad],
            state: &state,
        };
        let (param_out, state_out) = next.split_at_mut(1);
        let mut state_out: Vec<&mut [f64]> = state_out.chunks_mut(1).collect();
        update(&Threads::serial(), &u, param_out, &mut state_out);
        now = next;
        all.push(now.clone());
    }
    all
}

#[test]
fn sgd_takes_the_steps_worked_out_by_hand() {
    // All numbers are exact in binary. g is 3, then −1.
    let two = |sgd: Sgd| steps(sgd, 4.0, &[3.0, -1.0]);
    assert_eq!(two(PLAIN), [[2.5], [3.0]]);
    // d = 3 + ¼·4 = 4, then −1 + ¼·2.
    assert_eq!(two(Sgd { weight_decay: 0.25, ..PLAIN }), [[2.0], [2.25]]);
    let momentum = Sgd { momentum: 0.5, ..PLAIN };
    // b = 3, then ½·3 − 1.
    assert_eq!(two(momentum), [[2.5, 3.0], [2.25, 0.5]]);
    // b = 3 undamped, then ½·3 − ¾·1.
    assert_eq!(two(Sgd { dampening: 0.25, ..momentum }), [[2.5, 3.0], [2.125, 0.75]]);
    // d = 3 + ½·3, then −1 + ½·½.
    assert_eq!(two(Sgd { nesterov: true, ..momentum }), [[1.75, 3.0], [2.125, 0.5]]);
    // g' = 4, then −1 + ¼·1 = −¾; b = 4, then 2 − ¾; d = 6, then −¾ + ½·1¼.
    let all = Sgd { nesterov: true, weight_decay: 0.25, ..momentum };
    assert_eq!(two(all), [[1.0, 4.0], [1.0625, 1.25]]);
}

#[test]
fn adam_takes_the_steps_of_its_formula() {
    // The first step is lr · g / |g|, whatever g is.
    let first = steps(Adam { decoupled: true, ..ADAM }, 1.0, &[0.1]);
    assert!((first[0][0] - 0.99).abs() < 1e-9, "{first:?}");
    // As PyTorch writes it: p − lr / (1 − β₁ᵗ) · m / (√v / √(1 − β₂ᵗ) + eps).
    let grads = [0.5, -2.0, 0.25, 0.25];
    for (decoupled, amsgrad) in [(false, false), (true, false), (false, true), (true, true)] {
        let adam = Adam { weight_decay: 0.5, decoupled, amsgrad, ..ADAM };
        let (mut p, mut m, mut v, mut most) = (2.0, 0.0, 0.0, 0.0f64);
        for (t, (g, got)) in (1..).zip(grads.iter().zip(steps(adam, 2.0, &grads))) {
            let g = if decoupled { *g } else { g + 0.5 * p };
            p -= if decoupled { 0.01 * 0.5 * p } else { 0.0 };
            (m, v) = (0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g);
            most = if amsgrad { most.max(v) } else { v };
            let root = most.sqrt() / (1.0 - 0.999f64.powi(t)).sqrt() + 1e-8;
            p -= 0.01 / (1.0 - 0.9f64.powi(t)) * m / root;
            assert!((got[0] - p).abs() < 1e-12, "{decoupled} {amsgrad} {t}: {got:?} {p}");
        }
    }
}

#[test]
fn rmsprop_and_adagrad_take_the_steps_worked_out_by_hand() {
    let close = |got: &[f64], want: &[f64]| {
        let near = got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-7);
        assert!(got.len() == want.len() && near, "{got:?} {want:?}");
    };
    // v = ¼·4 = 1, then ¾ + ¼·(¼ + …): g 2, then −1 with v = ¾ + ¼.
    let two = steps(RMSPROP, 4.0, &[2.0, -1.0]);
    close(&two[0], &[3.0, 1.0]);
    close(&two[1], &[3.5, 1.0]);
    let two = steps(RmsProp { momentum: 0.5, ..RMSPROP }, 4.0, &[2.0, -1.0]);
    close(&two[0], &[3.0, 1.0, 2.0]);
    close(&two[1], &[3.0, 1.0, 0.0]);
    // a = ½ and v − a² = ¾.
    let one = steps(RmsProp { centered: true, ..RMSPROP }, 4.0, &[2.0]);
    close(&one[0], &[4.0 - 0.5 * 2.0 / 0.75f64.sqrt(), 1.0, 0.5]);
    // s = 16 + 9 = 25; then 25 + 144 = 169, with lr / (1 + 1).
    let adagrad = Adagrad { initial: 16.0, lr_decay: 1.0, ..ADAGRAD };
    let two = steps(adagrad, 4.0, &[3.0, 12.0]);
    close(&two[0], &[3.7, 25.0]);
    close(&two[1], &[3.7 - 0.25 * 12.0 / 13.0, 169.0]);
}

#[test]
fn a_variance_below_0_counts_as_0() {
    // A constant gradient's variance is 0 but for roundings of either sign.
    let centered = RmsProp { centered: true, alpha: 0.1, ..RMSPROP };
    for g in [0.1, 0.3, 0.7, 1.1, 1e-3] {
        let all = steps(centered, 4.0, &[g; 60]);
        assert!(all.iter().all(|now| now[0].is_finite()), "{g}");
        assert!(steps(centered, 4.0, &[g, f64::NAN])[1][0].is_nan());
    }
}

#[test]
fn a_gradient_is_divided_by_the_count_not_multiplied_by_its_inverse() {
    let one = |mean: Mean, grad: f32| {
        let rule = UpdateRule::Sgd(Sgd { lr: 1.0, ..PLAIN });
        let grad_sum = &[grad];
        let u = Update { rule: &rule, step: 0, mean, param: &[0.0], grad_sum, state: &[] };
        let mut out = [0.0];
        update(&Threads::serial(), &u, &mut out, &mut []);
        -out[0]
    };
    let over_49 = Mean::over(49.0);
    assert_ne!((5.0f32 / 49.0).to_bits(), (5.0f32 * (1.0 / 49.0)).to_bits());
    assert_eq!(one(over_49, 5.0).to_bits(), (5.0f32 / 49.0).to_bits());
    assert_eq!(one(Mean { scale: 0.3, ..over_49 }, 5.0).to_bits(), (5.0f32 / 49.0 * 0.3).to_bits());
    let limited = Mean { limit: 0.5, ..Mean::over(2.0) };
    assert_eq!([-3.0, -1.0, -0.5, 1.5].map(|g| one(limited, g)), [-0.5, -0.5, -0.25, 0.5]);
    assert!(one(limited, f32::NAN).is_nan() && one(over_49, f32::NAN).is_nan());
    assert_eq!(one(limited, f32::INFINITY), 0.5);
}

/// All outputs of one step over `cuts`, with the rule's buffers filled by waves.
fn covered(rule: &UpdateRule, step: u64, threads: &Threads, cuts: &[usize]) -> Vec<Vec<f32>> {
    let len = cuts[cuts.len() - 1];
    let wave = |k: f32| (0..len).map(|i| (k * i as f32).sin()).collect::<Vec<f32>>();
    let (param, grad_sum) = (wave(0.3), wave(0.7));
    // Squares are not negative.
    let state: Vec<_> =
        [1.1, 0.2, 0.5].map(|k| wave(k).into_iter().map(f32::abs).collect::<Vec<_>>()).into();
    let buffers = rule.state_buffers();
    let mut outs = vec![vec![0.0; len]; 1 + buffers];
    for range in cuts.windows(2).map(|cut| cut[0]..cut[1]) {
        let state: Vec<_> = state[..buffers].iter().map(|s| &s[range.clone()]).collect();
        let u = Update {
            rule,
            step,
            mean: Mean { scale: 0.5, ..Mean::over(7.0) },
            param: &param[range.clone()],
            grad_sum: &grad_sum[range.clone()],
            state: &state,
        };
        let (params, states) = outs.split_at_mut(1);
        let mut states: Vec<_> = states.iter_mut().map(|s| &mut s[range.clone()]).collect();
        update(threads, &u, &mut params[0][range], &mut states);
    }
    outs
}

#[test]
fn neither_threads_nor_ranges_change_a_bit() {
    let len = 2 * MIN_PART + 5;
    let (serial, three) = (Threads::serial(), Threads::new(3).unwrap());
    for rule in rules() {
        for step in [0, 3] {
            let whole = covered(&rule, step, &serial, &[0, len]);
            assert!(whole.iter().flatten().all(|x| x.is_finite()), "{rule:?}");
            assert!(covered(&rule, step, &three, &[0, len]) == whole, "{rule:?}");
            assert!(covered(&rule, step, &serial, &[0, 1, 1, 18, 1000, len]) == whole);
        }
        // A later step reads the state, if there is any.
        let [first, later] = [0, 3].map(|step| covered(&rule, step, &serial, &[0, 64]));
        assert_eq!(first != later, rule.state_buffers() > 0, "{rule:?}");
    }
}

#[test]
fn every_length_around_a_block_is_covered() {
    for rule in rules() {
        let whole = covered(&rule, 2, &Threads::serial(), &[0, 200]);
        for len in (0..=33).chain([63, 64, 65, 127, 128, 129]) {
            let cut = covered(&rule, 2, &Threads::serial(), &[0, len]);
            let same = cut.iter().zip(&whole).all(|(cut, whole)| *cut == whole[..len]);
            assert!(same, "{rule:?} {len}");
        }
    }
}

#[test]
fn impossible_settings_are_refused_by_name() {
    let refused = |sgd| UpdateRule::Sgd(sgd).validate().unwrap_err().to_string();
    assert!(refused(Sgd { lr: -0.1, ..PLAIN }).starts_with("sgd: lr is -0.1; it must be finite"));
    assert!(refused(Sgd { lr: f64::NAN, ..PLAIN }).contains("lr is NaN"));
    assert!(
        refused(Sgd { momentum: 1.0, ..PLAIN }).contains("momentum is 1.0; it must be in [0, 1)")
    );
    assert!(refused(Sgd { dampening: f64::INFINITY, ..PLAIN }).contains("dampening"));
    assert!(refused(Sgd { weight_decay: -1.0, ..PLAIN }).contains("weight_decay"));
    assert!(refused(Sgd { nesterov: true, ..PLAIN }).contains("nesterov with momentum 0"));
    let damped = Sgd { nesterov: true, momentum: 0.9, dampening: 0.1, ..PLAIN };
    assert!(refused(damped).contains("dampening 0.1"));
    assert_eq!(UpdateRule::Sgd(PLAIN).validate(), Ok(()));
}

#[test]
fn powers_are_those_of_repeated_products() {
    assert_eq!((power(0.5, 10), power(0.0, 0), power(3.0, 3)), (2f64.powi(-10), 1.0, 27.0));
    for n in [1, 2, 7, 1000, 12_345] {
        let want = f64::exp(f64::ln(0.999) * n as f64);
        assert!((power(0.999, n) / want - 1.0).abs() < 1e-12, "{n}");
    }
    assert_eq!(power(0.999, u64::MAX), 0.0);
}
