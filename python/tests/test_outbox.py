"""Whatever happens to whoever reads: the loop neither waits nor fails, and memory is bounded."""

import json
import threading
import time

from cartridge_rl import outbox
from cartridge_rl.lines import Steps
from cartridge_rl.outbox import Outbox, Rank
from cartridge_rl.pictures import Picture


def beat():
    return {"type": "heartbeat"}


def test_a_reader_that_hangs_costs_only_what_does_not_fit(caplog):
    is_let_go, written = threading.Event(), []

    def write(data):
        is_let_go.wait()
        written.append(data)

    box = Outbox(write, beat)
    began = time.monotonic()
    for idx in range(2_000):
        box.put(Steps(str(idx), 1, [0] * 500, [1.0] * 500), Rank.STEP)
        box.put({"type": "log", "message": str(idx)})
    for seq in range(100):
        box.put({"type": "control_ack", "seq": seq}, Rank.ANSWER)
    assert time.monotonic() - began < 5.0
    assert box.n_waiting <= outbox.MAX_WAITING
    is_let_go.set()
    assert box.close(30.0)
    lines = [json.loads(line) for line in b"".join(written).splitlines()]
    kinds = [line["type"] for line in lines]
    # Steps went first, and nothing that answers the lab was lost; what was, is told.
    assert 0 < kinds.count("step") < 1_000_000
    assert [line["seq"] for line in lines if line["type"] == "control_ack"] == list(range(100))
    assert [line["message"] for line in lines if line["type"] == "log"][:-1] == [
        str(idx) for idx in range(2_000)
    ]
    n_lost = 1_000_000 - kinds.count("step")
    assert lines[-1]["message"].startswith(f"{n_lost} lines were dropped")
    assert len(caplog.records) == 1


def test_a_reader_that_is_gone_is_told_once(caplog):
    def write(data):
        raise BrokenPipeError("nobody reads")

    box = Outbox(write, beat)
    for idx in range(1_000):
        box.put({"type": "log", "message": str(idx)}, Rank.ANSWER)
    assert not box.close(10.0)
    box.put({"type": "log", "message": "later"})
    assert [record.message for record in caplog.records] == [
        "the lab is gone (nobody reads); training goes on without it"
    ]


def test_a_line_that_cannot_be_written_takes_no_other_along():
    written = []
    box = Outbox(written.append, beat)
    box.put({"type": "log", "level": object(), "message": "odd"})
    box.put(Steps("1", 1, [0], ["no number"]), Rank.STEP)
    box.put({"type": "log", "message": "fine"})
    assert box.close(10.0)
    assert b"".join(written) == b'{"type":"log","message":"fine"}\n'


def test_order_is_kept():
    written = []
    box = Outbox(written.append, beat)
    for idx in range(20_000):
        box.put({"type": "log", "message": str(idx)})
    assert box.close(10.0)
    told = [json.loads(line)["message"] for line in b"".join(written).splitlines()]
    assert told == [str(idx) for idx in range(20_000)]


def test_large_steps_count_as_many():
    is_let_go = threading.Event()
    box = Outbox(lambda data: is_let_go.wait(), beat)
    picture = [[0] * 160 for _ in range(210)]
    for idx in range(1_000):
        box.put(Steps(str(idx), 1, [0], [1.0], [picture]), Rank.STEP)
    n_waiting = box.n_waiting
    is_let_go.set()
    # A picture of 33,600 numbers is not one line of some hundred bytes.
    assert 2_000 < n_waiting <= outbox.MAX_WAITING
    assert box.close(30.0)


def test_of_pictures_the_newest_is_shown():
    is_let_go, written = threading.Event(), []

    def write(data):
        is_let_go.wait()
        written.append(data)

    box = Outbox(write, beat)
    for idx in range(1_000):
        box.show(Picture({"type": "frame", "step": idx}))
    is_let_go.set()
    assert box.close(10.0)
    shown = [json.loads(line)["step"] for line in b"".join(written).splitlines()]
    assert shown[-1] == 999 and len(shown) <= 2
