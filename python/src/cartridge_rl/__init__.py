"""A training in Python under the Cartridge lab.

- `Reporter` for a loop that is written by hand: three lines of it are enough.
- `cartridge_rl.sb3.CartridgeCallback` for Stable-Baselines3.
- `cartridge_rl.gym` wraps environments of Gymnasium, single and vector ones, so that every episode
  is told with its seed and actions.

Nothing here needs anything beyond Python itself; the last two need what they are for. Nothing here
fails or waits because of the lab: lines go through a bounded queue that a thread empties, what
cannot be told is dropped, and that is said once.

`docs/python.md` is for people who train, `docs/protocol.md` says what the lines mean.
"""

from cartridge_rl.reporter import Reporter

__all__ = ["Reporter"]
__version__ = "0.1.0"
