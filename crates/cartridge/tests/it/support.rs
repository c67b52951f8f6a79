//! The real binary, started and stopped.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A command of the binary under test.
pub(crate) fn cartridge(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cartridge"));
    command
        .args(args)
        .env_remove("CARTRIDGE_TOKEN")
        .env_remove("CARTRIDGE_DATA")
        .env("NO_COLOR", "1");
    command
}

/// Runs a command to its end in `folder`.
pub(crate) fn run(folder: &Path, args: &[&str]) -> Output {
    cartridge(args).current_dir(folder).output().unwrap()
}

/// What a command printed.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The last line of standard output, as JSON.
pub(crate) fn result(output: &Output) -> Value {
    let stdout = text(&output.stdout);
    let line =
        stdout.lines().last().unwrap_or_else(|| panic!("no result: {}", text(&output.stderr)));
    serde_json::from_str(line).unwrap()
}

/// Looks until `look` finds something; a minute is far more than anything here takes.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited a minute for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process is there.
pub(crate) fn is_alive(pid: u64) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let is_zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    // A zombie is there for its parent only, unless its other threads are still on their way out:
    // they hold its files open and locked.
    let n_threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    !is_zombie || n_threads() > 1
}

/// Sends a signal to a process.
pub(crate) fn kill(signal: &str, pid: u64) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// A lab that is up, ended when it is dropped.
pub(crate) struct LabProcess {
    child: Child,
    pub(crate) address: String,
    pub(crate) login_url: String,
    data: PathBuf,
}

impl LabProcess {
    /// Starts the lab on `port`, or any free one for 0.
    pub(crate) fn start(data: &Path, port: u16) -> Self {
        // Tests wait for runs, not for room.
        Self::start_with(data, port, &["--max-runs", "16"])
    }

    /// [`Self::start`] with further arguments.
    pub(crate) fn start_with(data: &Path, port: u16, args: &[&str]) -> Self {
        let mut command =
            cartridge(&["up", "--stop-grace", "2", "--port", &port.to_string(), "--data"]);
        command.arg(data).args(args);
        Self::start_by(command, data)
    }

    /// Starts the lab of `data` by its command.
    pub(crate) fn start_by(mut command: Command, data: &Path) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let login_url = stdout
            .lines()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("Open ")?.1.trim().to_owned()))
            .expect("the lab prints its URL");
        let address = login_url.split("/login").next().unwrap().to_owned();
        Self { child, address, login_url, data: data.to_owned() }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }

    pub(crate) fn token(&self) -> String {
        std::fs::read_to_string(self.data.join("token")).unwrap().trim().to_owned()
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let request = agent()
            .get(format!("{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token()));
        let mut response = request.call().unwrap();
        (response.status().as_u16(), response.body_mut().read_json().unwrap_or_default())
    }

    /// Posts with an `Idempotency-Key` of its own.
    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.post_with_key(path, body, &new_key())
    }

    /// Posts with an `Idempotency-Key`.
    pub(crate) fn post_with_key(&self, path: &str, body: &Value, key: &str) -> (u16, Value) {
        let request = agent()
            .post(format!("{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token()))
            .header("idempotency-key", key);
        let mut response = request.send_json(body).unwrap();
        (response.status().as_u16(), response.body_mut().read_json().unwrap_or_default())
    }

    pub(crate) fn delete(&self, path: &str) -> (u16, Value) {
        let request = agent()
            .delete(format!("{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token()))
            .header("idempotency-key", new_key());
        let mut response = request.call().unwrap();
        (response.status().as_u16(), response.body_mut().read_json().unwrap_or_default())
    }

    /// The messages of the live feed, each with its number, for as long as they are asked for;
    /// without signs of life.
    pub(crate) fn stream(
        &self,
        last_event_id: Option<u64>,
    ) -> impl Iterator<Item = (u64, Value)> + use<> {
        let mut request = agent()
            .get(format!("{}/api/stream", self.address))
            .header("authorization", format!("Bearer {}", self.token()));
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id.to_string());
        }
        let reader = BufReader::new(request.call().unwrap().into_body().into_reader());
        let mut id = 0;
        reader.lines().map_while(Result::ok).filter_map(move |line| {
            if let Some(number) = line.strip_prefix("id: ") {
                id = number.parse().unwrap();
            }
            let message: Value = serde_json::from_str(line.strip_prefix("data: ")?).unwrap();
            (message["type"] != "Alive").then_some((id, message))
        })
    }

    /// Starts a run and returns its name.
    pub(crate) fn start_run(&self, body: &Value) -> String {
        let (status, run) = self.post("/api/runs", body);
        assert_eq!(status, 201, "{run}");
        run["id"].as_str().unwrap().to_owned()
    }

    /// Waits until the run satisfies `is_so`.
    #[track_caller]
    pub(crate) fn wait_for_run(
        &self,
        id: &str,
        what: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        wait_for(what, || Some(self.get(&format!("/api/runs/{id}")).1).filter(&is_so))
    }

    /// Ends the lab as Ctrl-C does and returns its exit code.
    pub(crate) fn interrupt(mut self) -> Option<i32> {
        kill("-INT", self.child.id().into());
        self.child.wait().unwrap().code()
    }

    /// Ends the lab without warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for LabProcess {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        // Runs outlive the lab; those of a test that failed must not outlive the test.
        if std::thread::panicking() {
            for run in std::fs::read_dir(self.data.join("runs")).into_iter().flatten().flatten() {
                let (supervisor, trainer) = pids(&self.data, &run.file_name().to_string_lossy());
                for pid in [supervisor, trainer].into_iter().filter(|&pid| is_alive(pid)) {
                    _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
                }
            }
        }
    }
}

/// A key that no other request has.
pub(crate) fn new_key() -> String {
    cartridge_run::secret::random_hex()
}

/// A client that takes any status for an answer.
pub(crate) fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into()
}

