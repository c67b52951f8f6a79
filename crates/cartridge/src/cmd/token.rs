//! `cartridge token`: who may use the API, and for what.

use cartridge_run::clock::unix_now;
use cartridge_run::steer::By;
use cartridge_run::token::{self, Role, Token};
use cartridge_server::time::rfc3339;
use serde_json::{Value, json};

use super::{DataArgs, note, say, say_json, user};
use crate::exit::Exit;

/// Make, list and revoke tokens for the API
///
/// Each has a role: a viewer looks, an operator also makes and steers runs, an admin does all. The
/// token in the file `token` of the data folder is an admin's and is not listed. A lab at work on
/// the folder knows of changes at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a token and print it, this once
    New {
        /// Who gets it; the audit names them so [default with --wandb: wandb, or the next that is free]
        #[arg(long, required_unless_present = "wandb")]
        name: Option<String>,
        /// What they may do: viewer, operator or admin
        #[arg(long, required_unless_present = "wandb")]
        role: Option<Role>,
        /// A key for wandb clients, to be given as WANDB_API_KEY; it opens nothing else
        #[arg(long, conflicts_with = "role")]
        wandb: bool,
        /// When it ends, such as 30d, 12h, 90m or 45s; without it, it does not
        #[arg(long, value_name = "TIME", value_parser = seconds)]
        expires: Option<f64>,
        #[command(flatten)]
        common: Common,
    },
    /// List the tokens, without their secrets
    List {
        #[command(flatten)]
        common: Common,
    },
    /// Take a token back
    Revoke {
        /// Id or name of the token, as in the list
        id: String,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Debug, clap::Args)]
struct Common {
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::New { name, role, expires, common, wandb: _ } => {
            make(name.as_deref(), role.unwrap_or(Role::Wandb), *expires, common)
        }
        Command::List { common } => list(common),
        Command::Revoke { id, common } => revoke(id, common),
    }
}

fn make(
    name: Option<&str>,
    role: Role,
    expires: Option<f64>,
    common: &Common,
) -> anyhow::Result<Exit> {
    let data = common.data.open()?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => free_name(&token::list(&data)?),
    };
    let (token, secret) = token::make(&data, &name, role, expires, By::new(&user()), unix_now())?;
    if common.json {
        let mut shown = show(&token);
        shown["secret"] = json!(secret);
        say_json(&shown);
    } else {
        note(&format!(
            "Token {} of {} has the role {}{}. It is shown this once:",
            token.id,
            token.name,
            token.role,
            token.expires_at.map_or_else(String::new, |end| format!(" until {}", rfc3339(end)))
        ));
        say(&secret);
    }
    Ok(Exit::Ok)
}

/// A name for the key of a client that nobody named.
fn free_name(tokens: &[Token]) -> String {
    let names = std::iter::once("wandb".to_owned()).chain((2..).map(|n| format!("wandb-{n}")));
    let is_free = |name: &String| tokens.iter().all(|token| token.name != *name);
    names.into_iter().find(is_free).expect("there are more numbers than tokens")
}

fn list(common: &Common) -> anyhow::Result<Exit> {
    for token in token::list(&common.data.open_existing()?)? {
        if common.json {
            say_json(&show(&token));
            continue;
        }
        let end = match token.expires_at {
            None => "does not end".to_owned(),
            Some(end) if token.is_live(unix_now()) => format!("ends {}", rfc3339(end)),
            Some(end) => format!("ended {}", rfc3339(end)),
        };
        say(&format!("{}  {:<9} {:<20} {end}", token.id, token.role, token.name));
    }
    Ok(Exit::Ok)
}

fn revoke(id: &str, common: &Common) -> anyhow::Result<Exit> {
    let data = common.data.open_existing()?;
    let token = token::revoke(&data, id, By::new(&user()), unix_now())?;
    if common.json {
        say_json(&show(&token));
    } else {
        say(&format!("token {} of {} opens nothing any more", token.id, token.name));
    }
    Ok(Exit::Ok)
}

fn show(token: &Token) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "created_by": token.created_by,
        "created_at": rfc3339(token.created_at),
        "expires_at": token.expires_at.map(rfc3339),
        "is_expired": !token.is_live(unix_now()),
    })
}

/// `30d` in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let wrong = || "write a time as 30d, 12h, 90m or 45s".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let scale = match unit {
        'd' => 86_400.0,
        'h' => 3600.0,
        'm' => 60.0,
        's' => 1.0,
        _ => return Err(wrong()),
    };
    let number: f64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    if number > 0.0 && number.is_finite() { Ok(number * scale) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_have_a_unit() {
        for (text, expected) in [("30d", 2_592_000.0), ("1.5h", 5400.0), ("2m", 120.0), ("9s", 9.0)]
        {
            assert_eq!(seconds(text), Ok(expected));
        }
        for text in ["", "d", "30", "-1d", "0s", "NaNs", "1w", "1é"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
