//! Tickets: one door, once, within half a minute.
//!
//! A browser can give a WebSocket or an `EventSource` no header, and a page of another origin has
//! no cookie here. So it asks for a ticket with its token, and puts that into the address. Addresses
//! end up in logs and histories; a ticket that does is worth nothing any more.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cartridge_run::secret;

use crate::auth::Principal;

/// How long a ticket is good.
pub const TICKET_LIFE: Duration = Duration::from_secs(30);

/// Tickets that may be out at once.
const MOST_TICKETS: usize = 10_000;

/// The tickets that nobody has used yet.
#[derive(Debug, Default)]
pub struct Tickets(Mutex<HashMap<String, Ticket>>);

#[derive(Debug)]
struct Ticket {
    holder: Principal,
    path: String,
    until: Instant,
}

impl Tickets {
    /// Makes a ticket for `path`, or nothing when too many are out.
    pub fn make(&self, holder: Principal, path: &str, now: Instant) -> Option<String> {
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.retain(|_, ticket| now < ticket.until);
        if tickets.len() >= MOST_TICKETS {
            return None;
        }
        let secret = secret::random_hex();
        let ticket = Ticket { holder, path: path.to_owned(), until: now + TICKET_LIFE };
        tickets.insert(secret.clone(), ticket);
        Some(secret)
    }

    /// Takes a ticket: whose it was, if it was good for `path`. It is spent in any case.
    pub fn take(&self, secret: &str, path: &str, now: Instant) -> Option<Principal> {
        // Found by hash map: what its time tells is a hash under a key of this process.
        let ticket = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(secret)?;
        (ticket.path == path && now < ticket.until).then_some(ticket.holder)
    }
}
