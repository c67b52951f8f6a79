//! `cartridge url`: a fresh link that logs a browser in.

use cartridge_run::clock::unix_now;
use cartridge_run::{lab, secret};

use super::{DataArgs, note, say};
use crate::exit::Exit;

/// Print a new one-time URL that logs a browser in to the running lab
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let Some(address) = lab::address_of(&data) else {
        note(&format!(
            "error: no lab is at work on {}\nhint: start one with `cartridge up`",
            data.path().display()
        ));
        return Ok(Exit::NoLab);
    };
    say(&login_url(&address, &secret::new_login_code(&data, unix_now())?));
    Ok(Exit::Ok)
}

/// The link that takes a login code.
pub(crate) fn login_url(address: &str, code: &str) -> String {
    format!("{address}/login?code={code}")
}
