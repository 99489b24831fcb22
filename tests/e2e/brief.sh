# --brief: the answer in at most 25 lines, each of which says what it tells.
. tests/e2e/lib.sh

is_brief() { # COLUMNS
    [ "$(wc -l <"$scratch/brief")" -le 25 ] && [ "$(wc -L <"$scratch/brief")" -le "$1" ] &&
        awk 'NR > 1 && !/^(cycles|stack|function|instruction|gone without|try|rests on|next): / && !(next_begun && /^      /) { print; bad = 1 }
            { next_begun = next_begun || /^next: / } END { exit bad }' "$scratch/brief"
}
brief() { # COLUMNS
    COLUMNS=$1 run explain --brief -o "$scratch/brief" -- "$WORKLOADS/x86_64/hashjoin" 3000 1000 && cat "$scratch/brief" && is_brief "$1" &&
        grep -q '^cycles: .* instructions, CPI .* on zen4$' "$scratch/brief" && grep -q '^function: .*: ' "$scratch/brief" &&
        grep -q '^instruction: ' "$scratch/brief" && grep -q '^gone without: ' "$scratch/brief" &&
        grep -q '^rests on: .*; and [0-9]* more notes, without --brief$' "$scratch/brief"
}
check "explain is brief at 80 columns" brief 80
check "and at 200" brief 200
narrow() { # but for the command to copy
    COLUMNS=40 run explain --brief -o "$scratch/brief" -- "$WORKLOADS/x86_64/hashjoin" 3000 1000 && cat "$scratch/brief" &&
        sed '/^next: /,$d' "$scratch/brief" >"$scratch/lines" && grep -q '^gone without: ' "$scratch/lines" &&
        [ "$(wc -L <"$scratch/lines")" -le 40 ]
}
check "and at 40" narrow
of_json() {
    run sim --json -o "$scratch/whole.json" -- "$WORKLOADS/x86_64/hashjoin" 3000 1000 &&
        run sim --brief -o "$scratch/brief" -- "$WORKLOADS/x86_64/hashjoin" 3000 1000 && python3 -S - "$scratch/whole.json" "$scratch/brief" <<'PYTHON'
import json, re, sys
report, lines = json.load(open(sys.argv[1])), open(sys.argv[2]).read().splitlines()
first = next(line for line in lines if line.startswith("function: "))
assert re.match(r"function: ([\d.]+) % (\S+)", first).groups() == ("%.1f" % (100 * report["functions"][0]["share"]), report["functions"][0]["function"]), first
assert "CPI %.3f" % report["cpi"] in lines[1]
PYTHON
}
check "its figures are those of the report" of_json
# Of a function of 1.3 % no event has 1 %: the largest is told.
of_small_rows() {
    local steps
    for steps in 100 150; do
        run sim --brief -o "$scratch/brief" -- "$WORKLOADS/x86_64/nbody" $steps >/dev/null && is_brief 100 || return 1
        ! grep -E '^(function|instruction|stack): .*: *$' "$scratch/brief" || return 1
    done
}
check "no row is without a cause" of_small_rows
check "not with --json" fails_with 125 'one or the other' run sim --brief --json -- true

finish
