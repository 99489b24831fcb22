#!/bin/bash
# What sampling the whole machine costs: the table of docs/results/live-cost.md, of ROUNDS (3) rounds.
set -eu
if [ "$(id -u)" != 0 ]; then
    echo 'live_cost: skipped: sampling the whole machine needs CAP_BPF and CAP_PERFMON (root)'
    exit 0
fi
python3 -B experiments/live-cost.py --print --rounds "${ROUNDS:-3}"
