"""Worker processes that can be killed: each runs a module of its own and answers one request at a time.

A worker is a fresh interpreter (`python -m MODULE`), so it inherits neither torch nor threads nor locks of this
process, and it never imports this process's main module. Requests and replies are lines of JSON. A request that takes
longer than its wall-clock limit costs its worker, which is killed and replaced; so does one that ends it. Nothing here
uses signals of this process: any thread may ask.

A worker ends by itself when this process is gone: `serve` sets an alarm of the kernel before each request, and an idle
worker reads the end of its input.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import LifoQueue
from typing import Any

import psutil

from elastic.errors import ElasticError, GraderError

_START_SECONDS = 120.0

Ask = Callable[[Any], Any]


class RequestFaultError(ElasticError):
    """A worker's own code raised while it worked on a request: a fault of ours."""


class RequestBreachError(ElasticError):
    """A request broke its limit of time or memory, or ended its worker."""


class _EndedError(Exception):
    """A worker ended before it replied."""


# Exit status of a worker that ran out of memory or stack: the request's doing, so it is not asked again.
_BREACH = 3


class _Worker:
    """One process. Not safe for threads: the pool hands it to one at a time."""

    def __init__(self, module: str, seconds: float, megabytes: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, str(seconds), str(megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._requests, self._replies = self.process.stdin, self.process.stdout
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)

    def read(self, seconds: float) -> Any:
        """The next reply.

        Raises:
            RequestBreachError: none came in time.
            RequestFaultError: the request raised.
            _EndedError: the worker ended.
        """
        if not self._poll.poll(seconds * 1000):
            raise RequestBreachError(f"no reply within {seconds:g} s")
        line = self._replies.readline()
        if not line.endswith(b"\n"):
            raise _EndedError
        reply = json.loads(line)
        if "fault" in reply:
            raise RequestFaultError(reply["fault"])
        return reply["value"]

    def ask(self, request: Any, seconds: float) -> Any:
        """The reply to `request`; raises as `read` does."""
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        except BrokenPipeError:
            raise _EndedError from None
        return self.read(seconds)

    def status(self) -> int | None:
        """Exit status of a process that closed its output, or None if it does not end."""
        try:
            return self.process.wait(1)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End the process and reap it."""
        self.process.kill()
        self.process.wait()
        self._replies.close()
        try:
            self._requests.close()
        except BrokenPipeError:
            return


class WorkerPool:
    """Up to `size` workers, each started when it is first needed.

    Args:
        module: what a worker runs; its main calls `serve`.
        size: workers at most.
        seconds: wall-clock limit of a request.
        megabytes: memory a worker may take for a request, beyond what it has when it is ready.
        check: is given the `ask` of a fresh worker, and raises if that cannot do its work.
    """

    def __init__(self, module: str, *, size: int, seconds: float, megabytes: int, check: Callable[[Ask], None]) -> None:
        self.module, self.size, self.seconds, self.megabytes, self.check = module, size, seconds, megabytes, check
        self._slots: LifoQueue[_Worker | None] = LifoQueue()
        for _ in range(size):
            self._slots.put(None)

    def _start(self) -> _Worker:
        worker = _Worker(self.module, self.seconds, self.megabytes)
        try:
            worker.read(_START_SECONDS)
            self.check(lambda request: worker.ask(request, _START_SECONDS))
        except (_EndedError, RequestBreachError, RequestFaultError) as error:
            worker.kill()
            raise GraderError(
                f"a worker process could not start: {str(error) or 'it ended'}",
                where=self.module,
                remedy="mend what the worker printed above",
            ) from None
        except BaseException:
            worker.kill()
            raise
        return worker

    def ask(self, request: Any) -> Any:
        """The reply to one request.

        A request whose worker ends is asked once more, of a fresh one: the first may have been killed from outside. A
        second end is the request's own doing.

        Raises:
            RequestBreachError: the request broke a limit.
            RequestFaultError: the worker's own code raised.
            GraderError: no worker can be started.
        """
        for _ in range(2):
            worker = self._slots.get()
            whole = False
            try:
                if worker is not None and worker.process.poll() is not None:
                    worker.kill()
                    worker = None
                worker = worker or self._start()
                reply = worker.ask(request, self.seconds)
                whole = True
                return reply
            except RequestFaultError:
                whole = True
                raise
            except _EndedError:
                if worker is not None and worker.status() == _BREACH:
                    raise RequestBreachError("out of memory or stack") from None
                continue
            finally:
                if worker is not None and not whole:
                    worker.kill()
                    worker = None
                self._slots.put(worker)
        raise RequestBreachError("it ended two workers")

    def map(self, handle: Callable[[Any], Any], requests: Sequence[Any]) -> list[Any]:
        """`handle` of every request, in order, by as many threads as there are workers."""
        with ThreadPoolExecutor(min(self.size, len(requests))) as threads:
            return list(threads.map(handle, requests))

    def close(self) -> None:
        """End every worker, once the requests in progress are done; the next request starts them again."""
        for worker in [self._slots.get() for _ in range(self.size)]:
            if worker is not None:
                worker.kill()
            self._slots.put(None)


def serve(load: Callable[[], Ask]) -> None:
    """What a worker runs: load, say so, then answer requests until the input ends.

    What anything prints goes to the error output while loading and nowhere afterwards; replies have a channel of
    their own. A request that runs out of memory or stack ends the worker, whose state is then unknown.

    Args:
        load: does the slow imports and returns what answers a request.
    """
    seconds, megabytes = float(sys.argv[1]), int(sys.argv[2])
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handle = load()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    # The limit counts address space, so it is set on top of what the interpreter and its libraries have mapped.
    limit = psutil.Process().memory_info().vms + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    def reply(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message).encode() + b"\n")
        replies.flush()

    reply({"value": "ready"})
    for line in sys.stdin.buffer:
        # Should the parent be gone when a request hangs, the kernel ends this process all the same.
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)
        try:
            message = {"value": handle(json.loads(line))}
        except (MemoryError, RecursionError):
            os._exit(_BREACH)
        except Exception as error:
            message = {"fault": f"{type(error).__name__}: {error}"}
        signal.setitimer(signal.ITIMER_REAL, 0)
        reply(message)
