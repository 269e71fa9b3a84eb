//! The product against three nested loops, bit for bit, in every way it can be computed.

use super::*;

/// Sizes around the tiles' heights (6, 8), widths (4 to 32) and 64.
const SIZES: [usize; 14] = [0, 1, 2, 5, 6, 7, 13, 16, 17, 31, 32, 33, 64, 65];

/// Numbers before and after an output: more than a tile is wide.
const MARGIN: usize = 40;

/// How a matrix lies in its slice.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lies {
    RowMajor,
    Transposed,
    /// A part of a larger row-major matrix, every third column.
    Gaps,
    /// One row, repeated.
    RepeatedRow,
    /// One column, repeated.
    RepeatedColumn,
}

impl Lies {
    const ALL: [Lies; 5] =
        [Lies::RowMajor, Lies::Transposed, Lies::Gaps, Lies::RepeatedRow, Lies::RepeatedColumn];

    fn strides(self, rows: usize, cols: usize) -> (usize, usize) {
        match self {
            Lies::RowMajor => (cols, 1),
            Lies::Transposed => (1, rows),
            Lies::Gaps => (3 * cols + 2, 3),
            Lies::RepeatedRow => (0, 1),
            Lies::RepeatedColumn => (1, 0),
        }
    }
}

/// `len` numbers in (−1, 1) without a pattern, of which no two are likely to be equal.
fn numbers<T: Float>(len: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        T::from_f64((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    (0..len).map(|_| next()).collect()
}

struct Matrix<T> {
    data: Vec<T>,
    rows: usize,
    cols: usize,
    strides: (usize, usize),
}

impl<T: Float> Matrix<T> {
    fn new([rows, cols]: [usize; 2], lies: Lies, seed: u64) -> Self {
        let strides = lies.strides(rows, cols);
        let len = match (rows.checked_sub(1), cols.checked_sub(1)) {
            (Some(r), Some(c)) => r * strides.0 + c * strides.1 + 1,
            _ => 0,
        };
        Matrix { data: numbers(len, seed), rows, cols, strides }
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::new(&self.data, self.rows, self.cols, self.strides.0, self.strides.1)
    }

    fn get(&self, i: usize, j: usize) -> T {
        self.data[i * self.strides.0 + j * self.strides.1]
    }
}

/// The contract, literally.
fn naive<T: Float>(a: &Matrix<T>, b: &Matrix<T>, bias: Option<&[T]>) -> Vec<T> {
    let mut out = Vec::with_capacity(a.rows * b.cols);
    for i in 0..a.rows {
        for j in 0..b.cols {
            let chain = (0..a.cols).fold(T::ZERO, |acc, p| a.get(i, p).mul_add(b.get(p, j), acc));
            out.push(bias.map_or(chain, |bias| chain + bias[j]));
        }
    }
    out
}

/// Bits, with one pattern for all NaNs.
fn bits<T: Float>(x: T) -> u64 {
    if x.is_nan() { u64::MAX } else { x.to_f64().to_bits() }
}

/// The first index at which two slices differ in bits.
fn first_difference<T: Float>(x: &[T], y: &[T]) -> Option<usize> {
    assert_eq!(x.len(), y.len());
    (0..x.len()).find(|&i| bits(x[i]) != bits(y[i]))
}

/// Compares every path, straight and turned, on each of the thread pools, with the three loops.
fn check<T: Registers>(pools: &[Threads], a: &Matrix<T>, b: &Matrix<T>, bias: Option<&[T]>) {
    let expected = naive(a, b, bias);
    for path in Path::available() {
        for turn in [false, true] {
            for threads in pools {
                // The margins show a write outside the output.
                let mut memory = vec![T::from_f64(f64::NAN); expected.len() + 2 * MARGIN];
                let out = &mut memory[MARGIN..][..expected.len()];
                let product = Product::new(a.view(), b.view(), bias, out);
                run(path, threads, 1, if turn { product.turned() } else { product });
                let (before, rest) = memory.split_at(MARGIN);
                let (out, after) = rest.split_at(expected.len());
                assert!(before.iter().chain(after).all(|x| x.is_nan()), "a margin was written");
                assert_eq!(
                    first_difference(out, &expected),
                    None,
                    "[{}, {}] {:?} by [{}, {}] {:?}, {path:?}, turned: {turn}, {} threads",
                    a.rows,
                    a.cols,
                    a.strides,
                    b.rows,
                    b.cols,
                    b.strides,
                    threads.count(),
                );
            }
        }
    }
}

fn pools(counts: &[usize]) -> Vec<Threads> {
    counts.iter().map(|&count| Threads::new(count).unwrap()).collect()
}

fn check_boundary_sizes<T: Registers>() {
    let pools = pools(&[1, 2, 3]);
    for m in SIZES {
        for k in SIZES {
            for n in SIZES {
                // Every size meets every layout of A and of B; their pairs and the number of
                // threads rotate over the sizes.
                for (turn, a_lies) in Lies::ALL.into_iter().enumerate() {
                    let b_lies = Lies::ALL[(turn + m + 3 * k + n) % Lies::ALL.len()];
                    let a = Matrix::new([m, k], a_lies, 1 + m as u64);
                    let b = Matrix::new([k, n], b_lies, 1_000 + n as u64);
                    let bias = numbers(n, 7);
                    let bias = (turn % 2 == 0).then_some(&bias[..]);
                    check::<T>(&pools[(turn + m + k + n) % 3..][..1], &a, &b, bias);
                }
            }
        }
    }
}

#[test]
fn every_boundary_size_and_layout_gives_the_bits_of_three_loops_in_f32() {
    check_boundary_sizes::<f32>();
}

#[test]
fn every_boundary_size_and_layout_gives_the_bits_of_three_loops_in_f64() {
    check_boundary_sizes::<f64>();
}

fn check_layout_pairs<T: Registers>() {
    let pools = pools(&[1, 2, 3]);
    for [m, k, n] in [[1, 17, 33], [13, 64, 65], [65, 31, 10], [33, 5, 7], [2, 0, 5]] {
        for a_lies in Lies::ALL {
            for b_lies in Lies::ALL {
                let a = Matrix::new([m, k], a_lies, 11);
                let b = Matrix::new([k, n], b_lies, 12);
                let bias = numbers(n, 13);
                check::<T>(&pools, &a, &b, None);
                check::<T>(&pools, &a, &b, Some(&bias));
            }
        }
    }
}

#[test]
fn every_pair_of_layouts_gives_the_same_bits_on_any_number_of_threads() {
    check_layout_pairs::<f32>();
    check_layout_pairs::<f64>();
}

fn check_blocks<T: Registers>() {
    let pools = pools(&[1, 2, 3]);
    // k at and beyond one and two blocks; then rows beyond a block, with B packed and in place.
    for [m, k, n] in [[7, 1024, 33], [9, 1025, 32], [17, 2049, 10], [300, 257, 40], [257, 129, 64]]
    {
        for (a_lies, b_lies) in [
            (Lies::RowMajor, Lies::Transposed),
            (Lies::RowMajor, Lies::RowMajor),
            (Lies::Transposed, Lies::RowMajor),
            (Lies::Gaps, Lies::Gaps),
        ] {
            let a = Matrix::new([m, k], a_lies, 21);
            let b = Matrix::new([k, n], b_lies, 22);
            let bias = numbers(n, 23);
            check::<T>(&pools, &a, &b, Some(&bias));
        }
    }
}

#[test]
fn cutting_k_and_the_rows_into_blocks_changes_no_bit() {
    check_blocks::<f32>();
    check_blocks::<f64>();
}

#[test]
fn nan_and_infinity_reach_every_chain_they_are_part_of() {
    let pools = pools(&[1, 2]);
    for [m, k, n] in [[3, 5, 10], [17, 33, 65], [65, 64, 33]] {
        for b_lies in [Lies::RowMajor, Lies::Transposed] {
            let mut a = Matrix::<f32>::new([m, k], Lies::RowMajor, 31);
            let mut b = Matrix::new([k, n], b_lies, 32);
            a.data[0] = f32::INFINITY;
            a.data[m * k - 1] = f32::NAN;
            // Zeros meet the infinity in column 0 of A: 0 · ∞ is NaN.
            let row = b.strides;
            for j in (0..n).step_by(2) {
                b.data[j * row.1] = 0.0;
            }
            let expected = naive(&a, &b, None);
            assert!(expected[0].is_nan() && expected[1].is_infinite());
            assert!(expected[(m - 1) * n..].iter().all(|x| x.is_nan()));
            assert!(expected[n..(m - 1) * n].iter().all(|x| x.is_finite()));
            check(&pools, &a, &b, None);
        }
    }
}

#[test]
fn a_row_alone_has_the_bits_it_has_in_a_batch() {
    let threads = Threads::new(2).unwrap();
    let (m, k, n) = (67, 784, 131);
    let x = Matrix::<f32>::new([m, k], Lies::RowMajor, 41);
    let w = Matrix::<f32>::new([k, n], Lies::Transposed, 42);
    let bias = numbers(n, 43);
    let mut batch = vec![f32::NAN; m * n];
    matmul(&threads, x.view(), w.view(), Some(&bias), &mut batch);
    assert_eq!(first_difference(&batch, &naive(&x, &w, Some(&bias))), None);
    for (row, expected) in x.data.chunks(k).zip(batch.chunks(n)) {
        let mut alone = vec![f32::NAN; n];
        matmul(&threads, MatRef::new(row, 1, k, k, 1), w.view(), Some(&bias), &mut alone);
        assert_eq!(first_difference(&alone, expected), None);
    }
}

#[test]
fn products_large_enough_for_threads_have_the_bits_of_one() {
    let (m, k, n) = (257, 300, 161);
    let a = Matrix::<f64>::new([m, k], Lies::Transposed, 51);
    let b = Matrix::<f64>::new([k, n], Lies::RowMajor, 52);
    assert!(m * k * n > 3 * WORK_PER_THREAD);
    let expected = naive(&a, &b, None);
    for threads in pools(&[1, 2, 3]) {
        let mut out = vec![f64::NAN; m * n];
        matmul(&threads, a.view(), b.view(), None, &mut out);
        assert_eq!(first_difference(&out, &expected), None);
        let mut turned = vec![f64::NAN; m * n];
        matmul(&threads, b.view().transposed(), a.view().transposed(), None, &mut turned);
        assert!((0..m * n).all(|i| turned[i % n * m + i / n] == expected[i]));
    }
}

#[test]
fn the_checker_notices_another_order_and_a_product_rounded_on_its_own() {
    let a = Matrix::<f32>::new([1, 33], Lies::RowMajor, 61);
    let b = Matrix::<f32>::new([33, 40], Lies::RowMajor, 62);
    let expected = naive(&a, &b, None);
    let backwards: Vec<f32> = (0..40)
        .map(|j| (0..33).rev().fold(0.0, |acc, p| a.get(0, p).mul_add(b.get(p, j), acc)))
        .collect();
    let unfused: Vec<f32> =
        (0..40).map(|j| (0..33).fold(0.0, |acc, p| acc + a.get(0, p) * b.get(p, j))).collect();
    assert!(first_difference(&expected, &backwards).is_some());
    assert!(first_difference(&expected, &unfused).is_some());
    assert_eq!(first_difference(&[0.0f32, -0.0], &[0.0, 0.0]), Some(1));
}

#[test]
#[should_panic(expected = "the columns of a are the rows of b")]
fn inner_lengths_that_differ_are_refused() {
    let x = [1.0f32; 12];
    let (a, b) = (MatRef::new(&x, 3, 4, 4, 1), MatRef::new(&x, 3, 4, 4, 1));
    matmul(&Threads::serial(), a, b, None, &mut [0.0; 12]);
}

#[test]
#[should_panic(expected = "out has the shape of the product")]
fn an_output_of_another_length_is_refused() {
    let x = [1.0f32; 12];
    let (a, b) = (MatRef::new(&x, 3, 4, 4, 1), MatRef::new(&x, 4, 3, 3, 1));
    matmul(&Threads::serial(), a, b, None, &mut [0.0; 8]);
}

#[test]
#[should_panic(expected = "one bias for each column")]
fn a_bias_of_another_length_is_refused() {
    let x = [1.0f32; 12];
    let (a, b) = (MatRef::new(&x, 2, 4, 4, 1), MatRef::new(&x, 4, 3, 3, 1));
    matmul(&Threads::serial(), a, b, Some(&[0.0; 2]), &mut [0.0; 6]);
}

#[test]
fn a_matrix_that_leaves_its_slice_is_refused() {
    let refused = |rows, cols, row_stride, col_stride| {
        let make = move || MatRef::new(&[0u8; 12], rows, cols, row_stride, col_stride).rows;
        std::panic::catch_unwind(make).is_err()
    };
    assert!(!refused(3, 4, 4, 1));
    assert!(!refused(0, 4, 400, 1));
    assert!(refused(3, 4, 4, 2));
    assert!(refused(4, 4, 3, 1));
    assert!(refused(2, 2, usize::MAX, 1));
    assert!(refused(3, 1, usize::MAX / 2 + 1, 1));
}
