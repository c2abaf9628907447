#!/usr/bin/env bash
# Make an environment, or bring it up to date; a no-op when nothing changed.
#
#   infra/setup.sh          .venv: the project and its tools, from pyproject.toml and constraints.txt
#   infra/setup.sh engines  .venv-engines: the project with vLLM for CPUs, exactly the packages of constraints-engines.txt
#
# Environment:
#   PYTHON               the interpreter to build on (default: the first of python3, python3.13, 3.12, 3.11 that fits)
#   ELASTIC_TORCH_INDEX  where torch comes from beside the configured package index. Unset: on Linux, PyTorch's index of
#                        CPU builds, if it answers within 5 seconds, because PyPI's torch brings gigabytes of CUDA.
#                        Empty: the configured index alone. Anything else: that index (for a GPU build). Changing it
#                        does not replace an installed torch: remove the environment first.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1-}" in
    "") venv=.venv lock=constraints.txt target=setup size="2.5 GB" ;;
    engines) venv=.venv-engines lock=constraints-engines.txt target=setup-engines size="2.7 GB" ;;
    *)
        echo "error: $0 knows no environment '$1'; say nothing, or engines" >&2
        exit 1
        ;;
esac
CPU_INDEX="https://download.pytorch.org/whl/cpu"
STAMP="$venv/installed-from"

missing=()
need() { # need WHAT COMMAND: note a missing prerequisite and the command that installs it
    missing+=("missing: $1"$'\n'"    install it with: $2")
}
apt() {
    if command -v apt-get >/dev/null; then
        echo "$([ "$(id -u)" = 0 ] || echo "sudo ")apt-get install -y $*"
    else
        echo "your system's package manager (Debian calls it: $*)"
    fi
}
fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=""
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if command -v "$candidate" >/dev/null && fits "$candidate"; then
        # Inside an activated .venv, the interpreter that it was made with.
        python="$("$candidate" -c 'import sys; print(sys._base_executable)')"
        break
    fi
done

# The stamp names what the environment was made from and where it stands (its scripts hold absolute paths).
place="$PWD ${python:+$("$python" -c 'import sys; print(sys.base_prefix, sys.version.split()[0])')}"
wanted="$place"$'\n'"$(cat "$lock" pyproject.toml infra/setup.sh | cksum)"
if [ -n "$python" ] && [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$wanted" ]; then
    exit 0
fi

if [ -z "$python" ]; then
    # A system whose python3 is older may offer 3.11 beside it.
    package="$(command -v python3 >/dev/null && echo python3.11 || echo python3)"
    need "Python 3.11 or newer${PYTHON:+ (PYTHON=$PYTHON is not)}" "$(apt "$package" "$package-venv" "$package-dev")"
else
    package="$(basename "$python")"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        need "the venv module of $python" "$(apt "$package-venv")"
    "$python" -c 'import os, sysconfig as s; os.stat(os.path.join(s.get_path("include"), "Python.h"))' 2>/dev/null ||
        need "the headers of $python (a dependency is compiled)" "$(apt "$package-dev")"
fi
command -v gcc >/dev/null || command -v cc >/dev/null || need "a C compiler (a dependency is compiled)" "$(apt gcc libc6-dev)"
command -v git >/dev/null || need "git" "$(apt git)"
if [ "$venv" = .venv-engines ] && [ "$(uname -sm)" != "Linux x86_64" ]; then
    need "a build of vLLM for $(uname -sm)" "pip install vllm, in an environment of your own: the locked build is for Linux on x86-64"
fi
if [ ${#missing[@]} -gt 0 ]; then
    printf '%s\n' "${missing[@]}" >&2
    exit 1
fi

log="$venv/install.log"
pid=""
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
step() { # step TITLE COMMAND...: run with its output in the log and a progress line every 10 seconds
    local title="$1" started=$SECONDS ticks=0
    shift
    echo "[setup] $title"
    "$@" >>"$log" 2>&1 &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 1
        ticks=$((ticks + 1))
        if [ $((ticks % 10)) = 0 ]; then
            echo "[setup]   $((SECONDS - started)) s: $(sed '/^WARNING/d' "$log" | tail -n 1 | cut -c 1-100)"
        fi
    done
    if ! wait "$pid"; then
        pid=""
        echo "error: $title failed; the end of $log:" >&2
        tail -n 25 "$log" >&2
        echo "Remedy: mend what the lines above name (network, disk space, a compiler), then run make $target again" >&2
        exit 1
    fi
    pid=""
}

echo "[setup] $venv with $("$python" --version), a few minutes and about $size"
if [ -f "$STAMP" ] && [ "$(head -n 1 "$STAMP")" != "$place" ]; then
    "$python" -m venv --clear "$venv"
else
    "$python" -m venv "$venv"
fi
rm -f "$STAMP"
: >"$log"
pip=("$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off -c "$lock")
# Most files of vLLM's packages are never imported: bytecode is left to the first import.
[ "$venv" = .venv ] || pip+=(--no-compile)

answers() {
    "$venv/bin/python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1] + "/torch/", timeout=5)' \
        "$1" >/dev/null 2>&1
}
index="${ELASTIC_TORCH_INDEX-unset}"
if [ "$index" = unset ]; then
    index=""
    if [ "$(uname -s)" = Linux ]; then
        if answers "$CPU_INDEX"; then
            index="$CPU_INDEX"
        else
            echo "[setup] $CPU_INDEX is out of reach: torch comes from the configured index, perhaps with CUDA libraries"
        fi
    fi
fi

step "torch${index:+ from $index}" "${pip[@]}" ${index:+--extra-index-url "$index"} torch
if [ "$venv" = .venv ]; then
    step "everything else" "${pip[@]}" -e ".[dev]"
else
    # vLLM names packages that break it on a CPU (torchvision and its kin) or are idle there (triton, 1 GB), so nothing
    # is resolved.
    step "everything else" "${pip[@]}" --no-deps -r "$lock"
    step "the project" "${pip[@]}" --no-deps -e .
fi
echo "$wanted" >"$STAMP"
echo "[setup] done in $SECONDS s"
