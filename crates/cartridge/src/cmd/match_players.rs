//! `cartridge match`: compare two players.

use std::time::Duration;

use cartridge_run::RunError;
use cartridge_run::contest_job::{self, Contest};
use cartridge_run::lab;
use cartridge_run::matches::{Bucket, Difference, KeptMatch, MatchConfig, SeedPlan, keep_match};
use cartridge_run::player::{Door, Found, Table, check_built_in};
use cartridge_run::steer::By;
use cartridge_run::store::{DataDir, MatchResult, RunId};
use cartridge_run::thinker::MOST_SIMULATIONS;
use serde::Serialize;
use serde_json::json;

use super::{
    DataArgs, OptionArgs, STOP_GRACE_SECONDS, launcher, note, parse_id, say, say_json, user,
};
use crate::exit::Exit;

/// Let two players play each other: pairs of games from the same random opening, sides swapped
///
/// In an environment both play the episodes of the same seeds. Players are built in (`random`,
/// `mcts:1000`, `perfect`, a level such as `club`), models (`model:NAME`, `model:NAME@3`, at a board
/// `best` and `shipped`), runs (`r-7f3k2m`, `r-7f3k2m@latest`), checkpoints (`ckpt:FOLDER`) or ONNX
/// files (`onnx:FILE`). At a board, what was learnt may end in its simulations: `best:600`. The match
/// is kept as a run, with every game, and counts for `cartridge ratings`. Without --games or --pairs it has 100 games, or 20 episodes.
/// Ctrl-C ends it after the pair that is being played, a second one at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the game or environment; `auto` for that of the players
    #[arg(value_parser = parse_id)]
    game: String,
    /// The player whose result is reported, such as `builtin:mcts:1000` or `model:lander@best`
    a: String,
    /// The other player
    b: String,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    options: OptionArgs,
    /// Play in the background, as a job; `cartridge evals show` tells how it went
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// What two players play: the same words for a match and for each pairing of a tournament.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// How many games two players play, an even number; in an environment how many episodes
    #[arg(long, value_name = "N", value_parser = parse_count)]
    games: Option<u32>,
    /// How many openings they play, each from both sides, instead of how many games; in an
    /// environment how many episodes
    #[arg(long, visible_alias = "seeds", value_name = "N", value_parser = parse_count, conflicts_with = "games")]
    pairs: Option<u32>,
    /// Play each opening once, the player that is named first always moving first
    #[arg(long)]
    one_side: bool,
    /// Chooses the openings and every move that is left to chance
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// How many random moves an opening has, 0 for the start of the game; without it 4 at Connect 4,
    /// 6 at Othello and 1 at tic-tac-toe. From one position two players without chance always play
    /// the same game
    #[arg(long, value_name = "N")]
    opening_plies: Option<u32>,
    /// How many simulations players that have learnt search with at a board where they do not say
    /// it themselves, as `best:600` does; 0 is their policy alone. Without it 200
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=i64::from(MOST_SIMULATIONS)))]
    pub(super) simulations: Option<u32>,
}

impl PlanArgs {
    /// The plan at a game, with `usual` games where nobody says how many.
    pub(super) fn plan(&self, game: &str, usual: Option<u32>) -> Result<SeedPlan, RunError> {
        let games = self.games.or(usual.filter(|_| self.pairs.is_none()));
        SeedPlan::new(game, games, self.seed, self.pairs, Some(!self.one_side))?
            .with_opening(game, self.opening_plies)
    }
}

/// The result.
#[derive(Debug, Serialize)]
struct Report<'a> {
    game: &'a str,
    a: &'a str,
    b: &'a str,
    games: u32,
    seed: u64,
    #[serde(flatten)]
    result: MatchResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
    buckets: Vec<Bucket>,
    run_id: RunId,
}

