"""What a hostile program may try, and what comes of it. Each says what it managed on standard output."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from elastic.answers import sandbox
from elastic.answers.programs.trial import Trial, try_program
from elastic.answers.sandbox import Sandbox, SandboxError
from elastic.contracts.code_tests import CodeTest, CodeTests
from elastic.errors import GraderError

ROOT = Path(__file__).parents[2]
# On a busy machine a program that computes may meet its limit of wall time first.
OVER_TIME = {"over its limit of processor time", "over its limit of wall time"}

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def run(program: str, *outputs: str, seconds: float = 2, megabytes: int = 64) -> Trial:
    """A program on one test for each expected output, without input."""
    tests = tuple(CodeTest(input="", outputs=(output,)) for output in outputs or ("unknown",))
    return try_program(program, CodeTests(kind="stdin", tests=tests, seconds=seconds, megabytes=megabytes))


def says(program: str, output: str) -> None:
    """Assert that a program ends well and prints this."""
    trial = run(program, output)
    assert trial == Trial(1, 1, None)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before


def succeed(*statements: str) -> Trial:
    """A program that tries each statement and prints those that went through."""
    return run(
        f"""
import ctypes, os, resource, socket, subprocess, multiprocessing
through = []
for statement in {statements!r}:
    try:
        exec(statement)
    except BaseException:
        continue
    through.append(statement)
print(through)
""",
        "[]",
    )


def test_a_fork_bomb_gets_no_first_process() -> None:
    trial = run("import os\nwhile True:\n    os.fork()\n")
    assert (trial.passed, trial.fault) == (0, "PermissionError: [Errno 1] Operation not permitted")


def test_no_child_is_made_that_could_outlive_its_test() -> None:
    trial = succeed(
        "os.fork()",
        "subprocess.Popen(['/bin/sleep', '1000'])",
        "os.posix_spawn('/bin/sleep', ['sleep', '1000'], {})",
        "multiprocessing.get_context('fork').Process(target=print).start()",
        "assert os.system('sleep 1000') == 0",
    )
    assert trial == Trial(1, 1, None)


def test_system_calls_that_make_processes_are_refused_below_python_too() -> None:
    says("import ctypes\nlibc = ctypes.CDLL(None)\nprint(libc.fork(), libc.vfork(), libc.daemon(0, 0))", "-1 -1 -1")


def test_threads_that_sleep_end_with_their_test() -> None:
    trial = run("import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n", seconds=0.1)
    assert trial.fault == "over its limit of wall time"


def test_too_many_threads_are_ended() -> None:
    many = "import threading, time\nthreading.stack_size(65536)\nwhile True:\n"
    trial = run(many + "    threading.Thread(target=time.sleep, args=(1000,)).start()\n")
    assert trial.fault == "over its limit of threads"


def test_endless_output_is_cut() -> None:
    assert run("while True:\n    print('x' * 1000000)\n").fault == "over its limit of output"
    assert run("import sys\nwhile True:\n    sys.stderr.write('x' * 1000000)\n", seconds=0.3).fault in OVER_TIME


def test_processor_time_is_limited_whatever_the_program_does_with_the_signal() -> None:
    stubborn = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True:\n    pass\n"
    assert run(stubborn, seconds=0.5).fault in OVER_TIME


def test_a_limit_below_a_second_counts() -> None:
    busy = "import time\nwhile time.process_time() < 0.6:\n    pass\nprint(1)\n"
    assert run(busy, "1", seconds=0.3).fault in OVER_TIME
    assert run(busy, "1", seconds=3).fault is None


@pytest.mark.parametrize(
    ("grow", "fault"),
    [
        ("x = bytearray(2 << 30)", "MemoryError"),
        ("x = []\nwhile True:\n    x.append(bytearray(1 << 20))", "over its limit of memory"),
        ("import mmap\nx = mmap.mmap(-1, 4 << 30)", "OSError: [Errno 12] Cannot allocate memory"),
        ("import os\nos.memfd_create('x')", "PermissionError: [Errno 1] Operation not permitted"),
    ],
)
def test_memory_is_limited(grow: str, fault: str) -> None:
    assert run(grow).fault == fault


def test_the_memory_limit_is_above_what_the_interpreter_needs() -> None:
    says("x = bytearray(48 << 20)\nprint(len(x) >> 20)", "48")
    assert run("x = bytearray(96 << 20)\nprint(1)", "1").fault == "over its limit of memory"


def test_a_large_reserved_stack_is_no_use_of_memory() -> None:
    thread = "threading.Thread(target=lambda: print('deep')).start()"
    says(f"import threading\nthreading.stack_size(256 << 20)\n{thread}", "deep")


def test_a_stack_overflow_is_the_programs_own_end() -> None:
    endless = "class A:\n    def __getattr__(self, name):\n        return getattr(self, name + 'x')\nA().x"
    assert run(f"import sys\nsys.setrecursionlimit(10 ** 9)\n{endless}").passed == 0
    assert run("import ctypes\nctypes.string_at(0)").fault == f"ended by signal {int(signal.SIGSEGV)}"
    says("print('the next one runs')", "the next one runs")


def test_the_disk_cannot_be_filled() -> None:
    fill = """
