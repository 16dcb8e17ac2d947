#!/usr/bin/env bash
# Creates the environment of the genuine MindSpore wheel in build/peers/mindspore, the reference for names and
# behaviour: the recording scripts beside this file run in it, Sorus itself never does.
# The wheel's version is pinned in mindspore-version.txt. Running it again with the same version does nothing.
# Usage: bench/peers/setup_mindspore.sh [python3.11]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
environment=$(cd "$here/../.." && pwd)/build/peers/mindspore
version=$(cat "$here/mindspore-version.txt")
base_python=${1:-python3.11}

if "$environment/bin/python" -c "
import sys
from importlib.metadata import version
sys.exit(version('mindspore') != '$version')" 2>/dev/null; then
  echo "mindspore $version is ready in $environment"
else
  # The extension links OpenMP, which slim images lack.
  if ! ldconfig -p | grep -q 'libgomp\.so\.1'; then
    apt-get update -q && apt-get install -yq --no-install-recommends libgomp1
  fi
  rm -rf "$environment"
  "$base_python" -m venv "$environment"
  "$environment/bin/pip" install -q --disable-pip-version-check "mindspore==$version"
fi
"$environment/bin/python" "$here/smoke_mindspore.py"