fn parse_count(text: &str) -> Result<u32, String> {
    match text.replace('_', "").parse() {
        Ok(count @ 1..=1_000_000) => Ok(count),
        _ => Err("a number from 1 to 1000000".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let game = Some(args.game.as_str()).filter(|game| *game != "auto");
    let texts = [args.a.clone(), args.b.clone()];
    if let Some(game) = game {
        super::find_cartridge(game)?;
        check_built_in(game, &texts)?;
    }
    let data = args.data.open()?;
    let options = args.options.parse()?;
    let table =
        Table::find(&data, &texts, game, &options, args.plan.simulations, Door::CommandLine)?;
    let plan = args.plan.plan(&table.game, None)?;
    if args.detach {
        return start(&data, &table, plan, Contest::Match, args.json);
    }
    let Table { game, env, players } = table;
    let players: Vec<_> = players.into_iter().map(|Found { player, .. }| player).collect();
    let [a, b] = <[_; 2]>::try_from(players).expect("two were asked for");
    let config = MatchConfig { game, env, a, b, plan };
    let games = plan.n_games(&config.game);
    let stop = super::interrupted()?;
    let bar = indicatif::ProgressBar::new(u64::from(games));
    let kept = keep_match(&data, super::VERSION, &config, &stop, |games| {
        bar.set_position(u64::from(games));
    })?;
    bar.finish_and_clear();
    let KeptMatch { run_id, result, difference, buckets, n_games, is_whole } = kept;
    if !is_whole {
        note(&format!("stopped after {n_games} of {games} games"));
    }
    let (a, b) = (&config.a.about, &config.b.about);
    if args.json {
        let (game, games, seed) = (&config.game[..], n_games, args.plan.seed);
        let (a, b) = (&a.key[..], &b.key[..]);
        say_json(&Report { game, a, b, games, seed, result, difference, buckets, run_id });
        return Ok(Exit::Ok);
    }
    let MatchResult { wins, draws, losses, score, score_ci95: [low, high], .. } = result;
    let what = if difference.is_some() { "episodes" } else { "games" };
    say(&format!("{} against {}, {n_games} {what} of {}", a.name, b.name, config.game));
    if let Some(Difference { mean_a, mean_b, mean, ci95: [low, high], .. }) = difference {
        say(&format!("mean return  {mean_a:.1} and {mean_b:.1}"));
        say(&format!("difference   {mean:+.1}  (95% interval {low:+.1} to {high:+.1}, by seed)"));
    }
    say(&format!("wins {wins}, draws {draws}, losses {losses}"));
    say(&format!(
        "score  {:.1}%  (95% interval {:.1}% to {:.1}%)",
        100.0 * score,
        100.0 * low,
        100.0 * high
    ));
    let elo =
        |elo: Option<f64>, none: &str| elo.map_or(none.to_owned(), |elo| format!("{elo:+.0}"));
    let unbounded = if score > 0.5 { "above all" } else { "below all" };
    let [low, high] = result.elo_ci95;
    say(&format!(
        "Elo    {}  (95% interval {} to {})",
        elo(result.elo, unbounded),
        elo(low, "-inf"),
        elo(high, "+inf")
    ));
    say(&format!("run {run_id}"));
    Ok(Exit::Ok)
}

/// Makes a match or tournament that is carried out in the background.
pub(super) fn start(
    data: &DataDir,
    table: &Table,
    plan: SeedPlan,
    contest: Contest,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let launcher = launcher(Duration::from_secs(STOP_GRACE_SECONDS))?;
    // A lab that is at work here starts it at its turn.
    let has_lab = lab::presence(data).is_some();
    let made = contest_job::create(data, &launcher, table, plan, contest, By::new(&user()))?;
    if !has_lab {
        launcher.start(data, &made.id, 1)?;
    }
    if as_json {
        say_json(&json!({ "run_id": made.id, "games": made.config["games"] }));
    } else {
        let what = if has_lab { "waits for its turn" } else { "is started" };
        say(&format!("{} {what}; `cartridge evals show {}` tells how it goes", made.id, made.id));
    }
    Ok(Exit::Ok)
}