wrote = 0
try:
    for n in range(100):
        with open(f'{n}', 'wb') as f:
            for _ in range(16):
                wrote += f.write(bytes(1 << 20))
except OSError as error:
    print(error.errno, wrote <= 64 << 20)
"""
    free = shutil.disk_usage("/tmp").free
    says(fill, "28 True")
    assert free - shutil.disk_usage("/tmp").free < 48 << 20
    one_file = "try:\n    open('x', 'wb').write(bytes(32 << 20))\nexcept OSError as error:\n    print(error.errno)"
    says(one_file, "27")


def test_nothing_outside_its_folder_can_be_written() -> None:
    prefix = os.path.realpath(sys.base_prefix)
    new = ["/x", "/usr/x", "/dev/x", "/dev/shm/x", "/proc/x", "/harness/x", "/site/x", f"{prefix}/x", str(ROOT / "x")]
    there = ["/harness/inside/runner.py", "/proc/sys/kernel/core_pattern", "/proc/1/oom_score_adj", "/proc/1/mem"]
    trial = succeed(
        *(f"open({path!r}, 'w')" for path in new),
        *(f"os.open({path!r}, os.O_WRONLY)" for path in there),
        "os.mkdir('/y')",
        "os.chmod('/usr', 0o777)",
    )
    assert trial == Trial(1, 1, None)
    assert not Path("/x").exists()


def test_no_file_of_the_user_is_there(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    home = Path.home()
    paths = [
        tmp_path / "secret",
        home / ".bashrc",
        home / ".ssh",
        ROOT / "pyproject.toml",
        "/etc/passwd",
        "/var",
    ]
    says(f"import os\nprint([path for path in {list(map(str, paths))} if os.path.exists(path)])", "[]")
    says("import os\nprint(os.path.expanduser('~'), os.listdir('/tmp'))", "/tmp []")


def test_no_variable_of_this_environment_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTIC_SECRET", "k3y")
    says("import os\nprint([name for name in os.environ if 'ELASTIC' in name])", "[]")
    says("print(b'k3y' in open('/proc/self/environ', 'rb').read())", "False")


def test_no_socket_is_opened_and_no_network_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect = f"socket.create_connection(('127.0.0.1', {port}), 1)"
        assert succeed(connect, "socket.socket(socket.AF_UNIX)", "socket.socket(socket.AF_NETLINK)") == Trial(
            1, 1, None
        )
    says("print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])", "['lo']")


def test_the_runner_cannot_be_killed_or_stopped() -> None:
    kill = (
        "import os\nfor n in (9, 19, 15, 2, 1, 11, 17):\n    os.kill(1, n)\n    os.kill(os.getppid(), n)\nprint('sent')"
    )
    assert run(kill, "sent", "sent") == Trial(2, 2, None)


def test_killing_everything_ends_nothing_but_the_program() -> None:
    trial = run("import os\nos.kill(-1, 9)\nprint('sent')", "sent", "sent")
    assert trial.total == 2
    says("import os\nprint({int(name) for name in os.listdir('/proc') if name.isdigit()} - {1, os.getpid()})", "set()")


def test_the_runner_cannot_be_looked_into_nor_limits_be_lifted() -> None:
    trial = succeed(
        "resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))",
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))",
        "os.setpriority(os.PRIO_PROCESS, 1, 19)",
        "open('/proc/1/mem', 'rb')",
        "[open(f'/proc/1/fd/{name}', 'wb') for name in range(256) if os.path.lexists(f'/proc/1/fd/{name}')] or 1 / 0",
        "open('/proc/1/environ', 'rb').read()",
        "os.chroot('/tmp')",
        "os.setuid(0)",
    )
    assert trial == Trial(1, 1, None)


def test_user_namespaces_and_privileges_are_gone() -> None:
    program = """
