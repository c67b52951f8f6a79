//! `cartridge ratings`: how strong the players of a game are.

use cartridge_run::RunError;
use cartridge_run::ratings::{self, Moment, Rating, RatingGroup, Ratings, Standing};
use cartridge_run::store::MatchLog;

use super::{DataArgs, note, parse_id, say, say_json};
use crate::exit::Exit;

/// Rate the players of a game from all matches that were played
///
/// Bradley-Terry ratings in Elo above an anchor, with their 95% interval; Elo (K = 1) and TrueSkill
/// beside them. Matches of `cartridge match` and `cartridge tournament` count, and those of the lab.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the game or environment
    #[arg(value_parser = parse_id)]
    game: String,
    /// Key of the player whose rating is 0
    #[arg(long, value_name = "PLAYER", default_value = ratings::ANCHOR)]
    anchor: String,
    /// Where both players stood after each of the newest matches, oldest first
    #[arg(long, value_name = "MATCHES")]
    history: Option<usize>,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    super::find_cartridge(&args.game)?;
    let data = args.data.open_existing()?;
    let log = MatchLog::read(&data).map_err(RunError::from)?;
    if let Some(limit) = args.history {
        let anchor = Some(args.anchor.as_str());
        for moment in ratings::history(&log.lines, &args.game, None, anchor, limit)? {
            if args.json {
                say_json(&moment);
                continue;
            }
            let Moment { match_id, a, b, score, games, .. } = moment;
            let stood = |at: Standing| {
                let margin = 1.96 * at.standard_error;
                let Standing { name, rating, elo, trueskill, .. } = at;
                format!(
                    "{name} {rating:+.0} ±{margin:.0} (Elo {elo:.1}, TrueSkill {:.1})",
                    trueskill.mu
                )
            };
            say(&format!(
                "{match_id}: {}; {}; score {:.1}% of {games}",
                stood(a),
                stood(b),
                100.0 * score
            ));
        }
        return Ok(Exit::Ok);
    }
    // The usual anchor need not have played; one that somebody names should.
    let anchor = Some(args.anchor.as_str()).filter(|anchor| *anchor != ratings::ANCHOR);
    let found = ratings::ratings(&log.lines, &args.game, anchor)?;
    if args.json {
        say_json(&found);
        return Ok(Exit::Ok);
    }
    let Ratings { game, n_matches, n_games, groups, notes, .. } = found;
    say(&format!("{game}: {n_games} games in {n_matches} matches"));
    groups.iter().for_each(tell);
    for text in notes {
        note(&format!("note: {text}"));
    }
    Ok(Exit::Ok)
}

/// Prints the ratings of players who have met.
pub(super) fn tell(group: &RatingGroup) {
    let names = group.players.iter().map(|rating| rating.player.name.chars().count() + 2);
    let width = names.max().unwrap_or(0).max(32);
    say(&format!(
        "{:<width$}{:>8}{:>8}{:>18}{:>9}{:>11}{:>7}",
        "PLAYER", "RATING", "±95%", "W/D/L", "ELO", "TRUESKILL", "±"
    ));
    for rating in &group.players {
        let Rating { player, wins, draws, losses, rating, standard_error, elo, trueskill, .. } =
            rating;
        let margin = match player.key == group.anchor {
            true => "anchor".to_owned(),
            false => format!("{:.0}", 1.96 * standard_error),
        };
        say(&format!(
            "{:<width$}{rating:>8.0}{margin:>8}{:>18}{elo:>9.1}{:>11.1}{:>7.1}",
            player.name,
            format!("{wins}/{draws}/{losses}"),
            trueskill.mu,
            trueskill.sigma
        ));
    }
}
