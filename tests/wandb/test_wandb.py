"""Unmodified `wandb` clients against a real lab."""

import importlib.util
import json
import os
import signal
import time
import urllib.error
import urllib.request

import pytest
from conftest import Faults, until

TRAIN = """
import sys, wandb
run = wandb.init(
    project="first project", name="one", id="abc123", group="g", job_type="train", tags=["a", "b"], notes="why",
    config={"env_id": "CartPole-v1", "seed": 3, "lr": 1e-3, "net": {"layers": [64, 64]}, "total_timesteps": 500},
)
for i in range(300):
    run.log({"loss": 1 / (i + 1), "nested": {"deep": i}, "bad": float("nan") if i == 3 else 1.0,
             "charts/episodic_return": float(i), "picture": wandb.Histogram([1, 2, 3])})
print("hello from the script")
run.summary["best"] = 7
with open("model.bin", "wb") as file:
    file.write(bytes(range(256)) * 1000)
run.save("model.bin", policy="now")
run.finish()
"""

READ = """
runs = api.runs("first project")
run = api.run("lab/first project/abc123")
files = {file.name: file.size for file in run.files()}
with run.file("model.bin").download(root="back", replace=True) as file:
    path = file.name
scanned = list(run.scan_history())
print(json.dumps({
    "runs": [[r.id, r.name, r.state] for r in runs],
    "config": run.config, "summary": {"best": run.summary["best"], "loss": run.summary["loss"]}, "state": run.state, "tags": run.tags, "group": run.group,
    "job_type": run.job_type, "notes": run.notes, "user": run.user.username, "project": run.project,
    "history": run.history(keys=["loss", "nested.deep"], pandas=False, samples=1000),
    "few": len(run.history(keys=["loss"], pandas=False, samples=10)),
    "all": len(run.history(samples=1000, pandas=False)),
    "bad": [row["bad"] for row in run.history(keys=["bad"], pandas=False)][3],
    "steps": [row["_step"] for row in scanned], "losses": [row["loss"] for row in scanned],
    "keyed": len(list(run.scan_history(keys=["loss"]))),
    "between": [row["_step"] for row in run.scan_history(min_step=10, max_step=13)],
    "files": files, "same": open(path, "rb").read() == bytes(range(256)) * 1000,
    "console": [line.content for line in run.console_logs()],
    "metadata": run.metadata["codePath"],
    "passing": len(api.runs("lab/first project", filters={"$and": [{"config.seed": 3}, {"state": "finished"}]})),
    "none": len(api.runs("lab/first project", filters={"config.seed": {"$gt": 3}})),
    "projects": [project.name for project in api.projects()],
}))
"""


def test_a_run_goes_in_and_comes_back(lab):
    said = lab.ran(TRAIN)
    assert "hello from the script" in said
    until(lambda: (lab.run("one") or {}).get("state") == "succeeded", what="the end of the run")
    run = lab.run("one")
    assert (run["kind"], run["env_id"], run["step"]) == ("external", "CartPole-v1", 299)
    assert run["mean_reward"] == pytest.approx(sum(range(200, 300)) / 100)
    rows = [row for row in lab.rows(run["id"]) if "loss" in row["values"]]
    assert [row["step"] for row in rows] == list(range(300))
    assert [row["values"]["loss"] for row in rows] == [1 / (i + 1) for i in range(300)]
    assert rows[7]["values"]["nested.deep"] == 7 and rows[3]["values"]["bad"] is None
    assert not any("picture" in name for name in rows[0]["values"])
    assert "hello from the script" in lab.get(f"/api/runs/{run['id']}/log").decode()
    artifacts = json.loads(lab.get(f"/api/runs/{run['id']}/artifacts"))["artifacts"]
    assert "wandb" in {artifact["kind"] for artifact in artifacts}

    back = lab.asked(READ)
    assert back["runs"] == [["abc123", "one", "finished"]]
    assert back["config"] == {
        "env_id": "CartPole-v1", "seed": 3, "lr": 1e-3, "net": {"layers": [64, 64]}, "total_timesteps": 500,
    }  # fmt: skip
    assert back["summary"]["best"] == 7 and back["summary"]["loss"] == 1 / 300
    assert (back["state"], back["tags"], back["group"]) == ("finished", ["a", "b"], "g")
    assert (back["job_type"], back["notes"], back["user"]) == ("train", "why", "wandb")
    assert [row["nested.deep"] for row in back["history"]] == list(range(300))
    assert (back["few"], back["all"], back["bad"]) == (10, 300, "NaN")
    assert back["steps"] == list(range(300)) and back["losses"] == [1 / (i + 1) for i in range(300)]
    assert back["keyed"] == 300 and back["between"] == [10, 11, 12]
    assert back["files"]["model.bin"] == 256_000 and back["same"]
    assert {"config.yaml", "requirements.txt", "wandb-metadata.json", "wandb-summary.json"} <= set(back["files"])
    assert "hello from the script" in back["console"]
    assert (back["passing"], back["none"], back["projects"]) == (1, 0, ["first project"])

    made = [line for line in lab.cartridge("audit") if line["what"] == "create"]
    assert [(line["who"], line["role"]) for line in made] == [("wandb", "wandb")]
    assert lab.cartridge("fsck")[-1]


