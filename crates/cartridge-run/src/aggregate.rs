//! What several runs come to together: the mean, the mean of the middle half, and how sure that is.
//!
//! The interval is the percentile bootstrap (Efron 1979) of the mean of the middle half
//! (interquartile mean), as Agarwal and others (2021) recommend for a few seeds. It draws by a seed
//! of its own, so the same figures give the same interval.

use cartridge_games::fastrand::Rng;
use serde::Serialize;

/// How often the figures are drawn again.
const N_DRAWS: usize = 2_000;

/// What several figures come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Aggregate {
    /// How many there are.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, of a sample; 0 for a single one.
    pub std: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The mean without the lowest and the highest quarter.
    pub iqm: f64,
    /// The 95% interval of the mean; none for a single figure.
    pub mean_ci95: Option<[f64; 2]>,
    /// The 95% interval of the mean of the middle half; none for a single figure.
    pub iqm_ci95: Option<[f64; 2]>,
}

impl Aggregate {
    /// Of these figures; nothing where there is none.
    pub fn of(figures: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = figures.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let n = sorted.len();
        let average = mean(&sorted);
        let squares: f64 = sorted.iter().map(|x| (x - average).powi(2)).sum();
        let (mean_ci95, iqm_ci95) = match n {
            1 => (None, None),
            _ => {
                let [means, iqms] = draw_again(&sorted);
                (Some(means), Some(iqms))
            }
        };
        Some(Self {
            n,
            mean: average,
            std: if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 },
            min,
            max,
            iqm: interquartile_mean(&sorted),
            mean_ci95,
            iqm_ci95,
        })
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}

/// The mean of sorted figures without a quarter of them at each end, rounded down.
fn interquartile_mean(sorted: &[f64]) -> f64 {
    let cut = sorted.len() / 4;
    mean(&sorted[cut..sorted.len() - cut])
}

/// The 95% intervals of the mean and of the mean of the middle half.
fn draw_again(figures: &[f64]) -> [[f64; 2]; 2] {
    let mut rng = Rng::with_seed(0);
    let mut drawn = vec![0.0; figures.len()];
    let (mut means, mut iqms) = (Vec::with_capacity(N_DRAWS), Vec::with_capacity(N_DRAWS));
    for _ in 0..N_DRAWS {
        drawn.fill_with(|| figures[rng.usize(..figures.len())]);
        drawn.sort_by(f64::total_cmp);
        means.push(mean(&drawn));
        iqms.push(interquartile_mean(&drawn));
    }
    [means, iqms].map(|mut found| {
        found.sort_by(f64::total_cmp);
        [0.025, 0.975].map(|share| found[(share * (N_DRAWS - 1) as f64).round() as usize])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(figures: &[f64], mean: f64, iqm: f64) {
        let found = Aggregate::of(figures).unwrap();
        assert_eq!((found.mean, found.iqm), (mean, iqm));
        assert_eq!(Some(found), Aggregate::of(figures), "the same again");
        if let (Some([low, high]), Some([low_iqm, high_iqm])) = (found.mean_ci95, found.iqm_ci95) {
            assert!(low <= mean && mean <= high && found.min <= low && high <= found.max);
            assert!(low_iqm <= high_iqm && found.min <= low_iqm && high_iqm <= found.max);
        }
    }

    #[test]
    fn figures_are_summed_up() {
        check(&[3.0], 3.0, 3.0);
        check(&[1.0, 2.0, 3.0], 2.0, 2.0);
        // Two of eight fall away at each end.
        check(&[0.0, 100.0, 4.0, 5.0, 6.0, 5.0, 1.0, 7.0], 16.0, 5.0);
        check(&[2.0, f64::NAN, 4.0], 3.0, 3.0);
        assert_eq!(Aggregate::of(&[f64::NAN]), None);
        assert_eq!(Aggregate::of(&[]), None);
    }

    /// The interval of ten draws from a known distribution: the mean of 1 to 10 has a deviation of
    /// sqrt(8.25 / 10) = 0.908, so its interval is about 5.5 plus and minus 1.78.
    #[test]
    fn the_interval_is_that_of_the_mean() {
        let figures: Vec<f64> = (1..=10).map(f64::from).collect();
        let [low, high] = Aggregate::of(&figures).unwrap().mean_ci95.unwrap();
        assert!((low - 3.72).abs() < 0.15 && (high - 7.28).abs() < 0.15, "{low} {high}");
    }

    #[test]
    fn equal_figures_leave_no_doubt() {
        let found = Aggregate::of(&[5.0; 4]).unwrap();
        assert_eq!((found.std, found.mean_ci95), (0.0, Some([5.0, 5.0])));
    }
}