/// The process ids that a run's supervisor recorded: its own and the trainer's.
pub(crate) fn pids(data: &Path, id: &str) -> (u64, u64) {
    wait_for("the supervisor to start", || {
        let text =
            std::fs::read_to_string(data.join("runs").join(id).join("supervisor.jsonl")).ok()?;
        let line: Value = serde_json::from_str(text.lines().next()?).ok()?;
        Some((line["supervisor_pid"].as_u64()?, line["trainer_pid"].as_u64()?))
    })
}

/// The lines of a run's file.
pub(crate) fn lines(data: &Path, id: &str, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(data.join("runs").join(id).join(file)).unwrap_or_default();
    // What follows the last newline is still being written.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The events of one kind.
pub(crate) fn events(data: &Path, id: &str, kind: &str) -> Vec<Value> {
    lines(data, id, "events.jsonl").into_iter().filter(|line| line["type"] == kind).collect()
}

/// Waits for an event of a run and returns the newest of its kind.
#[track_caller]
pub(crate) fn wait_for_event(data: &Path, id: &str, kind: &str) -> Value {
    wait_for(kind, || events(data, id, kind).pop())
}

/// The exit that a run's supervisor recorded last.
#[track_caller]
pub(crate) fn wait_for_exit(data: &Path, id: &str) -> Value {
    wait_for("the exit", || {
        lines(data, id, "supervisor.jsonl").pop().filter(|line| line["type"] == "exited")
    })
}

/// Starts a training that leaves its command alone, and returns its name.
pub(crate) fn train(data: &Path, args: &[&str]) -> String {
    let common = ["train", "CartPole-v1", "--detach", "--json", "--data", "."];
    let output = run(data, &[&common[..], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    result(&output)["run_id"].as_str().unwrap().to_owned()
}

/// Asks something of a run.
#[track_caller]
pub(crate) fn ask(data: &Path, args: &[&str]) -> Value {
    let output = run(data, &[args, &["--data", ".", "--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    result(&output)
}

/// The newest attempt of a run, as its supervisor numbered it, with its two processes.
pub(crate) fn attempt(data: &Path, id: &str) -> Option<(u64, u64, u64)> {
    let lines = lines(data, id, "supervisor.jsonl");
    let started = lines.iter().rev().find(|line| line["type"] == "started")?;
    let number = |key: &str| started[key].as_u64();
    Some((number("attempt")?, number("supervisor_pid")?, number("trainer_pid")?))
}

/// Waits for an attempt of a run and returns its two processes.
#[track_caller]
pub(crate) fn wait_for_attempt(data: &Path, id: &str, n: u64) -> (u64, u64) {
    wait_for("the attempt", || {
        attempt(data, id).filter(|found| found.0 == n).map(|found| (found.1, found.2))
    })
}
