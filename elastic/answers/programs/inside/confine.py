"""What a program is forbidden beyond its sandbox: a system-call filter, resource limits, and any hold on its runner.

The filter (seccomp-bpf) refuses a program new processes, sockets, memory that no limit counts (memfd, System V), and
every way to look into or limit another process. Threads are allowed. With no second process there is no fork bomb,
nothing outlives its test, and limits of one process are limits of the program, as root too, where RLIMIT_NPROC is not
enforced.
"""

from __future__ import annotations

# The module signal without its enums, whose import would cost every program some milliseconds.
import _signal as signal
import ctypes
import errno
import os
import resource

STACK_BYTES = 128 << 20
# A thread's stack is reserved, not used: programs ask for hundreds of megabytes of it to recurse deeply.
RESERVED_BYTES = 512 << 20
FILE_BYTES = 16 << 20
OPEN_FILES = 64

_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38
_FILTER_MODE = 2

# Numbers of the system calls by architecture: (audit number, the calls).
_SAME_EVERYWHERE = {"io_uring_setup": 425, "pidfd_getfd": 438, "memfd_secret": 447}
_CALLS = {
    "x86_64": (
        0xC000003E,
        {
            "fork": 57,
            "vfork": 58,
            "socket": 41,
            "memfd_create": 319,
            "shmget": 29,
            "msgget": 68,
            "semget": 64,
            "mq_open": 240,
            "ptrace": 101,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "userfaultfd": 323,
            "bpf": 321,
            "perf_event_open": 298,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "unshare": 272,
            "setns": 308,
            "mount": 165,
            "setpriority": 141,
        },
        {"clone": 56, "clone3": 435, "prlimit64": 302},
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198,
            "memfd_create": 279,
            "shmget": 194,
            "msgget": 186,
            "semget": 190,
            "mq_open": 180,
            "ptrace": 117,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "userfaultfd": 282,
            "bpf": 280,
            "perf_event_open": 241,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "unshare": 97,
            "setns": 268,
            "mount": 40,
            "setpriority": 140,
        },
        {"clone": 220, "clone3": 435, "prlimit64": 261},
    ),
}
_LOAD, _EQUALS, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in seccomp_data (little-endian)
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_CLONE_THREAD = 0x00010000
_X32_CALLS = 0x40000000


def system_call_filter(machine: str) -> bytes:
    """The filter as an array of sock_filter.

    Raises:
        KeyError: its numbers are not known for this architecture.
    """
    audit, refused, guarded = _CALLS[machine]

    def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return code.to_bytes(2, "little") + bytes((if_true, if_false)) + value.to_bytes(4, "little")

    def refuse(number: int) -> bytes:
        return step(_RETURN, _REFUSE | number)

    steps = [
        step(_LOAD, _ARCHITECTURE),
        step(_EQUALS, audit, if_true=1),
        refuse(errno.EPERM),
        step(_LOAD, _NUMBER),
        step(_AT_LEAST, _X32_CALLS, if_false=1),
        refuse(errno.EPERM),
    ]
    for number in (refused | _SAME_EVERYWHERE).values():
        steps += [step(_EQUALS, number, if_false=1), refuse(errno.EPERM)]
    steps += [
        # The C library falls back to clone, whose flags a filter can read.
        step(_EQUALS, guarded["clone3"], if_false=1),
        refuse(errno.ENOSYS),
        step(_EQUALS, guarded["clone"], if_false=3),
        step(_LOAD, _FIRST_ARGUMENT),
        step(_ANY_BIT, _CLONE_THREAD, if_true=5),
        refuse(errno.EPERM),
        # Limits of its own only, not of another process.
        step(_EQUALS, guarded["prlimit64"], if_false=3),
        step(_LOAD, _FIRST_ARGUMENT),
        step(_EQUALS, 0, if_true=1),
        refuse(errno.EPERM),
        step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


_PRCTL = ctypes.CDLL(None, use_errno=True).prctl


def _prctl(option: int, value: int, pointer: object = 0) -> None:
    if _PRCTL(ctypes.c_int(option), ctypes.c_ulong(value), pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)):
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def shield() -> None:
    """Let no program read this process's memory or open its pipes, nor disturb it with the one signal it listens to."""
    _prctl(_PR_SET_DUMPABLE, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def confine(seconds: float, memory: int, *, shielded: bool = False) -> None:
    """Confine this process for good.

    Args:
        seconds: of processor time.
        memory: bytes above what the process has now.
        shielded: whether it stays as `shield` made it; otherwise it becomes an ordinary process again.
    """
    if not shielded:
        _prctl(_PR_SET_DUMPABLE, 1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    whole = -int(-seconds // 1)
    address = memory_bytes("self", 0) + memory + RESERVED_BYTES
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, whole, whole + 1),
        (resource.RLIMIT_AS, address, address),
        (resource.RLIMIT_FSIZE, FILE_BYTES, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_STACK, STACK_BYTES, STACK_BYTES),
    ):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(kind, (soft, hard))
    steps = system_call_filter(os.uname().machine)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(_Filter(len(steps) // 8, steps)))


def memory_bytes(process: int | str, column: int) -> int:
    """From statm of a process: its address space (column 0) or what of it is in memory (column 1), in bytes."""
    with open(f"/proc/{process}/statm", "rb") as file:
        return int(file.read().split()[column]) * resource.getpagesize()
