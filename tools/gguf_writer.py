"""Writes GGUF version 3, as much of it as the embedded model needs.

A file is a header (magic, version, counts), the metadata pairs, one description per tensor, and
the tensor data, each tensor at a multiple of 32 bytes.  All numbers are little-endian.  The file
appears under its name only when it is complete.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

ALIGNMENT = 32
F32, Q8_0 = 0, 8  # tensor types
STRING, ARRAY = 8, 9  # metadata types, besides those of SCALARS
SCALARS = {"u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?")}

Value = int | float | bool | str | list[int] | list[float] | list[str]


@dataclass(frozen=True)
class Tensor:
    """A named tensor, already encoded; `shape` lists the fastest dimension first."""

    name: str
    shape: list[int]
    type: int
    data: bytes


def _string(text: str) -> bytes:
    encoded = text.encode("utf-8")
    return struct.pack("<Q", len(encoded)) + encoded


def _bare(kind: str, value: Value) -> bytes:
    return _string(str(value)) if kind == "str" else struct.pack(SCALARS[kind][1], value)


def _type_id(kind: str) -> int:
    return STRING if kind == "str" else SCALARS[kind][0]


def _pair(key: str, kind: str, value: Value) -> bytes:
    """One metadata pair; a list becomes an array of the kind."""
    if not isinstance(value, list):
        return _string(key) + struct.pack("<I", _type_id(kind)) + _bare(kind, value)
    head = struct.pack("<IIQ", ARRAY, _type_id(kind), len(value))
    return _string(key) + head + b"".join(_bare(kind, item) for item in value)


def _padding(size: int) -> bytes:
    return bytes(-size % ALIGNMENT)


def write_gguf(path: Path, pairs: list[tuple[str, str, Value]], tensors: list[Tensor]) -> int:
    """Writes the file (pairs are key, kind, value) and returns its size in bytes."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    head += b"".join(_pair(*pair) for pair in pairs)
    body = b""
    for tensor in tensors:
        dimensions = struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *tensor.shape)
        head += _string(tensor.name) + dimensions + struct.pack("<IQ", tensor.type, len(body))
        body += tensor.data
        if tensor is not tensors[-1]:
            body += _padding(len(body))
    content = head + _padding(len(head)) + body
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)
    return len(content)
