#!/bin/bash
# Speed of the branch predictors: prints nanoseconds per branch. See branch.c.
set -eu
echo '# branch prediction'
"$BENCHMARKS/branch"
