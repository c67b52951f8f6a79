"""Pictures of an environment, as `frame` lines show them."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

JPEG = b"\xff\xd8\xff"
PNG = b"\x89PNG\r\n\x1a\n"


def picture(shown: Any) -> dict[str, Any] | None:
    """The fields of a `frame` line: of a scene, of bytes of a JPEG or PNG, or of an array of
    height, width and three colours from 0 to 255. Nothing of anything else."""
    if isinstance(shown, dict):
        return {"scene": shown}
    if isinstance(shown, (bytes, bytearray)):
        kind = "jpeg" if shown.startswith(JPEG) else "png" if shown.startswith(PNG) else None
        return {kind: base64.b64encode(shown).decode()} if kind else None
    shape = getattr(shown, "shape", None)
    if shape is None or len(shape) != 3 or shape[2] not in (3, 4):
        return None
    if str(getattr(shown, "dtype", "")).rpartition(".")[2] != "uint8":
        return None
    height, width, n_channels = (int(size) for size in shape)
    png = encode_png(shown.tobytes(), height, width, n_channels)
    return {"png": base64.b64encode(png).decode(), "width": width, "height": height}


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
