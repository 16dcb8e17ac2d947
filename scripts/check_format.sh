#!/usr/bin/env bash
# Checks the form of the sources: C++ against .clang-format, Python against ruff.toml, both for stray white space.
# usage: check_format.sh [ROOT]   (a git checkout; all its files that git does not ignore are looked at)
# The formatter is version 14 exactly, because versions differ in what they accept.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

status=0
list() { git ls-files -z --cached --others --exclude-standard -- "$@" | xargs -0 -r ls -d 2>/dev/null | sort -u; }

# Fragments (*.inc) are left out: the formatter cannot lay out what is no whole declaration.
mapfile -t cpp_files < <(list '*.h' '*.cpp')
if ((${#cpp_files[@]})); then
  if ! command -v clang-format-14 >/dev/null; then
    echo "check_format: clang-format-14 is missing: run ./dev deps" >&2
    exit 1
  fi
  # One line a file is enough: ./dev format mends all of it.
  printf '%s\0' "${cpp_files[@]}" | xargs -0 -P "$(nproc)" -n 16 clang-format-14 --dry-run -Werror 2>&1 |
    awk -F: '/[Ee]rror/ && !seen[$1]++' || status=1
fi

mapfile -t python_files < <(list '*.py')
if ((${#python_files[@]})); then
  if ! command -v ruff >/dev/null; then
    echo "check_format: ruff is missing: run ./dev deps" >&2
    exit 1
  fi
  ruff check --quiet --output-format concise --force-exclude -- "${python_files[@]}" || status=1
fi

mapfile -t text_files < <(list '*.md' '*.sh' '*.txt' '*.cmake' '*.yml' '*.toml' '*.json' '*.ts' dev '.ci/*')
if ((${#text_files[@]})) && grep -nHE '[[:blank:]]+$' -- "${text_files[@]}"; then
  echo "check_format: trailing white space in the lines above" >&2
  status=1
fi
exit "$status"
