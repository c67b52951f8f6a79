"""Pictures of an environment, as `frame` lines show them."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cartridge_rl.lines import Line, encode

JPEG = b"\xff\xd8\xff"
PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Picture:
    """A `frame` line on its way; pixels become a PNG when it is written, not in the loop."""

    line: Line
    pixels: bytes | None = None
    shape: tuple[int, int, int] = (0, 0, 3)

    def encode(self) -> Iterator[str]:
        """The line."""
        line = self.line
        if self.pixels is not None:
            png = base64.b64encode(encode_png(self.pixels, *self.shape)).decode()
            line = {**line, "png": png, "height": self.shape[0], "width": self.shape[1]}
        yield encode(line) + "\n"


def picture(shown: Any, line: Line) -> Picture | None:
    """A `frame` line with a picture: a scene, the bytes of a JPEG or PNG, or an array of height,
    width and three colours from 0 to 255. Nothing of anything else."""
    if isinstance(shown, dict):
        return Picture({**line, "scene": shown})
    if isinstance(shown, (bytes, bytearray)):
        kind = "jpeg" if shown.startswith(JPEG) else "png" if shown.startswith(PNG) else None
        return Picture({**line, kind: base64.b64encode(shown).decode()}) if kind else None
    shape = getattr(shown, "shape", None)
    if shape is None or len(shape) != 3 or shape[2] not in (3, 4):
        return None
    if str(getattr(shown, "dtype", "")).rpartition(".")[2] != "uint8":
        return None
    # Copied: an environment may draw into its array again.
    return Picture(line, shown.tobytes(), (int(shape[0]), int(shape[1]), int(shape[2])))


def encode_png(pixels: bytes, height: int, width: int, n_channels: int) -> bytes:
    """A PNG of rows of pixels, quickly rather than small."""
    stride = width * n_channels
    rows = b"".join(b"\0" + pixels[at : at + stride] for at in range(0, height * stride, stride))
    color_type = {3: 2, 4: 6}[n_channels]
    header = struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return PNG + b"".join(chunks)
