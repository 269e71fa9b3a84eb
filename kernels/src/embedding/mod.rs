//! Rows of a table by number, and the derivative with respect to the table.
//!
//! ```text
//! outₚ = tableᵢ            dtableᵢ = Σ dyₚ       over the positions p whose number is i
//! ```
//!
//! The sum is a chain in the order of the positions that starts with +0: a row that is never named
//! has the gradient +0.

use crate::{Element, Float, Threads};

/// Elements below which a part is not worth handing to another thread.
const MIN_PART: usize = 1 << 16;

/// Copies row `ids[p]` of `table` to row p of `out`.
///
/// **Shapes**: table `[n, d]`, ids `[rows]` `-> out [rows, d]`.
///
/// # Panics
/// When the lengths do not fit or an id lies outside `0..n`: the tensor layer has checked both.
pub fn embedding<T: Element>(threads: &Threads, table: &[T], d: usize, ids: &[i64], out: &mut [T]) {
    assert_eq!(out.len(), ids.len() * d, "out is [rows, d]");
    let parts = threads.parts(out.len(), MIN_PART);
    threads.split_mut(out, d, parts, |first, run| {
        for (out, &id) in run.chunks_exact_mut(d.max(1)).zip(&ids[first..]) {
            out.copy_from_slice(&table[id as usize * d..][..d]);
        }
    });
}

/// The derivative of [`embedding`] with respect to the table, times `dy`.
///
/// **Shapes**: dy `[rows, d]`, ids `[rows]` `-> dtable [n, d]`.
///
/// # Panics
/// As [`embedding`].
pub fn embedding_vjp<T: Float>(dy: &[T], d: usize, ids: &[i64], dtable: &mut [T]) {
    assert_eq!(dy.len(), ids.len() * d, "dy is [rows, d]");
    dtable.fill(T::ZERO);
    for (dy, &id) in dy.chunks_exact(d.max(1)).zip(ids) {
        for (sum, &dy) in dtable[id as usize * d..][..d].iter_mut().zip(dy) {
            *sum += dy;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_copied_and_gradients_added_in_the_order_of_positions() {
        let (table, d) = ((0..12).map(f64::from).collect::<Vec<_>>(), 3);
        let ids = [2i64, 0, 2, 3];
        let mut out = vec![0.0; 12];
        embedding(&Threads::serial(), &table, d, &ids, &mut out);
        assert_eq!(out, [6.0, 7.0, 8.0, 0.0, 1.0, 2.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
        let dy: Vec<f64> = (0..12).map(|i| 0.1 * f64::from(i)).collect();
        let mut dtable = vec![f64::NAN; 12];
        embedding_vjp(&dy, d, &ids, &mut dtable);
        assert_eq!(dtable[..3], dy[3..6]);
        assert_eq!(dtable[3..6], [0.0; 3]);
        assert_eq!(dtable[6..9], [dy[0] + dy[6], dy[1] + dy[7], dy[2] + dy[8]]);
        assert_eq!(dtable[9..], dy[9..]);
    }

    #[test]
    fn threads_and_empty_tables_change_nothing() {
        let (n, d) = (5, 33);
        let table: Vec<f32> = (0..n * d).map(|i| i as f32).collect();
        let ids: Vec<i64> = (0..4 * MIN_PART / d).map(|i| (i * i % n) as i64).collect();
        let run = |threads: &Threads| {
            let mut out = vec![0.0; ids.len() * d];
            embedding(threads, &table, d, &ids, &mut out);
            out
        };
        assert_eq!(run(&Threads::serial()), run(&Threads::new(3).unwrap()));
        embedding::<f32>(&Threads::serial(), &[], 0, &[1, 2], &mut []);
        embedding_vjp::<f32>(&[], 0, &[1, 2], &mut []);
        let mut untouched = [1.0f32; 4];
        embedding_vjp(&[], 2, &[], &mut untouched);
        assert_eq!(untouched, [0.0; 4]);
    }
}
