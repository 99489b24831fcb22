# Memory is bounded by the program's code, not by what is asked of the report: a compiler's tens of
# thousands of instructions, every one of them a row, in JSON. Held as a tree the same report took
# 288 MB.
. tests/e2e/lib.sh

printf 'int twice(int n) {\n  int sum = 0;\n  for (int i = 0; i < n; i++)\n    sum += i ^ n;\n  return 2 * sum;\n}\n' \
    >"$scratch/source.c"

# peak_below MB COMMAND...: the most memory that the command, which starts no other, ever held.
peak_below() {
    python3 -S - "$@" <<'PYTHON'
import resource, subprocess, sys
limit = int(sys.argv[1])
subprocess.run(sys.argv[2:], check=True, timeout=300)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
print(f"peak {peak:.1f} MB, limit {limit} MB")
sys.exit(peak > limit)
PYTHON
}

many_rows() {
    python3 -S -c 'import json, sys
report = json.load(open(sys.argv[1]))
count = len(report["hot_instructions"])
assert count == report["instruction_count"] > 20000, count
assert sum(row["units"] for row in report["hot_instructions"]) == report["units"]' "$1"
}

skip_without gcc "memory of a report of all instructions" || {
    check "captures a compiler" run trace --follow --limit 6M --output "$scratch/gcc.ctrace" -- \
        gcc -O2 -S -o /dev/null "$scratch/source.c"
    check "reports all instructions in 120 MB" peak_below 120 "$CULPRIT" sim --top 0 --json \
        --output "$scratch/report" "$scratch/gcc.ctrace"
    check "all of them are there" many_rows "$scratch/report"
}
finish
