"""The sandbox that programs run in: bubblewrap, or nothing by an explicit switch.

A sandbox sees the system's libraries and the interpreter, read-only, and a temporary folder in memory that is its own.
It has no network, no other process, no file of the user's and no variable of this environment. The process that it
starts with (elastic/answers/programs/inside/runner.py) sets and watches the limits of each program. Where the thread
that started it ends, so does the sandbox.

Works as root and as a user, through a user namespace in both cases, in which no further ones can be made.
"""

from __future__ import annotations

import compileall
import os
import select
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from elastic.answers.programs.inside.frames import receive, send
from elastic.errors import GraderError

UNSANDBOXED = "ELASTIC_UNSANDBOXED"
WHERE = "grader code"
# What judges have beside the standard library, with the folder of shared libraries that one of them brings.
PACKAGES = ("numpy", "numpy.libs", "sortedcontainers")

_FOLDER_BYTES = 64 << 20
_INSIDE = Path(__file__).parent / "programs" / "inside"
_START = "from inside.runner import main\nbody = main()\nif body: body()"
_NOBODY = "65534"
_ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    # Address space is limited, and each arena and thread reserves some.
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_SWITCH = f"where every program is trusted, {UNSANDBOXED}=1 runs them without a sandbox"
_INSTALL = f"install bubblewrap 0.8 or newer (Debian and Ubuntu: apt-get install bubblewrap); {_SWITCH}"
_ALLOW = (
    "let this user make user namespaces. Where these sysctls exist: user.max_user_namespaces above 0, "
    "kernel.unprivileged_userns_clone 1, kernel.apparmor_restrict_unprivileged_userns 0 (or an AppArmor profile that "
    "allows bwrap). In a Docker container: --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    f"--security-opt systempaths=unconfined; {_SWITCH}"
)


def unsandboxed() -> bool:
    """Whether the switch is set that runs programs without a sandbox."""
    return os.environ.get(UNSANDBOXED) == "1"


class SandboxError(Exception):
    """A sandbox did not start, ended, or said nothing in time: a fault of ours."""


class Sandbox:
    """A started sandbox and the talk with its runner; a context manager, for one thread."""

    def __init__(self) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._folder = tempfile.TemporaryDirectory(prefix="elastic-program-") if unsandboxed() else None
        command, environment = _bare(self._folder.name) if self._folder else (_contained(), {})
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env=environment,
                cwd=self._folder.name if self._folder else "/",
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(str(error)) from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)

    def tell(self, *fields: str) -> None:
        """Send the runner a message.

        Raises:
            SandboxError: it is gone.
        """
        try:
            send(self._requests, *(field.encode("utf-8", "replace") for field in fields))
        except OSError:
            raise SandboxError(self._last_words()) from None

    def hear(self, seconds: float) -> list[bytes]:
        """What the runner says next.

        Raises:
            SandboxError: it is gone, or says nothing for that long.
        """
        if not self._poll.poll(seconds * 1000):
            raise SandboxError(f"no reply within {seconds:g} s")
        try:
            return receive(self._replies)
        except EOFError:
            raise SandboxError(self._last_words()) from None

    def _last_words(self) -> str:
        self._process.kill()
        self._process.wait()
        self._said.seek(0)
        words = self._said.read().decode("utf-8", "replace").strip()
        return words or f"ended with {self._process.returncode}"

    def close(self) -> None:
        """End it, and all that is in it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._requests, self._replies, self._said):
            # What was not read by a runner that is gone is lost.
            try:
                stream.close()
            except BrokenPipeError:
                continue
        if self._folder:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def refusal(words: str) -> GraderError:
    """The error for a sandbox that cannot be had, by what bubblewrap says."""
    if "nknown option" in words:
        return GraderError(f"this bubblewrap is too old: {words}", where=WHERE, remedy=_INSTALL)
    return GraderError(f"the sandbox does not start: {words}", where=WHERE, remedy=_ALLOW)


def require() -> None:
    """Refuse a machine on which programs cannot be run in a sandbox.

    Raises:
        GraderError: it lacks Linux, bubblewrap or the numbers of a system-call filter; names the remedy.
    """
    if sys.platform != "linux":
        raise GraderError("programs run on Linux only", where=WHERE, remedy="grade on a Linux machine or container")
    if not unsandboxed() and shutil.which("bwrap") is None:
        raise GraderError("no program is run without bubblewrap, which is missing", where=WHERE, remedy=_INSTALL)


@cache
def _compiled_folder() -> Path:
    """What runs inside, compiled once; where the result cannot be kept, each sandbox compiles for itself."""
    compileall.compile_dir(_INSIDE, quiet=2)
    return _INSIDE


def _packages() -> Iterator[tuple[str, Path]]:
    """The packages of `PACKAGES` that are installed: name and folder."""
    for name in PACKAGES:
        spec = find_spec(name.partition(".")[0])
        if spec and spec.origin:
            folder = Path(spec.origin).parents[1] / name
            if folder.is_dir():
                yield name, folder


def _python(folder: str) -> list[str]:
    return [os.path.realpath(sys.executable), "-s", "-S", "-P", "-B", "-c", _START, folder]


def _bare(folder: str) -> tuple[list[str], dict[str, str]]:
    """Command and environment of a runner without a sandbox."""
    paths = f"{_compiled_folder().parent}:{sysconfig.get_path('purelib')}"
    return _python(folder), {**_ENVIRONMENT, "HOME": folder, "PYTHONPATH": paths}


def _contained() -> list[str]:
    """The command of a runner in a sandbox."""
    prefix = os.path.realpath(sys.base_prefix)
    arguments = [
        shutil.which("bwrap") or "bwrap",
        *("--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY, "--disable-userns", "--cap-drop", "ALL"),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"),
    ]
    for name, value in {**_ENVIRONMENT, "PYTHONPATH": "/harness:/site"}.items():
        arguments += ["--setenv", name, value]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--size", str(_FOLDER_BYTES), "--tmpfs", "/tmp"]
    arguments += ["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    for link in ("/bin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(link):
            arguments += ["--symlink", os.readlink(link), link]
        elif os.path.isdir(link):
            arguments += ["--ro-bind", link, link]
    if not Path(prefix).is_relative_to("/usr"):
        arguments += ["--ro-bind", prefix, prefix]
    arguments += ["--ro-bind", str(_compiled_folder()), "/harness/inside"]
    for name, source in _packages():
        arguments += ["--ro-bind", str(source), f"/site/{name}"]
    # The system's settings under /proc/sys are root's own files: a namespace does not keep root from them.
    for place in ("/proc", "/dev", "/"):
        arguments += ["--remount-ro", place]
    return [*arguments, "--chdir", "/tmp", "--", *_python("/tmp")]
