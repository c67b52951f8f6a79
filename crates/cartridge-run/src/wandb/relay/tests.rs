use std::io::Cursor;
use std::sync::{Arc, Mutex};

use super::super::Key;
use super::super::folder::{Card, Ledger, Post};
use super::*;

/// What the relay said.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Said {
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn of(&self, kind: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["type"] == kind).collect()
    }
}

struct Fixture {
    _temporary: tempfile::TempDir,
    dir: RunDir,
    folder: Folder,
    ledger: Ledger,
}

impl Fixture {
    fn new(config: Value) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let dir = RunDir::new(temporary.path());
        let key = Key::new(None, None, "abc").unwrap();
        let card = Card { config, ..Card::default() };
        let folder = Folder::make(&dir, &Folder::name(&key, 0.0), &card).unwrap();
        let ledger = Ledger::open(folder.clone()).unwrap();
        Self { _temporary: temporary, dir, folder, ledger }
    }

    fn post(&mut self, files: &Value) {
        let post: Post = serde_json::from_value(json!({ "files": files })).unwrap();
        self.ledger.append(&post).unwrap();
    }

    fn end(&self, exit_code: i64) {
        let card = self.folder.card().unwrap();
        self.folder.write_card(&Card { exit_code: Some(exit_code), ..card }).unwrap();
    }

    /// Tells until the client has ended, with these control lines.
    fn relay(&self, attempt: u32, control: &str) -> (u8, Said) {
        let said = Said::default();
        let control = Cursor::new(control.to_owned());
        let patience = Duration::from_millis(400);
        let code = relay(&self.dir, attempt, patience, control, said.clone()).unwrap();
        (code, said)
    }
}

#[test]
fn what_a_client_sends_is_told_in_order() {
    let config = json!({
        "env_id": { "value": "CartPole-v1" }, "seed": { "value": 3 }, "_wandb": { "value": {} },
    });
    let mut fixture = Fixture::new(config);
    fixture.post(&json!({
        "wandb-history.jsonl": { "offset": 0, "content": [
            r#"{"_step":0,"global_step":10,"charts/episodic_return":1,"charts/SPS":50}"#,
            r#"{"_step":1,"global_step":20,"charts/episodic_return":3,"losses/x":NaN}"#,
            r#"{"_step":2,"eval":9}"#,
        ] },
        "wandb-events.jsonl": { "offset": 0, "content": [r#"{"system.cpu":4.5,"_wandb":true}"#] },
        "output.log": { "offset": 0, "content": ["2026-11-16T13:08:08.959364 hello"] },
    }));
    fixture.end(0);
    let (code, said) = fixture.relay(1, "");
    assert_eq!(code, 0);
    let lines = said.lines();
    assert_eq!(lines[0]["type"], "config");
    assert_eq!((&lines[0]["env_id"], &lines[0]["seed"]), (&json!("CartPole-v1"), &json!(3)));
    assert_eq!(lines[0]["args"], json!({ "env_id": "CartPole-v1", "seed": 3 }));
    assert!(lines[0].get("restored").is_none());
    let metrics = said.of("metrics");
    let steps: Vec<&Value> = metrics.iter().map(|line| &line["step"]).collect();
    assert_eq!(steps, [10, 20, 20, 20], "rows without a step of their own stay where the run is");
    assert_eq!(metrics[0]["values"]["time/fps"], 50.0);
    assert_eq!(metrics[1]["values"]["rollout/ep_rew_mean"], 2.0);
    assert_eq!(metrics[1]["nonfinite"], json!({ "losses/x": "nan" }));
    assert_eq!(metrics[3]["values"], json!({ "system/cpu": 4.5 }));
    assert_eq!(said.of("log")[0]["message"], "hello");
    assert_eq!(lines.last().unwrap()["type"], "done");
    assert!(fixture.folder.is_over());
    // Whoever starts again tells everything anew.
    let (_, again) = fixture.relay(2, "");
    assert_eq!(again.lines()[0]["restored"], json!({ "path": "", "step": 0 }));
    assert_eq!(again.of("metrics"), metrics);
}

#[test]
fn a_client_that_fails_or_is_silent_ends_its_run_so() {
    let fixture = Fixture::new(json!({}));
    fixture.end(3);
    assert_eq!(fixture.relay(1, "").0, 3);
    let silent = Fixture::new(json!({}));
    let (code, said) = silent.relay(1, "");
    assert_eq!(code, 1);
    let last = said.lines().pop().unwrap();
    assert_eq!(last["level"], "error");
    assert!(last["message"].as_str().unwrap().contains("silent"), "{last}");
    for (code, exit) in [(0, 0), (1, 1), (255, 255), (256, 1), (-1, 255), (-256, 1)] {
        assert_eq!(as_exit(code), exit, "{code}");
    }
}

#[test]
fn a_stop_is_left_for_the_client() {
    let fixture = Fixture::new(json!({}));
    fixture.end(255);
    let control = concat!(
        r#"{"type":"control","seq":1,"command":"pause"}"#,
        "\n",
        r#"{"type":"control","seq":2,"command":"stop"}"#,
        "\n",
    );
    // The end is there already, so both lines are read before it only by luck; they are read here
    // because standard input is looked at first.
    let said = Said::default();
    let mut relay = Relay::new(fixture.folder.clone(), 1, said.clone());
    for line in control.lines() {
        relay.obey(line).unwrap();
    }
    assert!(fixture.folder.is_to_stop());
    relay.advance().unwrap();
    assert_eq!(relay.end().unwrap(), Some(0), "it was asked to");
    let acks = said.of("control_ack");
    assert_eq!((&acks[0]["seq"], &acks[0]["ok"]), (&json!(1), &json!(false)));
    assert_eq!((&acks[1]["seq"], acks[1].get("ok")), (&json!(2), None));
    assert_eq!(said.of("done")[0]["reason"], "stopped");
}

#[test]
fn lines_of_the_console_are_told_when_they_are_final() {
    let mut printed = Printed::default();
    let chunk = |offset, content: &[&str]| Chunk {
        offset,
        content: content.iter().map(|line| (*line).to_owned()).collect(),
    };
    printed.add(chunk(0, &["a", "10%"]));
    assert_eq!(printed.take(false), ["a"]);
    printed.add(chunk(1, &["50%"]));
    printed.add(chunk(1, &["90%", "b"]));
    printed.add(chunk(0, &["too late"]));
    assert_eq!(printed.take(false), ["90%"]);
    assert_eq!(printed.take(true), ["b"]);
    assert_eq!(printed.take(true), Vec::<String>::new());
}
