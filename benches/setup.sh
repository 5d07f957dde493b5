#!/bin/sh
# Makes a Python environment with the peers, in benches/.venv unless a folder is given.
set -e
venv=${1:-$(dirname "$0")/.venv}
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --upgrade numpy scipy casadi scikit-sundae
