"""The configurations of infra/accelerate as accelerate itself reads them, and the commands in their heads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from accelerate.commands.config.config_args import ClusterConfig, load_config_from_file
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.utils import DistributedType

ROOT = Path(__file__).parents[2]
FOLDER = Path("infra/accelerate")
FILES = sorted(path.name for path in (ROOT / FOLDER).glob("*.yaml"))


def loaded(name: str) -> ClusterConfig:
    config = load_config_from_file(str(ROOT / FOLDER / name))
    assert isinstance(config, ClusterConfig)
    return config


@pytest.mark.parametrize("name", FILES)
def test_accelerate_reads_the_file_and_the_command_in_its_head_starts_several_processes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    head = (ROOT / FOLDER / name).read_text(encoding="utf-8")
    [words] = re.findall(rf"accelerate launch (--config_file {re.escape(str(FOLDER / name))} -m stages\.train r1)$",
                         head, flags=re.MULTILINE)  # fmt: skip
    arguments, _, _ = _validate_launch_command(launch_command_parser().parse_args(words.split()))
    assert arguments.num_processes == loaded(name).num_processes > 1
    assert arguments.module
    assert arguments.multi_gpu or arguments.use_fsdp or arguments.use_deepspeed  # else accelerate starts one process


def test_each_file_says_how_weights_are_held() -> None:
    assert FILES == ["cpu_gloo.yaml", "fsdp2.yaml", "zero3.yaml"]
    assert loaded("cpu_gloo.yaml").use_cpu
    fsdp = loaded("fsdp2.yaml")
    assert (fsdp.distributed_type, fsdp.fsdp_config["fsdp_version"]) == (DistributedType.FSDP, 2)
    zero = loaded("zero3.yaml")
    assert (zero.distributed_type, zero.deepspeed_config["zero_stage"]) == (DistributedType.DEEPSPEED, 3)
    assert zero.deepspeed_config["zero3_save_16bit_model"], "the trained model could not be saved whole"


def test_no_file_loads_an_empty_model_in_all_processes_but_one() -> None:
    """Every process of the stage loads the model itself, before accelerate sees it."""
    assert loaded("fsdp2.yaml").fsdp_config["fsdp_cpu_ram_efficient_loading"] is False
    assert loaded("zero3.yaml").deepspeed_config["zero3_init_flag"] is False
