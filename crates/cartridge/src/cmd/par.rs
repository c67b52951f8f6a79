//! `cartridge par`: what scripted players reach in an environment.

use cartridge_run::par::{Par, Row, par};

use super::{OptionArgs, note, parse_id, say, say_json};
use crate::exit::Exit;

/// Let scripted players play an environment, and check that they rank as they should
///
/// The ranks are those of the default options; with others the table is printed and nothing checked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the environment, such as AsteroidProspector-v0
    #[arg(value_parser = parse_id)]
    env: String,
    /// Episodes of each player
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    seeds: u32,
    #[command(flatten)]
    options: OptionArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(par) = par(&args.env, &args.options.parse()?, args.seeds)? else {
        note(&format!("error: `{}` has no scripted players", args.env));
        return Ok(Exit::Usage);
    };
    if args.json {
        say_json(&par);
    } else {
        show(&par);
    }
    for broken in &par.broken {
        note(&format!("does not hold: {broken}"));
    }
    Ok(if par.broken.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn show(par: &Par) {
    let options: String =
        par.options.iter().map(|(name, value)| format!(", {name}={value}")).collect();
    say(&format!("{}{options}, {} seeds", par.env, par.seeds));
    say(&format!(
        "{:<20} {:>8}  {:<19} {:>8} {:>8} {:>9} {:>8}",
        "player", "return", "95% interval", "profit", "survival", "decisions", "ticks"
    ));
    for Row { name, mean, ci95: [low, high], profit, survival, decisions, ticks, .. } in
        &par.players
    {
        let interval = format!("{low:.3} to {high:.3}");
        say(&format!(
            "{name:<20} {mean:>8.3}  {interval:<19} {profit:>8.0} {survival:>8.3} \
             {decisions:>9.1} {ticks:>8.1}"
        ));
    }
}