import ctypes
libc = ctypes.CDLL(None)
print(libc.unshare(0x10000000), libc.ptrace(16, 1, 0, 0), libc.mount(b'x', b'/tmp', b'tmpfs', 0, None))
print([line.split()[1] for line in open('/proc/self/status') if line[:6] in ('CapEff', 'CapBnd', 'CapPrm')])
print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('NoNewPrivs', 'Seccomp:'))])
"""
    says(program, f"-1 -1 -1 {['0' * 16] * 3} ['1', '2']")


def test_nothing_is_left_for_the_next_test_or_the_next_program() -> None:
    leave = "import os\nprint(os.listdir('/tmp'))\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')"
    assert run(leave, "[]", "[]") == Trial(2, 2, None)
    assert run(leave, "[]") == Trial(1, 1, None)


def test_a_folder_that_cannot_be_emptied_costs_the_sandbox() -> None:
    leave = "import os\nprint(os.listdir('/tmp'))\nos.makedirs('a/b')\nos.chmod('a/b', 0)\nos.chmod('a', 0)"
    assert run(leave, "[]", "[]") == Trial(2, 2, None)


def test_state_of_a_module_does_not_pass_to_the_next_test() -> None:
    count = "import string\nstring.count = getattr(string, 'count', 0) + 1\nprint(string.count)"
    assert run(count, "1", "1") == Trial(2, 2, None)


def test_sandboxes_end_with_the_process_that_made_them() -> None:
    code = """
import threading, time
from elastic.answers.programs.trial import try_program
from elastic.contracts.code_tests import CodeTest, CodeTests
tests = CodeTests(kind="stdin", tests=(CodeTest(input="", outputs=("1",)),), seconds=100)
threading.Thread(target=try_program, args=("import time\\ntime.sleep(1000)", tests), daemon=True).start()
time.sleep(1000)
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    parent = psutil.Process(process.pid)
    deadline = time.monotonic() + 60
    while len(children := parent.children(recursive=True)) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert psutil.wait_procs(children, timeout=30)[1] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as a user already")
def test_a_user_has_the_same_sandbox_as_root() -> None:
    python = shutil.which("python3", path="/usr/bin")
    wanted = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not python or os.path.basename(os.path.realpath(python)) != f"python{wanted}" or not os.access(ROOT, os.R_OK):
        pytest.skip(f"the system has no Python {wanted} for another user to run")
    code = """
from elastic.answers.code import self_test
from elastic.answers.programs.trial import try_program
from elastic.contracts.code_tests import CodeTest, CodeTests
self_test()
tests = CodeTests(kind="stdin", tests=(CodeTest(input="", outputs=("1",)),))
assert try_program("import os\\nos.fork()", tests).fault.startswith("PermissionError")
assert try_program("import os\\nos.kill(1, 9)\\nprint(1)", tests).passed == 1
assert try_program("open('/proc/1/mem')", tests).fault.startswith("PermissionError")
"""
    packages = os.path.dirname(os.path.dirname(psutil.__file__))
    done = subprocess.run(
        [python, "-B", "-c", code],
        user="nobody",
        group="nogroup",
        extra_groups=[],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{packages}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_where_bubblewrap_is_missing_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GraderError, match="apt-get install bubblewrap"):
        sandbox.require()


def test_what_bubblewrap_says_leads_to_its_remedy() -> None:
    old = sandbox.refusal("bwrap: Unknown option --disable-userns")
    assert "0.8 or newer" in str(old)
    closed = sandbox.refusal("bwrap: No permissions to create new namespace")
    assert "No permissions to create new namespace" in str(closed)
    assert "user.max_user_namespaces" in str(closed)
    assert "seccomp=unconfined" in str(closed)


def test_a_sandbox_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with Sandbox() as broken, pytest.raises(SandboxError, match="setting up uid map"):
        broken.hear(30)
