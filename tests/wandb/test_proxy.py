"""A lab that shows the runs of another by its W&B door: filled by a real client, read through faults."""

import json
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import Lab, until

TRAIN = """
import wandb
run = wandb.init(project="lander", name="long", id="long99")
for i in range(1, 5001):
    many = {f"many/{n}": float(n) for n in range(70)} if i == 2500 else {}
    run.log({"global_step": 10 * i, "charts/episodic_return": float(i), **many})
run.finish()
run = wandb.init(project="lander", name="one", id="abc123", config={"env_id": "LunarLander-v3"})
for i in range(1, 251):
    step = 1000 * i
    run.log({"global_step": step, "window_id": -(-step // 10_000), "charts/episodic_return": float(i), "losses/value_loss": 1 / i})
run.finish()
wandb.init(project="lander", name="two", id="def456").finish()
"""


class Between:
    """Stands between the two labs and does to requests what it is told."""

    def __init__(self, lab):
        self.mood, self.n_asked, self.heads = "pass", 0, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                outer.n_asked += 1
                outer.heads.append(dict(self.headers))
                if outer.mood == "slow":
                    time.sleep(12)
                if outer.mood in {"429", "503"}:
                    return self.answer(int(outer.mood), b"", {"retry-after": "2"})
                if outer.mood == "malformed":
                    return self.answer(200, b'{"data": {"project"', {})
                request = urllib.request.Request(lab.address + self.path, body)
                request.add_header("authorization", self.headers["authorization"])
                request.add_header("content-type", "application/json")
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return self.answer(answer.status, answer.read(), {})

            def answer(self, status, text, headers):
                try:
                    self.send_response(status)
                    for name, value in {"content-length": str(len(text)), **headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A lab that has runs, a lab that shows them, and what is between the two."""
    with pytest.MonkeyPatch.context() as patch:
        upstream = Lab(tmp_path_factory.mktemp("upstream"))
        upstream.ran(TRAIN)
        until(lambda: (upstream.run("two") or {}).get("state") == "succeeded", what="the end of the runs")
        between = Between(upstream)
        folder = tmp_path_factory.mktemp("shown")
        (folder / "data").mkdir()
        source = {"base_url": between.address, "entity": "lab", "project": "lander", "ttl_seconds": 1}
        (folder / "data/lab.json").write_text(json.dumps({"format": 1, "wandb": source}))
        patch.setenv("WANDB_API_KEY", upstream.key)
        shown = Lab(folder)
        yield upstream, shown, between
        shown.kill()
        upstream.kill()


def asked(lab, path):
    return json.loads(lab.get(f"/api/wandb{path}"))


def refused(lab, path):
    with pytest.raises(urllib.error.HTTPError) as caught:
        asked(lab, path)
    return caught.value.code, json.loads(caught.value.read())


def test_runs_windows_and_iterations(pair):
    _, shown, between = pair
    between.mood = "pass"
    runs = asked(shown, "/runs?limit=10")
    assert [run["run_id"] for run in runs["runs"]] == ["def456", "abc123", "long99"]
    assert (runs["source"]["stale"], runs["source"]["trouble"]) == (False, None)
    assert [run["run_id"] for run in asked(shown, "/runs?limit=1")["runs"]] == ["def456"]
    summary = asked(shown, "/runs/abc123/summary")
    run = summary["run"]
    assert (run["name"], run["state"], run["env_id"], run["step"]) == ("one", "finished", "LunarLander-v3", 250_000)
    kpis = {kpi["name"]: kpi["value"] for kpi in run["kpis"]}
    assert kpis["return"] == 250 and kpis["profit"] is None
    assert summary["config"]["env_id"] == "LunarLander-v3"


def test_a_row_belongs_to_its_window(pair):
    _, shown, between = pair
    between.mood = "pass"
    path = shown.data / "lab.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "analytics": {"window_steps": 10_000}}))
    windows = asked(shown, "/runs/abc123/history")["windows"]
    assert [window["window_id"] for window in windows] == list(range(1, 26))
    assert [window["figures"]["return"]["n"] for window in windows] == [10] * 25
    assert windows[2]["figures"]["return"]["mean"] == pytest.approx(25.5)
    newest = asked(shown, "/runs/abc123/iterations?limit=10")
    assert [window["window_id"] for window in newest["windows"]] == list(range(16, 26)) and newest["truncated"]
    iteration = asked(shown, "/runs/abc123/iterations/3")
    metrics = {metric["key"]: metric for metric in iteration["metrics"]}
    assert metrics["charts/episodic_return"]["value"] == [float(i) for i in range(21, 31)]
    assert metrics["losses/value_loss"]["figures"]["max"] == pytest.approx(1 / 21)
    assert refused(shown, "/runs/abc123/iterations/99")[1]["code"] == "no_such_window"
    code, problem = refused(shown, "/runs/nobody/summary")
    assert (code, problem["code"]) == (404, "no_such_wandb_run")


def test_an_iteration_of_a_long_run_is_whole(pair):
    _, shown, between = pair
    between.mood = "pass"
    told = json.loads((shown.data / "lab.json").read_text())
    (shown.data / "lab.json").write_text(json.dumps({**told, "analytics": {"window_steps": 10_000}}))
    assert asked(shown, "/runs/long99/history")["sampled"], "of all its rows there are some"
    iteration = asked(shown, "/runs/long99/iterations/3")
    metrics = {metric["key"]: metric["figures"] for metric in iteration["metrics"]}
    assert not iteration["sampled"] and len(metrics) == 71
    returns = metrics["charts/episodic_return"]
    assert (returns["n"], returns["min"], returns["max"], returns["mean"]) == (1000, 2001, 3000, 2500.5)
    assert metrics["many/69"]["last"] == 69


@pytest.mark.parametrize(
    ("mood", "status", "code"),
    [
        ("503", 502, "wandb_refused"),
        ("malformed", 502, "wandb_malformed"),
        ("slow", 504, "wandb_slow"),
        ("429", 503, "wandb_limited"),
    ],
)
def test_what_was_known_is_shown_while_the_server_fails(pair, mood, status, code):
    upstream, shown, between = pair
    between.mood = "pass"
    path = f"/runs?limit={20 + len(mood)}"
    until(lambda: not asked(shown, path)["source"]["stale"], what="a fresh answer")
    time.sleep(1.1)
    between.mood = mood
    stale = asked(shown, path)
    assert [run["run_id"] for run in stale["runs"]] == ["def456", "abc123", "long99"]
    assert stale["source"]["stale"] and stale["source"]["trouble"]["code"] == code
    assert stale["source"]["age_seconds"] > 1
    # Of what nobody knows there is only the trouble.
    got, problem = refused(shown, f"/runs/{mood}/summary")
    assert (got, problem["code"]) == (status, code)
    assert upstream.key not in json.dumps([stale, problem])
    between.mood = "pass"
    until(lambda: not asked(shown, path)["source"]["stale"], what="a fresh answer")


def test_who_asks_at_once_is_answered_by_one_request(pair):
    _, shown, between = pair
    between.mood = "pass"
    before = between.n_asked
    threads = [threading.Thread(target=asked, args=(shown, "/runs?limit=77")) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert between.n_asked == before + 1


def test_the_key_is_found_nowhere(pair):
    upstream, shown, between = pair
    assert any("Authorization" in head or "authorization" in head for head in between.heads)
    shown.log.flush()
    for path in shown.folder.rglob("*"):
        if path.is_file():
            assert upstream.key.encode() not in path.read_bytes(), path
    for path in ("/runs?limit=3", "/runs/abc123/summary", "/runs/abc123/history"):
        assert upstream.key not in json.dumps(asked(shown, path))
    for path in ("/api/settings", "/api/lab"):
        assert upstream.key not in shown.get(path).decode()


def test_without_a_key_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    lab = Lab(tmp_path)
    code, problem = refused(lab, "/runs")
    lab.kill()
    assert (code, problem["code"]) == (409, "wandb_not_configured")
    assert "WANDB_API_KEY" in problem["detail"]
