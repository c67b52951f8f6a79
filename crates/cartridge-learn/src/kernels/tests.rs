use super::*;

fn random(n: usize, seed: u64) -> Vec<f32> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| rng.f32() * 2.0 - 1.0).collect()
}

fn transpose(values: &[f32], n_rows: usize, n_columns: usize) -> Vec<f32> {
    (0..n_rows * n_columns).map(|at| values[at % n_rows * n_columns + at / n_rows]).collect()
}

/// The product in doubles, straight from the definition.
fn naive(a: &[f32], b: &[f32], bias: Option<&[f32]>, [m, k, n]: [usize; 3]) -> Vec<f64> {
    let element = |i: usize, j: usize| {
        let sum: f64 = (0..k).map(|p| f64::from(a[i * k + p]) * f64::from(b[p * n + j])).sum();
        sum + bias.map_or(0.0, |bias| f64::from(bias[j]))
    };
    (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

/// Multiplies random matrices of these sizes in every layout and on every instruction set.
#[track_caller]
fn check(m: usize, k: usize, n: usize) {
    let (a, b, bias) = (random(m * k, 1), random(k * n, 2), random(n, 3));
    let (a_turned, b_turned) = (transpose(&a, m, k), transpose(&b, k, n));
    let mut fused: Option<Vec<f32>> = None;
    for isa in Isa::available() {
        for bias in [None, Some(&bias[..])] {
            let expected = naive(&a, &b, bias, [m, k, n]);
            for a in [Matrix::new(&a, m, k), Matrix::new(&a_turned, k, m).transposed()] {
                // With something left from before.
                let mut panels = [Panels::default(), Panels::default()];
                pack(isa, Matrix::new(&[f32::NAN; 3000], 60, 50), &mut panels[0]);
                pack(isa, Matrix::new(&b, k, n), &mut panels[0]);
                pack(isa, Matrix::new(&b_turned, n, k).transposed(), &mut panels[1]);
                let rights = [
                    Right::Rows(Matrix::new(&b, k, n)),
                    Right::Panels(&panels[0]),
                    Right::Panels(&panels[1]),
                ];
                for right in rights {
                    let mut out = vec![f32::NAN; m * n];
                    let finish = bias.map_or(Finish::Plain, Finish::Bias);
                    multiply(isa, &[(a, right)], finish, &mut out);
                    for (x, y) in out.iter().zip(&expected) {
                        let error = (f64::from(*x) - y).abs();
                        assert!(error < 1e-5, "{m}x{k}x{n} on {isa:?}: {x} is not {y}");
                    }
                    if bias.is_none() && isa.0 != Level::Baseline {
                        let fused = fused.get_or_insert_with(|| out.clone());
                        assert_eq!(*fused, out, "the same bits on {isa:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn products_equal_the_definition() {
    check(1, 1, 1);
    check(3, 5, 2);
    check(8, 4, 64);
    check(64, 64, 64);
    check(64, 64, 1);
    check(64, 2, 64);
    check(37, 19, 33);
    check(13, 70, 50);
    check(23, 260, 69);
}

/// A product of which the left has many zeros, in whole columns too, with zeros left out and
/// without; and the sum of two products, in one piece and in two.
#[track_caller]
fn check_sieve(m: usize, k: usize, n: usize) {
    let (mut a, b, bias) = (random(m * k, 1), random(k * n, 2), random(n, 5));
    for (at, x) in a.iter_mut().enumerate() {
        *x = if (at % k).is_multiple_of(3) { 0.0 } else { x.max(0.0) };
    }
    let mut fused: Option<Vec<f32>> = None;
    for isa in Isa::available() {
        let mut panels = Panels::default();
        pack(isa, Matrix::new(&b, k, n), &mut panels);
        let a = Matrix::new(&a, m, k);
        let mut dense = vec![f32::NAN; m * n];
        let pair = (a, Right::Panels(&panels));
        multiply(isa, &[pair], Finish::BiasRelu(&bias), &mut dense);
        let (mut sieve, mut out) = (Sieve::default(), vec![f32::NAN; m * n]);
        // With something left from before.
        let (ones, mut scratch) = ([1.0; 3000], vec![0.0; 9 * n]);
        let before = Matrix::new(&ones[..9 * k], 9, k);
        let (right, finish) = (Right::Panels(&panels), Finish::BiasRelu(&bias));
        multiply_sifted(isa, before, right, None, Finish::Plain, &mut sieve, &mut scratch);
        multiply_sifted(isa, a, right, None, finish, &mut sieve, &mut out);
        assert_eq!(out, dense, "{m}x{k}x{n} on {isa:?}");
        if isa.0 != Level::Baseline {
            let fused = fused.get_or_insert_with(|| out.clone());
            assert_eq!(*fused, out, "the same bits on {isa:?}");
        }
        // Some rows of the left, in two pieces.
        let (rows, cut) = (m / 3..m, k / 2);
        let a = a.rows(rows.clone());
        let halves = [0..cut, cut..k].map(|ks| {
            let right = Right::Rows(Matrix::new(&b, k, n).rows(ks.clone()));
            (a.transposed().rows(ks).transposed(), right)
        });
        let mut parts = vec![f32::NAN; rows.len() * n];
        multiply(isa, &halves, Finish::BiasRelu(&bias), &mut parts);
        assert_eq!(parts, dense[rows.start * n..], "{m}x{k}x{n} in two on {isa:?}");
        // One piece after the other, of panels, with and without a sieve.
        let (mut begun, mut out) = (vec![f32::NAN; parts.len()], vec![f32::NAN; parts.len()]);
        let pieces = [0..cut, cut..k].map(|ks| {
            let left = a.transposed().rows(ks.clone()).transposed();
            (left, Right::Cut(panels.cut(ks, 0..n)))
        });
        multiply(isa, &pieces[..1], Finish::Plain, &mut begun);
        let finish = Finish::BiasRelu(&bias);
        multiply_on(isa, &pieces[1..], Some(&begun), finish, &mut out);
        assert_eq!(out, parts, "{m}x{k}x{n} one after the other on {isa:?}");
        let [(left, right), (next_left, next_right)] = pieces;
        multiply_sifted(isa, left, right, None, Finish::Plain, &mut sieve, &mut begun);
        out.fill(f32::NAN);
        let start = Some(&begun[..]);
        multiply_sifted(isa, next_left, next_right, start, finish, &mut sieve, &mut out);
        assert_eq!(out, parts, "{m}x{k}x{n} sifted one after the other on {isa:?}");
    }
}

#[test]
fn zeros_can_be_left_out() {
    check_sieve(1, 1, 1);
    check_sieve(5, 17, 33);
    check_sieve(32, 256, 256);
    check_sieve(13, 70, 187);
}

/// What is done to a product while it is in registers equals what is done to it afterwards.
#[test]
fn products_are_finished() {
    let (m, k, n) = (11, 9, 37);
    let (a, b, bias) = (random(m * k, 1), random(k * n, 2), random(n, 3));
    let outputs = random(m * n, 4);
    for isa in Isa::available() {
        let finished = |finish| {
            let mut out = vec![f32::NAN; m * n];
            let (a, b) = (Matrix::new(&a, m, k), Matrix::new(&b, k, n));
            multiply(isa, &[(a, Right::Rows(b))], finish, &mut out);
            out
        };
        let (plain, biased) = (finished(Finish::Plain), finished(Finish::Bias(&bias)));
        let each = |finish, expected: &dyn Fn(usize) -> f32| {
            for (at, x) in finished(finish).into_iter().enumerate() {
                let y = expected(at);
                assert!((x - y).abs() < 1e-6, "element {at} on {isa:?}: {x} is not {y}");
            }
        };
        each(Finish::BiasTanh(&bias), &|at| biased[at].tanh());
        each(Finish::BiasRelu(&bias), &|at| biased[at].max(0.0));
        let slope = |at: usize| 1.0 - outputs[at] * outputs[at];
        each(Finish::TanhSlope(&outputs), &|at| plain[at] * slope(at));
        each(Finish::ReluSlope(&outputs), &|at| if outputs[at] > 0.0 { plain[at] } else { 0.0 });
    }
}

#[test]
fn a_broken_number_stays_visible() {
    for isa in Isa::available() {
        for finish in [Finish::Plain, Finish::BiasTanh(&[0.0]), Finish::BiasRelu(&[0.0])] {
            let mut out = [0.0];
            let (a, b) = (Matrix::new(&[f32::NAN], 1, 1), Matrix::new(&[1.0], 1, 1));
            multiply(isa, &[(a, Right::Rows(b))], finish, &mut out);
            assert!(out[0].is_nan(), "{finish:?} on {isa:?}");
        }
    }
}

/// The hyperbolic tangent of `values`, as the end of a product.
fn tanh(isa: Isa, values: &mut [f32]) {
    let inputs = values.to_vec();
    let n = values.len();
    let (a, b) = (Matrix::new(&inputs, n, 1), Matrix::new(&[1.0], 1, 1));
    multiply(isa, &[(a, Right::Rows(b))], Finish::BiasTanh(&[0.0]), values);
}

#[test]
fn rows_are_summed() {
    for isa in Isa::available() {
        let mut out = [0.5; 3];
        sum_rows(isa, Matrix::new(&[1.0, 2.0, 3.0, 10.0, 20.0, 30.0], 2, 3), &mut out);
        assert_eq!(out, [11.5, 22.5, 33.5]);
    }
}

#[test]
fn tanh_is_close_everywhere() {
    let inputs: Vec<f32> = (-200_000..=200_000).map(|i| i as f32 * 1e-4).collect();
    let mut fused: Option<Vec<f32>> = None;
    for isa in Isa::available() {
        let mut outputs = inputs.clone();
        tanh(isa, &mut outputs);
        let mut worst = 0.0_f64;
        for (x, y) in inputs.iter().zip(&outputs) {
            let exact = f64::from(*x).tanh();
            worst = worst.max((f64::from(*y) - exact).abs() / exact.abs().max(1e-6));
            assert!(y.abs() <= 1.0);
        }
        assert!(worst < 5e-7, "relative error {worst} on {isa:?}");
        if isa.0 != Level::Baseline {
            let fused = fused.get_or_insert_with(|| outputs.clone());
            assert_eq!(*fused, outputs, "the same bits on {isa:?}");
        }
    }
}

#[test]
fn tanh_at_the_edges() {
    for isa in Isa::available() {
        let mut values = [0.0, -0.0, 1e-30, 1e30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        tanh(isa, &mut values);
        assert_eq!(values[..6], [0.0, -0.0, 1e-30, 1.0, 1.0, -1.0], "{isa:?}");
        assert!(values[6].is_nan(), "a broken number stays visible on {isa:?}");
    }
}

#[test]
fn exponentials_are_close() {
    let inputs: Vec<f32> = (-86_900..=87_000).map(|i| i as f32 * 1e-3).collect();
    for isa in Isa::available() {
        let mut outputs = inputs.clone();
        exp(isa, &mut outputs);
        for (x, y) in inputs.iter().zip(&outputs) {
            let exact = f64::from(*x).exp();
            assert!((f64::from(*y) / exact - 1.0).abs() < 5e-7, "{x} on {isa:?}");
        }
        let mut values = [0.0, -88.0, f32::NEG_INFINITY, f32::NAN];
        exp(isa, &mut values);
        assert_eq!(values[..3], [1.0, 0.0, 0.0], "{isa:?}");
        assert!(values[3].is_nan(), "{isa:?}");
    }
}

#[test]
fn squares_are_added() {
    for isa in Isa::available() {
        let mut sum = 1.0;
        add_squares(isa, Matrix::row(&[2.0; 19]), &mut sum);
        assert_eq!(sum, 77.0);
    }
}
