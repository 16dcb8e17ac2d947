#!/usr/bin/env bash
# Creates the environment of JAX with XLA in build/peers/jax, a peer that bench/networks.py times Sorus against.
# Running it again with the same version does nothing. Usage: bench/peers/setup_jax.sh [python3.11]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/make_environment.sh" jax "${1:-python3.11}" jax==0.10.2
