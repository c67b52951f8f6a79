use super::super::RewardKind;
use super::*;

/// The mean return over the first seeds.
fn mean(bot: Bot, n_episodes: u64) -> f64 {
    let total: f64 =
        (0..n_episodes).map(|seed| bot.play(Config::default(), seed).total_reward).sum();
    total / n_episodes as f64
}

#[test]
fn the_order_holds_on_few_seeds() {
    let greedy = mean(Bot::GreedyMiner, 40);
    let (scanner, timer) = (mean(Bot::CautiousScanner, 40), mean(Bot::MarketTimer, 40));
    let oracle = mean(Bot::Oracle, 40);
    assert!(0.0 < greedy && greedy < scanner && scanner < timer && timer < oracle);
    assert!(timer > 3.0 * greedy, "{timer} {greedy}");
}

#[test]
fn doing_nothing_is_worth_nothing() {
    for bot in [Bot::CashOut, Bot::Hold] {
        assert_eq!(bot.play(Config::default(), 9).total_reward, 0.0);
    }
    assert_eq!(Bot::Hold.play(Config::default(), 9).decisions, 20_000);
}

/// The fact sheet's returns of doing nothing under the published weights: -0.001 and -20.0.
#[test]
fn doing_nothing_under_the_published_weights() {
    let config = Config { reward: RewardKind::Published };
    let mean = |bot: Bot| bot.play(config, 9).total_reward;
    assert!((mean(Bot::CashOut) + 0.001).abs() < 1e-9);
    assert!((mean(Bot::Hold) + 20.0).abs() < 1e-6);
    for bot in [Bot::GreedyMiner, Bot::CautiousScanner, Bot::MarketTimer, Bot::Oracle] {
        assert!(mean(bot) < -1.0, "{}", bot.name());
    }
}

#[test]
fn bots_never_break_the_rules_and_repeat_themselves() {
    for bot in Bot::ALL {
        let episode = bot.play(Config::default(), 4);
        assert_eq!(episode.invalid_action_rate, 0.0, "{}", bot.name());
        assert_eq!(episode, bot.play(Config::default(), 4), "{}", bot.name());
    }
}
