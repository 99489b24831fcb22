#!/bin/bash
# Speed of the branch predictors: prints nanoseconds per branch. See branch.c.
set -eu
make --no-print-directory --silent build/bench/branch
echo '# branch prediction'
build/bench/branch
