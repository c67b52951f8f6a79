"""The trainer service of a real lab, called by a real client that knows nothing but its address."""

import json
import os
import re
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

ROOT = Path(__file__).parents[2]
BINARY = os.environ.get("CARTRIDGE_BIN") or str(ROOT / "target/release/cartridge")
SERVICE = "cartridge.trainer.v1.TrainerService"
ENDED = {"succeeded", "failed", "terminated", "lost"}


class Lab:
    """A lab and its service, as the service describes itself."""

    def __init__(self, data):
        self.data = data
        command = [BINARY, "up", "--port", "0", "--data", str(data)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        link = next(line for line in self.process.stdout if "http://" in line)
        self.address = re.search(r"http://([\d.]+:\d+)", link)[1]
        self.channel = grpc.insecure_channel(self.address)
        database = ProtoReflectionDescriptorDatabase(self.channel)
        assert SERVICE in database.get_services()
        self.service = DescriptorPool(database).FindServiceByName(SERVICE)
        self.token = (data / "token").read_text().strip()

    def call(self, method, token=None, timeout=60, **fields):
        """One answer, or a stream of them."""
        found = self.service.methods_by_name[method]
        request = GetMessageClass(found.input_type)(**fields)
        kind = self.channel.unary_stream if found.server_streaming else self.channel.unary_unary
        call = kind(
            f"/{SERVICE}/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=GetMessageClass(found.output_type).FromString,
        )
        return call(request, timeout=timeout, metadata=[("authorization", f"Bearer {token or self.token}")])

    def command(self, name):
        return self.service.file.enum_types_by_name["Command"].values_by_name[f"COMMAND_{name}"].number

    def cartridge(self, *args):
        done = subprocess.run(
            [BINARY, *args, "--data", str(self.data), "--json"], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout.splitlines()[-1])

    def end(self):
        self.channel.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.end()


def refused(call):
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code(), caught.value.details()


@pytest.fixture(scope="module")
def done(lab):
    """A run that has ended, and all that was told of it from its beginning."""
    events = lab.call("StreamRunEvents")
    first = next(events)
    assert first.WhichOneof("event") == "snapshot" and not first.snapshot.reset
    overrides = {"simulation.n_envs": "2", "simulation.n_steps": "256", "evaluation.capture_video": "true"}
    asked = dict(env_id="CartPole-v1", algorithm="ppo", seed=7, total_timesteps=6000, overrides=overrides)
    run = lab.call("SubmitRun", **asked, request_key="the first")
    assert (run.env_id, run.algorithm, run.seed, run.total_timesteps) == ("CartPole-v1", "ppo", 7, 6000)
    again = lab.call("SubmitRun", **asked, request_key="the first")
    assert again.id == run.id, "the same request makes nothing new"
    told = []
    for event in events:
        told.append(event)
        has_ended = any(it.progress.run.state in ENDED for it in told)
        # Its film is found at its end.
        if has_ended and any(it.WhichOneof("event") == "artifacts_available" for it in told):
            break
    events.cancel()
    assert told[-1].progress.run.state in ("", "succeeded")
    return run.id, told


def test_everything_that_happens_is_told(lab, done):
    run, told = done
    assert {event.run_id for event in told} == {run}
    kinds = {event.WhichOneof("event") for event in told}
    assert {"progress", "logged", "checkpoint_created", "eval_result", "artifacts_available"} <= kinds
    ids = [event.id for event in told]
    assert ids == sorted(set(ids))
    rows = [row for event in told for row in event.progress.rows]
    assert [row.row for row in rows] == list(range(1, len(rows) + 1))
    assert any("rollout/ep_rew_mean" in row.values for row in rows)
    # An artifact is told of once.
    artifacts = [it.id for event in told for it in event.artifacts_available.artifacts]
    assert len(set(artifacts)) == len(artifacts)
    kinds = {it.kind for event in told for it in event.artifacts_available.artifacts}
    assert {"checkpoint", "video"} <= kinds


def test_a_stream_goes_on_where_it_broke(lab, done):
    run, told = done
    middle = len(told) // 2
    events = lab.call("StreamRunEvents", run_ids=[run], since=told[middle].id)
    later = [next(events) for _ in told[middle + 1 :]]
    events.cancel()
    assert [event.id for event in later] == [event.id for event in told[middle + 1 :]]
    # A number that the lab never gave is answered with how things stand.
    events = lab.call("StreamRunEvents", run_ids=[run], since=10**15)
    first = next(events)
    events.cancel()
    assert first.snapshot.reset and first.snapshot.runs[0].id == run


def test_episodes_and_their_steps(lab, done):
    run, _ = done
    episodes = list(lab.call("StreamEpisodes", run_id=run))
    assert [it.episode for it in episodes] == list(range(1, len(episodes) + 1))
    assert len(episodes) > 20
    later = list(lab.call("StreamEpisodes", run_id=run, since=10))
    assert later == episodes[10:]
    cursor = lab.service.file.message_types_by_name["StepCursor"]
    steps = []
    for step in lab.call("StreamSteps", run_id=run):
        steps.append(step)
        if step.episode > 5:
            break
    for episode in episodes[:5]:
        own = [step for step in steps if step.episode == episode.episode]
        assert [step.step for step in own] == list(range(1, episode.length + 1))
        assert sum(step.reward for step in own) == pytest.approx(episode.reward)
        assert [step.terminated for step in own].index(True) == episode.length - 1
        assert all(step.action.WhichOneof("content") == "index" for step in own)
        assert all(len(step.observation.numbers.values) == 4 for step in own)
    at = steps[len(steps) // 2]
    since = GetMessageClass(cursor)(episode=at.episode, step=at.step)
    rest = lab.call("StreamSteps", run_id=run, since=since)
    assert next(rest) == steps[len(steps) // 2 + 1]
    rest.cancel()


def test_a_run_is_steered(lab):
    run = lab.call("SubmitRun", env_id="CartPole-v1", total_timesteps=500_000_000, seed=1).id
    events = lab.call("StreamRunEvents", run_ids=[run], timeout=60)

    def wait_for(found):
        return next(event for event in events if found(event))

    wait_for(lambda event: event.progress.run.state == "running" and event.progress.run.step > 0)
    lab.call("Control", run_id=run, command=lab.command("TUNE"), path="trainer.learning_rate", value=0.0001)
    tuned = wait_for(lambda event: event.WhichOneof("event") == "tune_applied").tune_applied
    assert (tuned.path, tuned.new) == ("trainer.learning_rate", 0.0001)
    lab.call("Control", run_id=run, command=lab.command("PAUSE"))
    wait_for(lambda event: event.progress.run.state == "paused")
    beyond = dict(path="trainer.learning_rate", value=7.0)
    code, detail = refused(lambda: lab.call("Control", run_id=run, command=lab.command("TUNE"), **beyond))
    assert code == grpc.StatusCode.INVALID_ARGUMENT, detail
    lab.call("Control", run_id=run, command=lab.command("STOP"))
    wait_for(lambda event: event.progress.run.state == "terminated")
    code, detail = refused(lambda: lab.call("Control", run_id=run, command=lab.command("PAUSE")))
    assert code == grpc.StatusCode.FAILED_PRECONDITION, detail
    events.cancel()
    # It is in the audit like every control.
    request = urllib.request.Request(
        f"http://{lab.address}/api/audit?limit=100", headers={"Authorization": f"Bearer {lab.token}"}
    )
    text = urllib.request.urlopen(request).read().decode()
    assert text.count(run) >= 3 and '"tune"' in text


def test_who_may_not_is_told_so(lab, done):
    run, _ = done
    viewer = lab.cartridge("token", "new", "--name", "eve", "--role", "viewer")["secret"]
    code, _ = refused(lambda: lab.call("SubmitRun", token=viewer, env_id="CartPole-v1"))
    assert code == grpc.StatusCode.PERMISSION_DENIED
    assert list(lab.call("StreamEpisodes", token=viewer, run_id=run, since=30))
    code, _ = refused(lambda: lab.call("SubmitRun", token="wrong" * 8, env_id="CartPole-v1"))
    assert code == grpc.StatusCode.UNAUTHENTICATED
    code, _ = refused(lambda: next(lab.call("StreamRunEvents", token="wrong" * 8)))
    assert code == grpc.StatusCode.UNAUTHENTICATED


def test_what_is_wrong_is_told(lab):
    def check(expected, word, method, **fields):
        code, detail = refused(lambda: lab.call(method, **fields))
        assert code == expected and word in detail, (code, detail)

    invalid, missing = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
    check(invalid, "CartPole-v1", "SubmitRun", env_id="CartPol-v1")
    check(invalid, "no JSON", "SubmitRun", env_id="CartPole-v1", overrides={"trainer.learning_rate": "lin_1"})
    check(invalid, "`command`", "Control", run_id="r-000000")
    check(missing, "r-000000", "Control", run_id="r-000000", command=lab.command("STOP"))
    code, _ = refused(lambda: next(lab.call("StreamSteps", run_id="../../etc")))
    assert code in (invalid, missing)


def test_connections_that_do_nothing_leave_room_for_pages(lab):
    host, port = lab.address.split(":")
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
    sockets = []
    for _ in range(300):
        held = socket.create_connection((host, int(port)), timeout=10)
        held.sendall(preface)
        sockets.append(held)

    def is_greeted(held):
        """With the lab's own settings; one that found no place is closed."""
        try:
            return held.recv(9) != b""
        except ConnectionResetError:
            return False

    greeted = [is_greeted(held) for held in sockets]
    for held in sockets:
        held.close()
    assert 200 < sum(greeted) <= 256
    assert urllib.request.urlopen(f"http://{lab.address}/healthz").status == 200
