#!/usr/bin/env bash
# Installs the peer that Sorus is timed against: Debian's PyTorch on Debian's Python, with OpenBLAS on OpenMP
# so that both of its thread pools are one. Scripts run in it through the wrapper torch-python beside this
# file.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=(python3-torch python3-numpy libopenblas0-openmp)

if ! dpkg-query -W -f '${Status}\n' "${packages[@]}" 2>/dev/null | grep -c 'install ok installed' |
  grep -qx "${#packages[@]}"; then
  apt-get update -q && apt-get install -yq --no-install-recommends "${packages[@]}"
fi
"$here/torch-python" "$here/smoke_torch.py"
