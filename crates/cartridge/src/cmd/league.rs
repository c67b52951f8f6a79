//! `cartridge league`: rate every checkpoint of a run.

use cartridge_run::RunError;
use cartridge_run::contest_job::Contest;
use cartridge_run::games::registry::is_game;
use cartridge_run::opponent::Opponent;
use cartridge_run::player::{Door, Table, spread};
use cartridge_run::ratings::{self, RatingGroup};
use cartridge_run::store::{MatchLog, RunId};
use cartridge_run::tournament::{self, Kind};
use serde_json::{Map, json};

use super::match_players::{PlanArgs, start};
use super::tournament::{GAMES, hold};
use super::{DataArgs, note, say, say_json};
use crate::exit::Exit;

/// Rate every checkpoint of a run at a game, by Bradley-Terry above an anchor
///
/// All checkpoints that are kept (63 at even distances where there are more), and the fixed opponent
/// of the game, play each other as in `cartridge tournament`, with as many simulations as the run was measured with. The ratings are
/// those of `cartridge ratings`: games that the run's evaluations have played count too. Without
/// --games or --pairs each pairing has 20 games. Ctrl-C ends it after the pairs that are being played.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// The player whose rating is 0, such as `mcts:100`; without it the fixed opponent of the game
    #[arg(long, value_name = "PLAYER")]
    anchor: Option<String>,
    #[command(flatten)]
    plan: PlanArgs,
    /// How many pairings are played at once; the result does not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Play in the background, as a job; `cartridge ratings` tells how it went
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let manifest = data.run(&id).manifest().map_err(RunError::from)?;
    let game = manifest.env_id;
    if !is_game(&game) {
        let detail = format!("{game} is no game of two, so its checkpoints cannot play each other");
        return Err(RunError::BadPlayer { player: id.to_string(), detail }.into());
    }
    let anchor = args.anchor.clone().unwrap_or_else(|| Opponent::baseline(&game).to_string());
    let mut players = spread(&data, &[format!("run:{id}@all")])?;
    let n_kept = players.len();
    // One place is the anchor's.
    players = tournament::thin_out(players, tournament::MAX_PLAYERS - 1);
    if players.len() < n_kept {
        note(&format!("{} of {n_kept} checkpoints play, at even distances", players.len()));
    }
    players.push(anchor);
    // Then they are the players that evaluations have rated.
    let measured = manifest.config["evaluation"]["simulations"].as_u64();
    let simulations = args.plan.simulations.or(measured.and_then(|n| u32::try_from(n).ok()));
    let door = Door::CommandLine;
    let table = Table::find(&data, &players, Some(&game), &Map::new(), simulations, door)?;
    let plan = args.plan.plan(&game, Some(GAMES))?;
    let (kind, n_threads) = (Kind::RoundRobin, args.threads as usize);
    if args.detach {
        return start(&data, &table, plan, Contest::Tournament { kind, n_threads }, args.json);
    }
    let anchor = table.players.last().map(|found| found.player.about.key.clone());
    let summary = hold(&data, table, kind, plan, n_threads)?;
    let log = MatchLog::read(&data).map_err(RunError::from)?;
    let rated = ratings::ratings(&log.lines, &game, anchor.as_deref())?;
    let is_of_league = |key: &str| summary.players.iter().any(|player| player.key == key);
    let mut groups = rated.groups.into_iter();
    let mut group = groups
        .find(|group| Some(&group.anchor) == anchor.as_ref())
        .unwrap_or_else(|| RatingGroup { anchor: String::new(), players: Vec::new() });
    group.players.retain(|rating| is_of_league(&rating.player.key));
    if args.json {
        let RatingGroup { anchor, players } = &group;
        let tournament = &summary.run_id;
        say_json(&json!({
            "run_id": id, "game": game, "anchor": anchor, "players": players,
            "tournament": tournament,
        }));
        return Ok(Exit::Ok);
    }
    say(&format!("{game}: the checkpoints of {id}, in Elo above {}", group.anchor));
    super::ratings::tell(&group);
    say(&format!("run {}", summary.run_id));
    Ok(Exit::Ok)
}
