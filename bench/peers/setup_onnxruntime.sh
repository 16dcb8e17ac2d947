#!/usr/bin/env bash
# Creates the environment of ONNX Runtime in build/peers/onnxruntime, a peer that bench/networks.py times Sorus
# against; PyTorch (setup_torch.sh) exports the networks. Running it again with the same version does nothing.
# Usage: bench/peers/setup_onnxruntime.sh [python3.11]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/setup_torch.sh"
exec "$here/make_environment.sh" onnxruntime "${1:-python3.11}" onnxruntime==1.32.0
