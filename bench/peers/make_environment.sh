#!/usr/bin/env bash
# Makes a Python environment of the packages given in build/peers/NAME, unless it is there with just these, and
# imports NAME in it. Usage: make_environment.sh NAME INTERPRETER PACKAGE==VERSION...
set -euo pipefail
name=$1 interpreter=$2
shift 2
environment=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/peers/$name

if [[ "$(cat "$environment/packages" 2>/dev/null)" != "$*" ]]; then
  rm -rf "$environment"
  "$interpreter" -m venv "$environment"
  "$environment/bin/pip" install -q --disable-pip-version-check "$@"
  echo "$*" >"$environment/packages"
fi
"$environment/bin/python" -c "import $name; print('$name', $name.__version__, 'is ready')"
