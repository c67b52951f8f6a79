//! `cartridge tournament`: compare several players.

use cartridge_run::contest_job::Contest;
use cartridge_run::matches::SeedPlan;
use cartridge_run::player::{Door, Found, Table, check_built_in, spread};
use cartridge_run::store::DataDir;
use cartridge_run::tournament::{self, Kind, TournamentConfig, TournamentSummary, keep_tournament};

use super::match_players::{PlanArgs, start};
use super::{DataArgs, OptionArgs, note, parse_id, say, say_json};
use crate::exit::Exit;

/// Let several players play each other, each pair over the same openings from both sides
///
/// Players are written as for `cartridge match`, and `run:RUN@all` is every checkpoint of a run that is
/// kept (`cartridge league RUN` also rates them). The tournament is kept as a run, with every game,
/// and counts for `cartridge ratings`. Without --games or --pairs each pairing has 20 games, or
/// episodes. Ctrl-C ends it after the pairs that are being played. Example:
///   cartridge tournament connect4 --players random,mcts:100,perfect --pairs 10
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Id of the game or environment
    #[arg(value_parser = parse_id)]
    game: String,
    /// The players, separated by commas
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', required = true)]
    players: Vec<String>,
    /// Who meets whom: everybody everybody, or the first everybody else
    #[arg(long, value_enum, default_value_t = KindArg::RoundRobin)]
    kind: KindArg,
    #[command(flatten)]
    plan: PlanArgs,
    /// How many pairings are played at once; the result does not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
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

/// Games of each pairing where nobody says how many.
pub(super) const GAMES: u32 = 20;

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KindArg {
    /// Everybody meets everybody
    #[value(name = "round_robin", alias = "round-robin")]
    RoundRobin,
    /// The first player meets everybody else
    Gauntlet,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::RoundRobin => Self::RoundRobin,
            KindArg::Gauntlet => Self::Gauntlet,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    super::find_cartridge(&args.game)?;
    check_built_in(&args.game, &args.players)?;
    let data = args.data.open()?;
    let players = spread(&data, &args.players)?;
    tournament::check_count(players.len())?;
    let options = args.options.parse()?;
    let game = Some(args.game.as_str());
    let table =
        Table::find(&data, &players, game, &options, args.plan.simulations, Door::CommandLine)?;
    let plan = args.plan.plan(&table.game, Some(GAMES))?;
    let (kind, n_threads) = (args.kind.into(), args.threads as usize);
    if args.detach {
        let contest = Contest::Tournament { kind, n_threads };
        return start(&data, &table, plan, contest, args.json);
    }
    let summary = hold(&data, table, kind, plan, n_threads)?;
    if args.json {
        let mut all = serde_json::to_value(&summary)?;
        all["cross_table"] = serde_json::to_value(summary.cross_table())?;
        say_json(&all);
    } else {
        tell(&summary);
    }
    Ok(Exit::Ok)
}

/// Plays a tournament to its end, or until somebody asks for it.
pub(super) fn hold(
    data: &DataDir,
    table: Table,
    kind: Kind,
    plan: SeedPlan,
    n_threads: usize,
) -> anyhow::Result<TournamentSummary> {
    let Table { game, env, players } = table;
    let players = players.into_iter().map(|Found { player, .. }| player).collect();
    let config = TournamentConfig { game, env, players, kind, plan, n_threads };
    let stop = super::interrupted()?;
    let bar = indicatif::ProgressBar::new(u64::from(config.n_games()));
    let kept = keep_tournament(data, super::VERSION, &config, &stop, |games| {
        bar.set_position(u64::from(games));
    });
    bar.finish_and_clear();
    let (summary, is_whole) = kept?;
    if !is_whole {
        note("stopped before all games were played");
    }
    Ok(summary)
}

/// Prints the standings with the cross table beside them.
pub(super) fn tell(summary: &TournamentSummary) {
    let TournamentSummary { game, players, pairings, n_pairings, standings, run_id, .. } = summary;
    say(&format!("{game}, {} players, {} of {n_pairings} pairings", players.len(), pairings.len()));
    let longest = players.iter().map(|player| player.name.chars().count()).max().unwrap_or(0);
    let width = longest.max(6) + 2;
    let numbers: String = (1..=standings.len()).map(|place| format!("{place:>7}")).collect();
    say(&format!("{:>3}  {:<width$}{:>8}{:>8}{numbers}", "", "PLAYER", "POINTS", "SCORE"));
    let table = summary.cross_table();
    for (place, standing) in standings.iter().enumerate() {
        let cells: String = standings
            .iter()
            .map(|other| match table[standing.player][other.player] {
                Some(score) => format!("{:>6.1}%", 100.0 * score),
                None => format!("{:>7}", "-"),
            })
            .collect();
        say(&format!(
            "{:>3}  {:<width$}{:>8.1}{:>7.1}%{cells}",
            place + 1,
            players[standing.player].name,
            standing.points,
            100.0 * standing.score,
        ));
    }
    say(&format!("run {run_id}"));
}
