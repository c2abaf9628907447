"""Messages over a pipe: eight bytes of length, then JSON."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

_LENGTH = struct.Struct(">Q")


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message.

    Raises:
        OSError: nobody reads any more.
    """
    text = json.dumps(message).encode()
    stream.write(_LENGTH.pack(len(text)) + text)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message.

    Raises:
        EOFError: there is none, or half of one.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    text = stream.read(length)
    if len(text) < length:
        raise EOFError
    return json.loads(text)