def test_a_wrong_key_is_refused_in_words(lab):
    script = 'import wandb\nwandb.init(project="p", settings=wandb.Settings(init_timeout=20))'
    said = lab.ran(script, key="0" * 40, code=1)
    assert "this is not the token of this lab" in said, said
    assert lab.cartridge("runs") == []


def test_a_key_opens_nothing_but_its_door(lab):
    for path in ("/api/runs", "/api/audit", "/api/tokens", "/metrics", "/api/me"):
        request = urllib.request.Request(lab.address + path, headers={"Authorization": f"Bearer {lab.key}"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)
        assert refused.value.code == 403, path
    lab.cartridge("token", "revoke", "wandb")
    lab.ran('import wandb\nwandb.init(project="p", settings=wandb.Settings(init_timeout=20))', code=1)


MANY = """
import time, wandb
# Whole seconds: the client cuts off the rest.
run = wandb.init(project="p", name="many", id="many", settings=wandb.Settings(
    x_file_stream_transmit_interval=1, x_file_stream_retry_wait_min_seconds=1,
    x_file_stream_retry_wait_max_seconds=2, x_graphql_retry_wait_min_seconds=1,
    x_graphql_retry_wait_max_seconds=2, x_file_transfer_retry_wait_min_seconds=1,
    x_file_transfer_retry_wait_max_seconds=2, x_disable_stats=True,
))
for i in range(10_000):
    run.log({"loss": float(i)})
    if i % 40 == 39:
        time.sleep(0.1)
    if i % 1000 == 999:
        print("logged", i, flush=True)
run.finish()
"""


def test_every_row_arrives_once_through_faults_and_two_restarts(lab):
    faults = Faults(lab, 0.2)
    client = lab.client(MANY, address=faults.address)
    kept = lambda: sum(  # noqa: E731
        path.read_bytes().count(b"\n") for path in lab.data.glob("runs/*/wandb/*/history.jsonl")
    )
    for n_rows in (2000, 6000):
        until(lambda n=n_rows: kept() >= n, seconds=60, what=f"row {n_rows}")
        lab.kill()
        time.sleep(1)
        lab.start()
    said, _ = client.communicate(timeout=90)
    assert client.returncode == 0, said
    assert faults.n_requests > 25 and faults.n_faults >= 5, (faults.n_faults, faults.n_requests)
    until(lambda: (lab.run("many") or {}).get("state") == "succeeded", what="the end of the run")
    run = lab.run("many")
    assert len(lab.cartridge("runs")) == 1, "an answer that was lost makes no second run"
    expected = [(i, float(i)) for i in range(10_000)]
    all_rows = [row for row in lab.cartridge("metrics", run["id"], "--tail", "0") if "loss" in row["metrics"]]
    assert [(row["step"], row["metrics"]["loss"]) for row in all_rows] == expected
    # The API gives 10,000 rows at once, among them some of the lab's own with the pace.
    newest = [(row["step"], row["values"]["loss"]) for row in lab.rows(run["id"]) if "loss" in row["values"]]
    assert newest == expected[-len(newest) :] and len(newest) > 9_900
    back = lab.asked('print(json.dumps([[r["_step"], r["loss"]] for r in api.run("p/many").scan_history()]))')
    assert back == [[i, i] for i in range(10_000)]
    print(f"{faults.n_faults} of {faults.n_requests} requests failed")


def test_a_run_goes_on_by_its_id(lab):
    script = """
import sys, wandb
run = wandb.init(project="p", name="again", id="again", resume=sys.argv[1], config={"part": int(sys.argv[2])})
for i in range(100):
    run.log({"x": i + 100 * (int(sys.argv[2]) - 1)})
print("part", sys.argv[2])
run.finish(exit_code=int(sys.argv[3]))
"""
    lab.ran(script, "allow", 1, 3)
    until(lambda: (lab.run("again") or {}).get("state") == "failed", what="the end of the first part")
    lab.ran(script, "must", 2, 0)
    until(lambda: lab.run("again")["state"] == "succeeded", what="the end of the second part")
    run = lab.run("again")
    assert run["attempt"] == 2 and len(lab.cartridge("runs")) == 1
    rows = [row for row in lab.rows(run["id"]) if "x" in row["values"]]
    assert [(row["step"], row["values"]["x"]) for row in rows] == [(i, float(i)) for i in range(200)]
    back = lab.asked(
        'run = api.run("p/again")\n'
        'print(json.dumps([run.state, run.config["part"], [row["x"] for row in run.scan_history()]]))'
    )
    assert back == ["finished", 2, list(range(200))]
    # Who does not say that it goes on begins anew, and what was stays in the lab.
    lab.ran(script.replace("resume=sys.argv[1], ", ""), "-", 3, 0)
    assert len(lab.cartridge("runs")) == 2
    assert lab.asked('print(json.dumps(len(list(api.run("p/again").scan_history()))))') == 100


LONG = """
import os, sys, time, wandb
run = wandb.init(project="p", name="long", id="long", resume="allow", settings=wandb.Settings(
    x_file_stream_transmit_interval=1, x_disable_stats=True))
print("begun", flush=True)
for i in range(100_000):
    run.log({"x": i})
    time.sleep(0.01)
"""


def test_a_client_that_is_killed_has_crashed(make_lab):
    lab = make_lab("--wandb-patience", "3")
    client = lab.client(LONG)
    until(lambda: (lab.run("long") or {}).get("step", 0) > 20, what="the first rows")
    client.send_signal(signal.SIGKILL)
    client.wait()
    # Its sidecar ends with it.
    until(lambda: lab.run("long")["state"] == "failed", seconds=90, what="the end")
    assert any("silent" in line for line in lab.run("long")["failure"]["log"])
    assert lab.asked('print(json.dumps(api.run("p/long").state))') == "crashed"


def test_a_run_whose_supervisor_dies_goes_on(lab):
    client = lab.client(LONG)
    until(lambda: (lab.run("long") or {}).get("step", 0) > 20, what="the first rows")
    run = lab.run("long")
    started = [json.loads(line) for line in (lab.data / "runs" / run["id"] / "supervisor.jsonl").open()]
    os.kill(started[0]["supervisor_pid"], signal.SIGKILL)
    until(lambda: lab.run("long")["attempt"] == 2, what="the next attempt")
    before = lab.run("long")["step"]
    until(lambda: lab.run("long")["step"] > before + 20, what="more rows")
    client.send_signal(signal.SIGINT)
    client.communicate(timeout=60)
    until(lambda: lab.run("long")["state"] not in {"running", "starting"}, what="the end")
    rows = [row for row in lab.rows(run["id"]) if "x" in row["values"]]
    assert [(row["step"], row["values"]["x"]) for row in rows] == [(i, float(i)) for i in range(len(rows))]


def test_a_stop_in_the_lab_stops_the_client(lab):
    client = lab.client(LONG)
    until(lambda: (lab.run("long") or {}).get("step", 0) > 20, what="the first rows")
    lab.cartridge("stop", lab.run("long")["id"])
    said, _ = client.communicate(timeout=120)
    assert client.returncode != 0, said
    until(lambda: lab.run("long")["state"] == "terminated", what="the end")
    assert lab.asked('print(json.dumps(api.run("p/long").state))') == "killed"


def test_clients_take_no_room_from_trainings(make_lab):
    lab = make_lab("--max-runs", "1")
    client = lab.client(LONG)
    until(lambda: (lab.run("long") or {}).get("step", 0) > 20, what="the first rows")
    lab.cartridge("train", "CartPole-v1", "--steps", "20000", "--detach")
    until(lambda: "succeeded" in {run["state"] for run in lab.cartridge("runs")}, what="the training")
    client.send_signal(signal.SIGINT)
    client.communicate(timeout=60)


def test_system_metrics_are_metrics(lab):
    lab.ran(
        "import time, wandb\n"
        'run = wandb.init(project="p", name="system", settings=wandb.Settings(x_stats_sampling_interval=0.5))\n'
        "for i in range(8):\n    run.log({'x': i})\n    time.sleep(0.5)\n"
        "run.finish()\n"
    )
    until(lambda: (lab.run("system") or {}).get("state") == "succeeded", what="the end")
    names = {name for row in lab.rows(lab.run("system")["id"]) for name in row["values"]}
    assert any(name.startswith("system/") for name in names), names
    back = lab.asked('print(json.dumps(len(api.runs("p")[0].history(stream="system", pandas=False))))')
    assert back >= 3


# `SummaryWriter` of PyTorch is what CleanRL's own scripts have; TensorBoard's is beneath it.
CLEANRL = """
import sys, time, wandb
run_name = "CartPole-v1__ppo__1__1700000000"
wandb.init(project="cleanRL", entity=None, sync_tensorboard=True, config={"env_id": "CartPole-v1", "exp_name": "ppo",
    "seed": 1, "total_timesteps": 50000}, name=run_name, monitor_gym=False, save_code=True)
if sys.argv[1] == "torch":
    from torch.utils.tensorboard import SummaryWriter
    writer = SummaryWriter(f"runs/{run_name}")
    writer.add_text("hyperparameters", "|param|value|\\n|-|-|\\n|seed|1|")
    add_scalar = writer.add_scalar
else:
    from tensorboard.summary.writer import event_file_writer
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    writer = event_file_writer.EventFileWriter(f"runs/{run_name}")
    def add_scalar(name, value, step):
        summary = Summary(value=[Summary.Value(tag=name, simple_value=value)])
        writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
for i in range(1, 201):
    for name, value in (("charts/episodic_return", float(i)), ("losses/policy_loss", 1 / i), ("charts/SPS", 1000.0)):
        add_scalar(name, value, i * 128)
writer.close()
"""


@pytest.mark.parametrize("writer", ["tensorboard", "torch"])
def test_a_script_in_the_manner_of_cleanrl(lab, writer):
    if not importlib.util.find_spec(writer):
        pytest.skip("PyTorch is not installed: `make bench-doors` does that")
    lab.ran(CLEANRL, writer)
    name = "CartPole-v1__ppo__1__1700000000"
    until(lambda: (lab.run(name) or {}).get("state") == "succeeded", what="the end")
    run = lab.run(name)
    assert (run["env_id"], run["step"], run["total_timesteps"]) == ("CartPole-v1", 25_600, 50_000)
    assert run["mean_reward"] == pytest.approx(150.5) and run["steps_per_sec"] == pytest.approx(1000)


def test_stable_baselines3(lab):
    if not importlib.util.find_spec("stable_baselines3"):
        pytest.skip("Stable-Baselines3 is not installed: `make bench-doors` does that")
    lab.ran(
        "import wandb\n"
        "from stable_baselines3 import PPO\n"
        "from wandb.integration.sb3 import WandbCallback\n"
        'run = wandb.init(project="sb3", name="sb3", sync_tensorboard=True, config={"env_id": "CartPole-v1"})\n'
        'model = PPO("MlpPolicy", "CartPole-v1", n_steps=256, tensorboard_log="runs/sb3", device="cpu")\n'
        'model.learn(2048, callback=WandbCallback(model_save_path="models"))\n'
        "run.finish()\n",
        seconds=300,
    )
    until(lambda: (lab.run("sb3") or {}).get("state") == "succeeded", what="the end")
    run = lab.run("sb3")
    assert run["step"] == 2048 and run["mean_reward"] > 0
