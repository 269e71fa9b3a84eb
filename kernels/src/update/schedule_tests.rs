//! Learning rates against published numbers and closed forms.

use super::*;

fn lrs(schedule: &Schedule, base: f64, steps: u64) -> Vec<f64> {
    schedule.validate().unwrap();
    (0..steps).map(|step| schedule.lr(base, step)).collect()
}

fn near(schedule: &Schedule, base: f64, want: &[f64], tolerance: f64) {
    let got = lrs(schedule, base, want.len() as u64);
    let far = got.iter().zip(want).any(|(got, want)| (got - want).abs() > tolerance);
    assert!(!far, "{schedule:?}: {got:?} {want:?}");
}

#[test]
fn drops_happen_at_their_steps() {
    near(&Schedule::Constant, 0.3, &[0.3; 4], 0.0);
    let step = Schedule::Step { every: 2, gamma: 0.5 };
    near(&step, 1.0, &[1.0, 1.0, 0.5, 0.5, 0.25, 0.25], 0.0);
    let multi = Schedule::MultiStep { milestones: vec![1, 3], gamma: 0.5 };
    near(&multi, 1.0, &[1.0, 0.5, 0.5, 0.25, 0.25], 0.0);
    near(&Schedule::Exponential { gamma: 0.5 }, 4.0, &[4.0, 2.0, 1.0, 0.5], 0.0);
    let linear = Schedule::Linear { start: 0.0, end: 1.0, steps: 4 };
    near(&linear, 2.0, &[0.0, 0.5, 1.0, 1.5, 2.0, 2.0], 0.0);
    let root = Schedule::Polynomial { steps: 4, power: 0.5 };
    near(&root, 1.0, &[1.0, 0.75f64.sqrt(), 0.5f64.sqrt(), 0.5, 0.0, 0.0], 1e-15);
    let flat = Schedule::Polynomial { steps: 4, power: 0.0 };
    near(&flat, 1.0, &[1.0; 6], 0.0);
}

#[test]
fn a_cosine_comes_down_and_climbs_again() {
    near(&Schedule::Cosine { steps: 2, min_lr: 0.0 }, 1.0, &[1.0, 0.5, 0.0, 0.5, 1.0], 1e-15);
    let far = Schedule::Cosine { steps: 2, min_lr: 0.0 };
    assert!((far.lr(1.0, u64::MAX - 1) - far.lr(1.0, 2)).abs() < 1e-15);
}

#[test]
fn restarts_begin_where_the_paper_has_them() {
    let restarts = Schedule::CosineRestarts { first: 1, factor: 2, min_lr: 0.0 };
    near(&restarts, 0.5, &[0.5, 0.5, 0.25, 0.5, 0.427, 0.25, 0.073, 0.5], 5e-4);
    let even = Schedule::CosineRestarts { first: 2, factor: 1, min_lr: 0.5 };
    near(&even, 1.5, &[1.5, 1.0, 1.5, 1.0, 1.5], 1e-15);
    assert!(restarts.lr(0.5, u64::MAX) <= 0.5);
}

#[test]
fn one_cycle_ends_at_its_least_rate_and_stays_there() {
    let (max_lr, rise, div, final_div) = (1.0, 0.5, 10.0, 100.0);
    let cycle = Schedule::OneCycle { max_lr, steps: 11, rise, div, final_div };
    let rates = lrs(&cycle, 9.0, 14);
    assert!((rates[0] - 0.1).abs() < 1e-15 && (rates[10] - 0.001).abs() < 1e-15, "{rates:?}");
    assert_eq!(rates[10], rates[13]);
    let most = rates.iter().copied().fold(0.0, f64::max);
    assert!(most <= 1.0 && most > 0.95, "{rates:?}");
    for rise in [0.0, 1.0] {
        for steps in [1, 2, 3] {
            let cycle = Schedule::OneCycle { max_lr, steps, rise, div, final_div };
            assert!(lrs(&cycle, 1.0, 5).iter().all(|lr| (0.0..=1.0).contains(lr)), "{cycle:?}");
        }
    }
}

#[test]
fn the_linear_scaling_rule_climbs_from_the_small_batchs_rate() {
    // 8 times the batch: from η to 8 η within 7 steps.
    let scaled = Schedule::Step { every: 2, gamma: 0.5 }.linear_scaling(8.0, 7);
    let want = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 8.0, 4.0, 4.0, 2.0].map(|k| 0.1 * k);
    near(&scaled, 0.1, &want, 1e-15);
    assert_eq!(Schedule::Constant.after_warmup(0, 0.5).lr(1.0, 0), 1.0);
}

#[test]
fn impossible_settings_are_refused_by_name() {
    let one_cycle =
        Schedule::OneCycle { max_lr: 1.0, steps: 9, rise: 1.5, div: 25.0, final_div: 1e4 };
    for (schedule, text) in [
        (Schedule::Step { every: 0, gamma: 0.5 }, "step: every is 0.0; it must be a whole number"),
        (Schedule::Exponential { gamma: f64::NAN }, "exponential: gamma is NaN; it must be"),
        (Schedule::Cosine { steps: 9, min_lr: -1.0 }, "cosine: min_lr is -1.0; it must be"),
        (Schedule::MultiStep { milestones: vec![3, 3], gamma: 0.1 }, "multi_step: the milestones"),
        (one_cycle, "one_cycle: rise is 1.5; it must be in [0, 1]"),
        (Schedule::Constant.after_warmup(5, -0.5), "warmup: start is -0.5; it must be"),
        (Schedule::Constant.scaled(f64::INFINITY), "scaled: factor is inf; it must be"),
        (Schedule::Polynomial { steps: 0, power: 1.0 }.scaled(1.0), "polynomial: steps is 0.0"),
    ] {
        let refused = schedule.validate().unwrap_err().to_string();
        assert!(refused.starts_with(text), "{refused}");
    }
}
