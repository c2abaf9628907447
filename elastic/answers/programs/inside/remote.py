"""A program's names in another process: its checker calls them, and only plain values come back.

The program answers requests (`serve`); the checker holds a `Remote` for each thing that is no plain value. So a program
shares no interpreter with what checks it: it can neither replace what the checker compares with, nor return a thing
that claims to equal everything, nor end the check early. What it can do is answer.
"""

from __future__ import annotations

import builtins
import json
from typing import Any, BinaryIO

from .frames import receive, send
from .values import decode, encode


def serve(names: dict[str, Any], requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer a checker until it is gone.

    Args:
        names: globals of the program.
        requests, replies: pipes from and to the checker.
    """
    kept: list[Any] = []

    def keep(thing: Any) -> Any:
        kept.append(thing)
        return {"object": len(kept) - 1}

    def read(data: Any) -> Any:
        # A program may bring node classes of its own.
        return decode(data, kept=kept.__getitem__, list_class=names["ListNode"], tree_class=names["TreeNode"])

    while True:
        try:
            [text] = receive(requests)
        except EOFError:
            return
        request = json.loads(text)
        try:
            if request["of"] is None:
                found = names[request["name"]]
            elif "name" in request:
                found = getattr(kept[request["of"]], request["name"])
            else:
                found = kept[request["of"]](*read(request["arguments"]), **read(request["named"]))
            send(replies, json.dumps({"value": encode(found, keep)}).encode())
        except BrokenPipeError:
            return
        except Exception as error:
            send(replies, json.dumps({"error": type(error).__name__, "text": str(error)[:500]}).encode())


class Channel:
    """The checker's end."""

    def __init__(self, requests: BinaryIO, replies: BinaryIO) -> None:
        self._requests, self._replies = requests, replies
        self.calls = 0

    def ask(self, request: dict[str, Any]) -> Any:
        """The value that the program answers with.

        Raises:
            EOFError, OSError: the program is gone.
            Exception: the program raised one of this name, or a RuntimeError in its stead.
        """
        send(self._requests, json.dumps(request).encode())
        [text] = receive(self._replies)
        reply = json.loads(text)
        if "error" in reply:
            kind = getattr(builtins, str(reply["error"]), RuntimeError)
            usual = isinstance(kind, type) and issubclass(kind, Exception)
            raise (kind if usual else RuntimeError)(f"{reply['error']}: {reply['text']}")
        return decode(reply["value"], kept=lambda place: Remote(self, place))

    def find(self, name: str) -> Any:
        """A global name of the program.

        Raises:
            KeyError: it has none.
        """
        return self.ask({"of": None, "name": name})


class Remote:
    """Something that the program holds."""

    __slots__ = ("_channel", "_place")

    def __init__(self, channel: Channel, place: int) -> None:
        self._channel, self._place = channel, place

    def __getattr__(self, name: str) -> Any:
        # Protocols that libraries look for are not the program's to claim.
        if name.startswith("__"):
            raise AttributeError(name)
        return self._channel.ask({"of": self._place, "name": name})

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """What the program's function returns for these arguments."""
        self._channel.calls += 1

        def own(thing: Any) -> Any:
            if isinstance(thing, Remote):
                return {"object": thing._place}
            raise TypeError(f"a {type(thing).__name__} cannot be handed to a program")

        return self._channel.ask(
            {"of": self._place, "arguments": encode(list(arguments), own), "named": encode(named, own)}
        )
