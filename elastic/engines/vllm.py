"""The vLLM engine: each job as two calls on token ids, thinking and then the solution, both budgets exact.

Thinking ends at the closing id or an EOS id as stop token, or at its limit; the second call reads it again from vLLM's
prefix cache (`elastic/engines/two_calls.py`). A job's second call starts as soon as its first has ended, so no row
waits for the slowest one. vLLM runs in this process, which is what makes `load_weights` a plain call.

Random streams have the names that they have in every engine, but vLLM draws other numbers from them: equal seeds give
equal traces of one engine on one machine, never those of another engine. Logits are rounded differently in different
batches, so that a trace may differ between batches where two tokens are all but equally likely.
"""

from __future__ import annotations

import math
import os
import time
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from safetensors import safe_open
from transformers import AutoConfig

from elastic.budget import Budget
from elastic.engines.protocol import Drawn, Engine, Job, Progress, Sampling, Spent
from elastic.engines.runtime import device
from elastic.engines.two_calls import Call, TwoCalls
from elastic.errors import DataError, ParamsError
from elastic.markers import Markers

# vLLM reads these when it is imported or started.
os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
# The last token of a sequence is never fed back, so one more than the model has positions for is in order.
os.environ["VLLM_ALLOW_LONG_MAX_MODEL_LEN"] = "1"
os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")

try:
    from vllm import EngineArgs, LLMEngine, SamplingParams, TokensPrompt
    from vllm.platforms import current_platform
    from vllm.sampling_params import RequestOutputKind
except ImportError as error:
    raise ParamsError(
        f"vLLM cannot be imported: {error}",
        where="engine vllm",
        remedy="run `make setup-engines` and use the programs of .venv-engines, as in `.venv-engines/bin/elastic`",
    ) from error

# The CPU kernels want multiples of 32; the smallest lets the second call find the most of its prompt in the cache.
_CPU_BLOCK = 32
# The number of a request's first draw, among its parameters.
_FIRST = "first"
# vLLM raises a lower temperature to this one, with no more than a line in its log.
_LOWEST_TEMPERATURE = 0.01


@dataclass
class _Row:
    """A job under way."""

    calls: TwoCalls
    logprobs: list[float] = field(default_factory=list)
    prefilled: int = 0
    ended: float = 0.0


