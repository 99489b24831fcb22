#!/bin/bash
# Speed of the static schedule: procedures of the C library per second. See schedule.c.
set -eu
echo '# static schedule'
"$BENCHMARKS/schedule"
