"""A trainer that tells nothing by itself and writes for TensorBoard, by one of several writers."""

import os
import sys
import time

which, folder, n_rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
pause = float(sys.argv[4]) if len(sys.argv) > 4 else 0.0
folder = folder.replace("RUN", os.environ["CARTRIDGE_RUN_ID"])


def simple(folder):
    """TensorBoard's own file writer, with `simple_value`, as PyTorch's `SummaryWriter` uses it."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(folder, flush_secs=1)

    def scalar(tag, value, step):
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
        writer.flush()

    return scalar, writer.close


def tensor(folder):
    """The second form, in which a scalar is a tensor of the plugin `scalars`."""
    from tensorboard.summary import Writer

    writer = Writer(folder)

    def scalar(tag, value, step):
        writer.add_scalar(tag, value, step)
        writer.flush()

    return scalar, writer.close


def x(folder):
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(folder, flush_secs=1)

    def scalar(tag, value, step):
        writer.add_scalar(tag, value, step)
        writer.flush()

    return scalar, writer.close


scalar, close = {"simple": simple, "tensor": tensor, "x": x}[which](folder)
for row in range(1, n_rows + 1):
    scalar("charts/episodic_return", row / 2, 100 * row)
    scalar("losses/value_loss", 1 / row, 100 * row)
    if os.environ.get("TELL"):
        # The same by the protocol, as a loop does that reports to both.
        print('{"type":"metric","name":"losses/value_loss","value":%r,"step":%d}' % (1 / row, 100 * row), flush=True)
    time.sleep(pause)
close()