class VllmEngine(Engine):
    """Budgeted decoding with vLLM, in float32 on a CPU and in the checkpoint's own dtype elsewhere.

    A process runs one such engine: starting another ends it, as `close` does.

    Args:
        folder: the checkpoint.
        markers: delimiters of its tokenizer.
        batch_size: rows decoded together.

    Raises:
        DataError: vLLM cannot load the checkpoint.
        ParamsError: the environment names another device than vLLM is built for.
    """

    name = "vllm"
    _running: ClassVar[weakref.finalize | None] = None

    def __init__(self, folder: Path, markers: Markers, *, batch_size: int = 64) -> None:
        # vLLM's process groups belong to the process: an engine that ended later would take them from this one.
        if VllmEngine._running is not None:
            VllmEngine._running()
        self._on_cpu = on_cpu = _check_device()
        self.markers = markers
        self._context: int | None = getattr(AutoConfig.from_pretrained(folder), "max_position_embeddings", None)
        self._weight_names = _weight_names(folder)
        arguments = EngineArgs(
            model=str(folder),
            skip_tokenizer_init=True,
            dtype="float32" if on_cpu else "auto",
            max_model_len=None if self._context is None else self._context + 1,
            max_num_seqs=batch_size,
            block_size=_CPU_BLOCK if on_cpu else None,
            enforce_eager=on_cpu,
            # A prompt that is read in pieces draws a token a piece, which a seeded stream on a CPU cannot take back.
            enable_chunked_prefill=not on_cpu,
            enable_prefix_caching=True,
            logprobs_mode="processed_logprobs",
            generation_config="vllm",
            distributed_executor_backend="uni",
            disable_log_stats=True,
            use_tqdm_on_load=False,
        )
        with _contained():
            try:
                self._engine = LLMEngine.from_engine_args(arguments)
            except Exception as error:
                raise DataError(
                    f"vLLM cannot load it: {error}",
                    where=str(folder),
                    remedy="mend what the message names; room for keys and values on a CPU is set in GiB by "
                    "VLLM_CPU_KVCACHE_SPACE",
                ) from error
        self._engine.collective_rpc(_watch_requests)
        self._end = VllmEngine._running = weakref.finalize(self, self._engine.engine_core.shutdown)

    @property
    def context(self) -> int | None:
        """See Engine.context."""
        return self._context

    def close(self) -> None:
        """End vLLM and free its memory."""
        self._end()

    def draw(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Drawn]:
        """See Engine.draw; all jobs of a call are one batch.

        Raises:
            ParamsError: the temperature is one that vLLM would change, or the engine has ended.
        """
        if 0 < sampling.temperature < _LOWEST_TEMPERATURE:
            raise ParamsError(
                f"vLLM does not sample at a temperature of {sampling.temperature}",
                where="temperature",
                remedy=f"use 0, which is greedy, or {_LOWEST_TEMPERATURE} and more",
            )
        self._require_running()
        for job in jobs:
            job.check(self.context)
        started = time.perf_counter()
        rows = [_Row(TwoCalls(job, self.markers), ended=started) for job in jobs]
        waiting: dict[str, _Row] = {}

        def ask(number: int) -> None:
            call = rows[number].calls.call
            assert call is not None
            waiting[str(number)] = rows[number]
            self._engine.add_request(
                str(number), TokensPrompt(prompt_token_ids=list(call.ids)), _params(call, sampling)
            )

        try:
            for number, row in enumerate(rows):
                if row.calls.call:
                    ask(number)
            if progress and len(waiting) < len(rows):
                progress(len(rows) - len(waiting), 0)
            while waiting:
                finished = tokens = 0
                for output in self._step():
                    row = waiting.pop(output.request_id)
                    ids = output.outputs[0].token_ids
                    row.prefilled += len(output.prompt_token_ids) - output.num_cached_tokens
                    kept = row.calls.take(ids)
                    row.logprobs += [
                        step[token].logprob for token, step in zip(ids, output.outputs[0].logprobs, strict=True)
                    ][:kept]
                    tokens += kept
                    if row.calls.call:
                        ask(int(output.request_id))
                    else:
                        finished, row.ended = finished + 1, time.perf_counter()
                if progress and tokens:
                    progress(finished, tokens)
        finally:
            if waiting:
                self._engine.abort_request(list(waiting))
        return [_drawn(job, row, started) for job, row in zip(jobs, rows, strict=True)]

    def _require_running(self) -> None:
        if not self._end.alive:
            raise ParamsError(
                "this vLLM engine has ended",
                where="engine vllm",
                remedy="use the one that was started last in this process, or start another",
            )

    def _step(self) -> Any:
        """One forward pass for every row under way; the rows that it ended."""
        # On a CPU one small function would be compiled, for 20 s and with a C++ compiler, to rank tokens for nobody.
        with torch.compiler.set_stance("force_eager" if self._on_cpu else "default"):
            return self._engine.step()

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Take over the weights of another state of the same model.

        Args:
            weights: names and tensors as in the state dict of the transformers model, all of them; they are copied.

        Raises:
            DataError: weights are missing; or the model has no such weights, which ends the engine, since by then some
                have been taken over.
            ParamsError: the engine has ended.
        """
        self._require_running()
        given = set()

        def noted() -> Iterator[tuple[str, torch.Tensor]]:
            for name, tensor in weights:
                given.add(name)
                yield name, tensor

        # The model's own load_weights is not enough: on a CPU, vLLM computes with packed copies of the weights.
        try:
            self._engine.collective_rpc("reload_weights", kwargs={"weights_iterator": noted()})
        except Exception as error:
            self.close()
            raise DataError(
                f"vLLM cannot take over these weights: {error}",
                where="engine vllm",
                remedy="hand over the state dict of the very model that the engine was started with",
            ) from error
        # Keys and values of the old weights must not be read again.
        self._engine.reset_prefix_cache()
        if missing := sorted(self._weight_names - given):
            raise DataError(
                f"{len(missing)} weights are missing, first {missing[0]}",
                where="engine vllm",
                remedy="hand over the whole state dict, under the names that save_pretrained writes",
            )


class _Requests(dict[str, Any]):
    """The requests that a model runner knows; one that goes on from given ids skips the draws that these had."""

    def __init__(self, runner: Any) -> None:
        super().__init__(runner.requests)
        self._runner = runner

    def __setitem__(self, name: str, request: Any) -> None:
        if request.generator is not None:
            runner = self._runner
            logits = torch.zeros((1, runner.input_batch.vocab_size), device=runner.device)
            for _ in range(request.sampling_params.extra_args[_FIRST]):
                runner.sampler.topk_topp_sampler(logits, {0: request.generator}, None, None)
        super().__setitem__(name, request)


def _watch_requests(worker: Any) -> None:
    """Make every request's stream start at its first draw; a runner whose draws depend on places does so by itself."""
    if not worker.use_v2_model_runner:
        worker.model_runner.requests = _Requests(worker.model_runner)


def _params(call: Call, sampling: Sampling) -> Any:
    return SamplingParams(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        seed=call.seed >> 1,  # vLLM takes 63 bits
        max_tokens=call.limit,
        stop_token_ids=sorted(call.ends),
        ignore_eos=True,  # `call.ends` names every EOS
        detokenize=False,
        logprobs=0,
        extra_args={_FIRST: call.first},
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


def _drawn(job: Job, row: _Row, started: float) -> Drawn:
    if not all(map(math.isfinite, row.logprobs)):
        raise DataError(
            "the model's logits are not numbers",
            where="sampling",
            remedy="its weights are damaged or overflow in their dtype: look at the training that made them",
        )
    trace = row.calls.trace()
    if job.kind == "separate":
        trace.check(Budget(job.think, job.solution))
    return Drawn(trace, tuple(row.logprobs), Spent(len(row.logprobs), row.prefilled, row.ended - started))


def _weight_names(folder: Path) -> set[str]:
    names: set[str] = set()
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as weights:
            names.update(weights.keys())
    return names


def _check_device() -> bool:
    """Whether vLLM runs on the CPU; it knows the one kind of device that it is built for."""
    wanted, built_for = device(), current_platform.device_type
    if wanted.type != built_for or wanted.index:
        raise ParamsError(
            f"models should run on {wanted}, this vLLM runs on {built_for}",
            where="ELASTIC_DEVICE",
            remedy=f"set it to {built_for}; CUDA_VISIBLE_DEVICES chooses among GPUs",
        )
    return wanted.type == "cpu"


@contextmanager
def _contained() -> Iterator[None]:
    """Put back what vLLM changes for its worker processes, of which there are none, and others here rely on."""
    preload, set_num_threads = os.environ.get("LD_PRELOAD"), torch.set_num_threads
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about vLLM's own use of torch
            yield
    finally:
        torch.set_num_threads = set_num_threads
        if preload is None:
            os.environ.pop("LD_PRELOAD", None)
        else:
            os.environ["LD_PRELOAD"] = preload
        device()
