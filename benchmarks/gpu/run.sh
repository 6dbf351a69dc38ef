#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh [all | tests | sanitize | mutated [COUNT] | bench [SUITE...] | train | trace | engine]
# Runs on a machine with a GPU, Python 3.10 or newer with PyTorch, and no network. Every part ends within its time limit.
#   OUT                 where results go (./results)
#   PENSTOCK_PEERS      a folder of Python packages of the peers (DALI, CV-CUDA), if there is one
#   SANITIZE            what compute-sanitizer runs (pytest arguments)
set -uo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
export OUT=${OUT:-$PWD/results} PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-python3}
site=${PENSTOCK_SITE:-/tmp/penstock-device/site}
data=${PENSTOCK_DATA:-/dev/shm/penstock-device}
mkdir -p "$OUT"

install() {  # once for each wheel
  local stamp=$site/.installed wheel
  wheel=$(cat "$here"/wheels/penstock-*.whl | sha256sum)
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wheel" ]; then
    rm -rf "$site"
    "$python" -m pip --disable-pip-version-check install -q --no-deps --no-index --no-compile --target "$site" \
      --find-links "$here/wheels" penstock nanobind-backend nvidia-nvjpeg || exit 3
    echo "$wheel" >"$stamp"
  fi
  # NVRTC and nvJPEG of this Python's wheels; asked for before the peers' packages hide them.
  PENSTOCK_NVIDIA_LIBS=$(PYTHONPATH=$site "$python" -c \
    'import os, penstock; print(os.environ.get("PENSTOCK_NVIDIA_LIBS", ""))') || exit 4
  export PENSTOCK_NVIDIA_LIBS PYTHONPATH=$site${PENSTOCK_PEERS:+:$PENSTOCK_PEERS} PENSTOCK_REQUIRE_GPU=1
  export PENSTOCK_CACHE=${PENSTOCK_CACHE:-/tmp/penstock-device/cache}
  export PENSTOCK_KERNELS=${PENSTOCK_KERNELS:-compiled}  # rates are those of the steady state from the first batch on
  "$python" -m penstock info | tee -a "$OUT/machine.txt"
}

photographs() {  # many files from few photographs
  "$python" "$here/benchmarks/gpu/photographs.py" "$here/photos" "$data"
}

facts() {
  { date -u +'%Y-%m-%d %H:%M UTC'
    echo "commit $(cat "$here/commit")"
    command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    "$python" -c 'import sys, torch; print("Python", sys.version.split()[0], "torch", torch.__version__)'
    echo "$(nproc) cores"; } | tee "$OUT/machine.txt"
}

tests() {
  cd "$here" && PENSTOCK_TEST_GPU=real timeout "${LIMIT:-480}" "$python" -m pytest tests/gpu -q -n "${WORKERS:-8}" -p no:cacheprovider \
    --tb=short --maxfail="${MAXFAIL:-40}" -o console_output_style=count ${TESTS:-} 2>&1 | tee "$OUT/tests.log"
}

sanitize() {  # the four tools over a few tests; the log says for each whether it was clean
  local tool
  cd "$here"
  for tool in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
    echo "== $tool"
    PENSTOCK_TEST_GPU=real timeout "${LIMIT:-130}" compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 20 --target-processes all \
      "$python" -m pytest ${SANITIZE:-tests/gpu/test_sanitized.py} -q -x -p no:cacheprovider --tb=short 2>&1
    echo "== $tool: exit status $? (0: clean, 99: findings, 124: out of time)"
  done | tee "$OUT/sanitizer.log"
}

mutated() {  # damaged and hostile files under memcheck
  timeout "${LIMIT:-100}" compute-sanitizer --tool memcheck --error-exitcode 99 --print-limit 20 \
    "$python" "$here/tests/mutated_jpegs/decode_on_gpu.py" "$@" 2>&1 | tee "$OUT/mutated.log"
  echo "== exit status ${PIPESTATUS[0]} (0: clean, 1: other bytes, 99: findings, 124: out of time)" | tee -a "$OUT/mutated.log"
}

bench() {
  photographs
  timeout "${LIMIT:-520}" "$python" "$here/benchmarks/gpu/run.py" --data "$data" --out "$OUT" --name "${NAME:-gpu}" "$@" 2>&1 |
    tee "$OUT/${NAME:-gpu}.log"
}

verb=${1:-all}
[ $# -gt 0 ] && shift
facts
install
case $verb in
  tests) tests ;;
  sanitize) sanitize ;;
  mutated) mutated "$@" ;;
  bench) bench "$@" ;;
  train) NAME=gpu_train bench train "$@" ;;
  trace) NAME=gpu_trace bench trace "$@" ;;
  engine) NAME=gpu_engine bench engine "$@" ;;
  all) LIMIT=200 tests; LIMIT=40 sanitize; LIMIT=280 bench "$@" ;;
  *) echo "run.sh: unknown part '$verb'" >&2; exit 2 ;;
esac
