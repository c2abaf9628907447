"""Messages over a pipe: fields of bytes, each after its length."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

_WIDTH = 8


def send(stream: IO[bytes], *fields: bytes) -> None:
    """Write one message.

    Raises:
        OSError: nobody reads any more.
    """
    lengths = (len(fields), *map(len, fields))
    stream.write(b"".join(length.to_bytes(_WIDTH, "big") for length in lengths))
    for field in fields:
        stream.write(field)
    stream.flush()


def receive(stream: IO[bytes]) -> list[bytes]:
    """The next message.

    Raises:
        EOFError: there is none, or only a part of one.
    """
    count = _number(stream)
    lengths = [_number(stream) for _ in range(count)]
    return [_bytes(stream, length) for length in lengths]


def _number(stream: IO[bytes]) -> int:
    return int.from_bytes(_bytes(stream, _WIDTH), "big")


def _bytes(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
