//! How far what trains and measures stands back for other programs, so that the machine stays usable.
//!
//! Not being allowed to is no reason to give up.

/// As a `nice` value: beside another program that wants the same core it gets a quarter of it.
const NICENESS: i32 = 5;

/// The calling process, or on Linux its calling thread, stands back for others of its session.
pub(crate) fn stand_back() {
    _ = rustix::process::nice(NICENESS);
}

/// The session that the calling process leads stands back for other sessions. Where Linux shares time
/// out by sessions, niceness counts only within one, and a page beside a training waited as long for
/// its turn as if the training were not nice at all.
pub fn stand_back_as_session() {
    #[cfg(target_os = "linux")]
    {
        _ = std::fs::write("/proc/self/autogroup", NICENESS.to_string());
    }
}
