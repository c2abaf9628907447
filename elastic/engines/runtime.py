"""Where the work runs: device and threads, from the environment, since neither may be part of a result's identity.

`ELASTIC_DEVICE` (cpu, cuda, cuda:1, mps) defaults to a GPU when there is one; `cuda` is the process's own one where
torchrun or accelerate started several (`LOCAL_RANK`). `ELASTIC_THREADS` defaults to 1: with the small batches of small
models a second thread gains nothing, and on a busy machine it loses much.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from elastic.errors import ParamsError


def device() -> torch.device:
    """The device that models run on; on a CPU, torch's threads are set as a side effect.

    Raises:
        ParamsError: the environment names no device, or no number of threads.
    """
    name = os.environ.get("ELASTIC_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(name)
    except RuntimeError:
        raise ParamsError(f"{name!r} is no device", where="ELASTIC_DEVICE", remedy="use cpu, cuda or mps") from None
    if chosen.type == "cuda" and chosen.index is None and "LOCAL_RANK" in os.environ:
        chosen = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    if chosen.type == "cpu":
        threads = os.environ.get("ELASTIC_THREADS", "1")
        if not threads.isdigit() or int(threads) < 1:
            raise ParamsError(f"{threads!r} is no number of threads", where="ELASTIC_THREADS", remedy="use 1 or more")
        torch.set_num_threads(int(threads))
    return chosen


def use_cpu() -> bool:
    """Whether models run on the CPU."""
    return device().type == "cpu"
