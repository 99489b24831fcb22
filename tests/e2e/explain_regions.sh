# culprit explain of long runs: by regions in a second run, and what keeps it from that.
. tests/e2e/lib.sh

# A slice has at least a quarter of a million instructions. Each simulation of an out-of-order core is
# followed by dozens, of what it would be without each cause; where the road is tested and not what
# is found, the core is in order.
in_order="--machine alpha21164"
few=$scratch/few
seq 8000 >"$few"
fewer=$scratch/fewer
seq 3700 >"$fewer"
least=$scratch/least
seq 2500 >"$least"
lines=$scratch/lines
seq 3500 >"$lines"
unset LC_ALL
export LC_COLLATE=C LC_CTYPE=C.UTF-8 # sort compares bytes: a shorter run
# Without the work of the loader, whose instructions are rows of each report.
cc -O1 -static -o "$scratch/late_effect" tests/guests/late_effect.c
cc -O1 -static -o "$scratch/wanders" tests/guests/wanders.c
cc -O1 -o "$scratch/detours" tests/guests/detours.c
cc -O1 -static -o "$scratch/uneven" tests/guests/uneven.c

by_regions() {
    run explain --keep 0 --regions-over 5M --regions 12 --json --top 0 --output "$scratch/regions" -- \
        gzip -9 -c "$few" >"$scratch/out" &&
        gzip -9 -c "$few" | same_file - "$scratch/out" &&
        json regions 'r["regions"]["count"] == 12' 'r["regions"]["simulated"] == r["regions"]["count"]' \
            'r["regions"]["slices"] > 30' 'r["instructions_simulated"] < 0.7 * r["instructions"]' \
            'r["instructions"] == r["instructions_executed"]' 'not r["partial"]' "$(note regions)" \
            'any(cost["cost"]["percent"] > 1 for cost in r["what_if"]["costs"])'
}
check "a long run is explained by regions, and its output comes once" by_regions

like_exact() {
    run sim --json --top 1 --output "$scratch/exact" -- gzip -9 -c "$few" >/dev/null &&
        python3 -S - "$scratch/regions" "$scratch/exact" <<'END'
import json, sys
regions, exact = (json.load(open(path)) for path in sys.argv[1:])
print(regions["cpi"], exact["cpi"])
assert regions["instructions"] == exact["instructions"]
assert abs(regions["cpi"] / exact["cpi"] - 1) < 0.05
for name, cycles in exact["components"].items():
    share, other = cycles / exact["cycles"], regions["components"][name] / regions["cycles"]
    assert abs(share - other) < 0.03, (name, share, other)
END
}
check "its CPI and stack are near the full simulation's" like_exact
exact() {
    run explain $in_order --exact --json --top 0 --output "$scratch/explained" -- gzip -9 -c "$least" >/dev/null &&
        json explained 'r["regions"] is None' 'r["sampling"] is None' &&
        run sim $in_order --json --top 1 --output "$scratch/simulated" -- gzip -9 -c "$least" >/dev/null &&
        python3 -S - "$scratch/explained" "$scratch/simulated" <<'END'
import json, sys
explained, simulated = (json.load(open(path)) for path in sys.argv[1:])
for key in "instructions", "cycles", "components", "commit_states":
    assert explained[key] == simulated[key], (key, explained[key], simulated[key])
END
}
check "... which --exact gives" exact

# Warm by time stamps, by simulation, and from the file of one run: what differs is within the interval.
same_estimate() {
    local how
    run explain $in_order --keep 0 --regions-over 2M --regions 10 --json --top 0 --output "$scratch/ordered" -- \
        gzip -9 -c "$fewer" >/dev/null || return
    for how in "--keep 0 --warm-up 15M" "--keep 1G"; do
        run explain $in_order $how --regions-over 2M --regions 10 --json --top 1 --output "$scratch/other" -- \
            gzip -9 -c "$fewer" >"$scratch/out" &&
            gzip -9 -c "$fewer" | same_file - "$scratch/out" &&
            python3 -S - "$scratch/ordered" "$scratch/other" <<'END' || return
import json, sys
stamps, other = (json.load(open(path)) for path in sys.argv[1:])
print(stamps["cpi"], other["cpi"], stamps["regions"]["cpi_half_interval_95"])
assert stamps["instructions"] == other["instructions"]
assert abs(stamps["cpi"] / other["cpi"] - 1) < 0.01 + stamps["regions"]["cpi_half_interval_95"] / stamps["cpi"]
END
    done
}
check "warmed by simulation, or from the file of one run, they say the same" same_estimate

all_slices() {
    run explain $in_order --keep 0 --regions-over 2M --regions 10000 --json --top 0 --output "$scratch/all" -- \
        gzip -9 -c "$fewer" >/dev/null &&
        json all '10 < r["regions"]["count"] == r["regions"]["slices"]' \
            'r["regions"]["cpi_half_interval_95"] == 0'
}
check "regions are all slices when as many are asked for" all_slices

# Data decide how long the same code takes: the soak test holds the interval against all slices.
leaves_open() {
    run explain --no-what-if --keep 0 --regions-over 10M --regions 12 --json --top 0 --output "$scratch/some" -- "$scratch/uneven" 60 >/dev/null &&
        json some 'r["regions"]["count"] == 12' 'r["regions"]["cpi_half_interval_95"] > 0.03 * r["cpi"]' \
            "not ($(note 'regions left'))" "$(note 'CPI within ±')" \
            'r["regions"]["component_half_intervals_95"]["mispredict"] > 0.01 * r["cycles"]'
}
check "of code that data slow down, few regions leave much open" leaves_open

interval_text() {
    run explain $in_order --keep 0 --regions-over 1M --regions 4 --top 0 --output "$scratch/text" -- gzip -9 -c "$least" >/dev/null &&
        sed -n 2p "$scratch/text" | grep -q 'CPI [0-9.]* ± [0-9.]*$' &&
        grep -q '^ stalled  *[0-9.]* ±  *[0-9.]* %' "$scratch/text" &&
        python3 -S -c 'import sys; assert all(len(line) <= 101 or line.startswith("next") for line in open(sys.argv[1]))' "$scratch/text"
}
check "the header has the interval, within 100 columns" interval_text

bad_regions() {
    fails_with 125 '^culprit explain: --regions 1: 2 to 10000$' run explain --regions 1 -- true &&
        fails_with 125 'regions' run explain --regions many -- true
}
check "--regions that is no number of regions is refused" bad_regions

from_trace() {
    run trace -o "$scratch/gzip.ctrace" -- gzip -9 -c "$fewer" >/dev/null 2>&1 &&
        run explain $in_order --keep 0 --regions-over 2M --regions 10 --json --top 0 "$scratch/gzip.ctrace" >"$scratch/trace" &&
        json trace 'r["regions"]["count"] > 1' 'not r["partial"]' &&
        python3 -S - "$scratch/ordered" "$scratch/trace" <<'END'
import json, sys
live, trace = (json.load(open(path)) for path in sys.argv[1:])
print(live["cpi"], trace["cpi"])
assert live["instructions"] == trace["instructions"]
assert abs(trace["cpi"] / live["cpi"] - 1) < 0.02
END
}
check "a trace is explained by its regions as the run is" from_trace

cut_trace() {
    size=$(stat -c %s "$scratch/gzip.ctrace") &&
        head -c $((size / 2)) "$scratch/gzip.ctrace" >"$scratch/cut.ctrace" &&
        run explain $in_order --keep 0 --regions-over 1M --json --top 0 "$scratch/cut.ctrace" >"$scratch/cut" &&
        json cut 'r["regions"]["count"] > 1' 'r["partial"]' "$(note 'cut short')"
}
check "a trace that was cut is explained as far as it goes" cut_trace

short_run() {
    run explain $in_order --json --top 0 --output "$scratch/short" -- gzip -9 -c "$least" >/dev/null &&
        json short 'r["regions"] is None' 'r["sampling"] is None' \
            'r["instructions_simulated"] == r["instructions_executed"]'
}
check "a short run is simulated in full" short_run

from_pipe() {
    cat "$lines" | run explain $in_order --keep 0 --regions-over 1M --regions 4 --json --top 0 --output "$scratch/pipe" -- \
        sort --parallel=1 >"$scratch/out" &&
        sort "$lines" | same_file - "$scratch/out" &&
        json pipe 'r["regions"]["count"] > 1'
}
check "standard input from a pipe is there for the second run" from_pipe

from_file() {
    { read -r first && run explain $in_order --keep 0 --regions-over 1M --regions 4 --json --top 0 --output "$scratch/file" -- \
        sort --parallel=1 >"$scratch/out"; } <"$lines" &&
        tail -n +2 "$lines" | sort | same_file - "$scratch/out" &&
        json file 'r["regions"]["count"] > 1'
}
check "standard input from a file begins where it stood, twice" from_file

status_kept() {
    mkdir "$scratch/temporary"
    TMPDIR=$scratch/temporary run explain $in_order --keep 0 --regions-over 1M --output "$scratch/text" -- \
        gzip -9 -c "$least" /nowhere >/dev/null 2>&1
    [ $? = 1 ] && grep -q "estimated from" "$scratch/text"
}
check "the exit status is the first run's" status_kept

left_over() {
    [ -z "$(ls -A "$scratch/temporary")" ]
}
check "no temporary file is left" left_over

harmful() {
    cp "$least" "$scratch/big"
    run explain $in_order --keep 0 --regions-over 1M --json --top 0 --output "$scratch/once" -- gzip -9 "$scratch/big" &&
        [ ! -e "$scratch/big" ] && gunzip -c "$scratch/big.gz" | same_file - "$least" &&
        json once 'r["regions"] is None' "$(note 'writing')" "$(note --rerun)"
}
check "a command that changes the world is run once" harmful

late() {
    run explain $in_order --keep 0 --regions-over 2M --json --top 0 --output "$scratch/late" -- \
        "$scratch/late_effect" "$scratch/made" 140000 &&
        [ "$(wc -l <"$scratch/made")" = 1 ] &&
        json late 'r["regions"]["count"] >= 1' "$(note 'by regions up to')" "$(note 'from there on')" \
            'r["instructions"] == r["instructions_executed"]'
}
check "up to its first change a run is repeated, from there on sampled" late

rerun() {
    rm -f "$scratch/made"
    run explain $in_order --keep 0 --regions-over 2M --rerun --json --top 0 --output "$scratch/rerun" -- \
        "$scratch/late_effect" "$scratch/made" 140000 &&
        json rerun 'r["regions"]["count"] >= 1' 'r["sampling"] is None' &&
        [ "$(wc -l <"$scratch/made")" -ge 1 ]
}
check "--rerun runs it twice all the same" rerun

inherited() {
    run explain $in_order --keep 0 --regions-over 1M --regions 4 --json --top 0 --output "$scratch/inherited" -- \
        bash -c 'echo once >&3; for ((i = 0; i < 150; i++)); do :; done' 3>>"$scratch/three" &&
        json inherited 'r["regions"]["count"] >= 1' && [ "$(cat "$scratch/three")" = once ]
}
check "what the second run writes to inherited descriptors goes nowhere" inherited

# In the last region, which is one of all there are, the last block is left before its end.
crashes() {
    cc -O1 -o "$scratch/crashes" tests/guests/crashes.c || return 1
    run explain $in_order --keep 0 --regions-over 1M --json --top 0 --output "$scratch/crashes.json" -- "$scratch/crashes" 2>/dev/null
    [ $? = 139 ] && json crashes.json 'r["regions"]["simulated"] == r["regions"]["slices"]' "$(note 'signal 11')"
}
check "a run that ends by a fault is explained by regions" crashes

threads() {
    run explain $in_order --keep 0 --regions-over 5M --warm 100K --limit 6M --stop --json --top 0 \
        --output "$scratch/threads" -- "$WORKLOADS/x86_64/threads" >/dev/null &&
        json threads 'r["regions"] is None' "$(note 'several threads')"
}
skip_without x86_64-workloads "threads are sampled in one pass" ||
    check "threads are sampled in one pass" threads

wanders() {
    run explain $in_order --no-repeatable --keep 0 --regions-over 2M --json --top 0 --output "$scratch/wanders.json" -- "$scratch/wanders" >/dev/null &&
        json wanders.json "$(note 'another way') or $(note 'not quite as the first')"
}
check "a run that does not repeat itself is told so" wanders

# Its way is all random: a sum of 20 numbers, told at the end.
repeats() {
    local times
    for times in 1 2; do
        run explain $in_order --keep 0 --regions-over 2M --regions 8 --json --top 0 --output "$scratch/repeats$times" -- "$scratch/wanders" >"$scratch/said$times" &&
            json repeats$times 'r["sampling"] is None' "not ($(note 'another way') or $(note 'not quite as the first'))" || return
    done
    same_file "$scratch/said1" "$scratch/said2" && run explain $in_order --limit 1 --seed 2 -- "$scratch/wanders" >"$scratch/said3" 2>/dev/null &&
        ! cmp -s "$scratch/said1" "$scratch/said3"
}
check "random numbers are the same in every run, another seed gives others" repeats

# Of its slices two or three are missing in the second run, and the regions before and behind.
detours() {
    run explain $in_order --keep 0 --regions-over 5M --json --top 0 --save --store "$scratch/detours.db" --output "$scratch/detours.json" -- \
        "$scratch/detours" "$scratch/out" >"$scratch/out" &&
        json detours.json 'r["sampling"] is None' '50 < r["regions"]["simulated"] < r["regions"]["slices"]' \
            'r["instructions"] == r["instructions_executed"]' \
            "$(note 'another way in part')" "$(note 'are left out')" &&
        weights_sum "$scratch/detours.db" "$scratch/detours.json"
}
# What is kept of all regions together stands for the whole run, but for rounding.
weights_sum() {
    python3 -S - "$1" "$2" <<'END'
import json, sqlite3, sys
store, report = sqlite3.connect(sys.argv[1]), json.load(open(sys.argv[2]))
rows = store.execute("""SELECT weight, (SELECT SUM(total) FROM profile JOIN event ON event.id = profile.event
    WHERE profile.session = session.id AND event.name = 'executions') FROM session""").fetchall()
total = sum(weight * executed for weight, executed in rows)
print(len(rows), total, report["instructions"])
assert len(rows) == 1 and rows[0][0] == 1
assert abs(total / report["instructions"] - 1) < 0.001
END
}
check "regions that the second run misses are left out, others stand for them" detours

stored_estimate() {
    local stored="--store $scratch/detours.db"
    run top $stored --json --output "$scratch/top.json" &&
        python3 -S - "$scratch/top.json" "$scratch/detours.json" <<'END' &&
import json, sys
top, report = (json.load(open(path)) for path in sys.argv[1:])
estimate = top["events"][0]["estimate"]
print(estimate)
assert (estimate["count"], estimate["of"], estimate["epochs"]) == (report["regions"]["simulated"], "regions", 1)
assert abs(estimate["simulated"] - report["instructions_simulated"] / report["instructions"]) < 1e-5
assert abs(estimate["interval"] - report["regions"]["cpi_half_interval_95"] / report["cpi"]) < 1e-5
END
        run top $stored >"$scratch/top" && grep -q '^cycles: .* ± .* %, estimated from .* regions$' "$scratch/top" &&
        grep -q 'epoch 1 is estimated from' "$scratch/top" && ! grep -q 'every cycle' "$scratch/top" &&
        run epochs list $stored >"$scratch/list" && grep -q 'cycles ± .* estimated from .* regions' "$scratch/list" &&
        run epochs list $stored --json >"$scratch/list.json" &&
        grep -q '"of": *"regions"' "$scratch/list.json" &&
        run annotate $stored main >"$scratch/annotated" && grep -q 'epoch 1 is estimated from' "$scratch/annotated" &&
        run diff $stored --epoch 1 --epoch 1 >"$scratch/diff" && grep -q 'what was estimated leaves ± ' "$scratch/diff"
}
# A profile that is exported says so, and beside an exact one both are named.
estimate_elsewhere() {
    local stored="--store $scratch/detours.db"
    run epochs export $stored --format callgrind "$scratch/detours.callgrind" >/dev/null 2>"$scratch/err" &&
        grep -q '^desc: Note: .* is estimated from .* regions: ' "$scratch/detours.callgrind" &&
        grep -q '^note: .* is estimated from .* regions: ' "$scratch/err" &&
        run sim $stored --save --limit 100K -o /dev/null -- true &&
        run diff $stored --epoch 2 --epoch 1 >"$scratch/diff" && grep -q '; of epoch 2 every cycle' "$scratch/diff" &&
        grep -q 'epoch 1 is estimated from' "$scratch/diff" &&
        run diff $stored --epoch 2 --epoch 2 >"$scratch/diff" && grep -q 'user code only, every cycle' "$scratch/diff"
}
check "... and the store knows that it is an estimate, and how good" stored_estimate
check "... which exports and comparisons say, too" estimate_elsewhere

systematic() {
    run explain $in_order --systematic --json --top 0 --output "$scratch/systematic" -- gzip -9 -c "$least" >/dev/null &&
        json systematic 'r["regions"] is None' 'r["instructions_simulated"] == r["instructions_executed"]'
}
check "--systematic takes one run" systematic
no_regions() {
    fails_with 125 '^culprit explain: --systematic: all in one pass, without --regions-over$' \
        run explain --systematic --regions-over 2M -- true &&
        fails_with 125 '^culprit explain: --exact: all in one pass, without --regions$' run explain --regions 20 --exact -- true &&
        fails_with 125 '^culprit explain: --exact and --systematic: one or the other$' \
            run explain --exact --systematic -- true &&
        fails_with 125 '^culprit explain: --exact and --systematic: one or the other$' \
            run explain --systematic --exact -- true &&
        fails_with 125 '^culprit explain: --fields: all in one pass, without --regions-over$' \
            run explain --fields --regions-over 1M -- true || return
    local option
    for option in --exact --systematic --fields; do
        fails_with 125 "^culprit explain: $option: all in one pass, without regions to --warm-up for\$" \
            run explain --warm-up 1M $option -- true || return
    done
}
check "... and no regions" no_regions
# Where nothing is skipped, there is nothing to warm for.
no_warming() {
    fails_with 125 '^culprit explain: --exact: every instruction is simulated, without --warm$' \
        run explain --warm 5 --exact -- true &&
        fails_with 125 '^culprit explain: --exact: every instruction is simulated, without --warm$' \
            run explain --exact --warm 4M -- true &&
        run explain --warm 5 --brief -- true
}
check "--exact warms nothing" no_warming

no_folder() {
    TMPDIR=/nowhere run explain -- true 2>"$scratch/error"
    [ $? = 125 ] && [ "$(wc -l <"$scratch/error")" = 1 ] && grep -q TMPDIR "$scratch/error"
}
check "no place for temporary files: one line" no_folder
# Standard input that finds no room in a temporary file: in the profiled part, which ends there, as
# is told while the command runs (it ends when that was told), and behind that part, where nothing
# more of it is needed.
cat >"$scratch/reads.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static char bytes[1 << 16];
static unsigned work(unsigned sum) {
    for (int i = 0; i < 3000000; i++) sum = sum * 31 + (sum >> 7) % 13;
    return sum;
}
static int is_empty(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_size == 0;
}
int main(int count, char **words) {
    unsigned sum = work((unsigned)count);
    if (count > 2) close(open(words[2], O_CREAT | O_WRONLY, 0600)); /* cannot be repeated */
    puts("waits");
    fflush(stdout);
    while (read(0, bytes, sizeof bytes) > 0) sum += bytes[0];
    do
        sum = work(sum);
    while (is_empty(words[1]));
    return sum == 1;
}
END
mkdir "$scratch/small"
# The input comes when the trace is no longer kept: the program waits for it, and culprit is behind --keep.
input() {
    local wait
    for ((wait = 0; wait < 600; wait++)); do
        [ ! -s "$scratch/out" ] || ls "$scratch"/small/*/* >/dev/null 2>&1 || break
        sleep 0.1
    done
    head -c 8M /dev/zero
}
no_room() {
    : >"$scratch/out"
    input | TMPDIR=$scratch/small timeout 100 "$CULPRIT" explain $in_order --no-what-if --regions-over 1M --keep 2M \
        -o "$scratch/text" -- "$scratch/reads" "$@" >"$scratch/out" 2>"$scratch/err"
}
input_of_profiled() {
    no_room "$scratch/err"
    [ $? = 125 ] && cat "$scratch/err" && [ "$(wc -l <"$scratch/err")" = 1 ] && grep -q 'standard input could not be kept' "$scratch/err"
}
input_of_rest() {
    no_room /nowhere "$scratch/written" && grep 'by regions up to instruction' "$scratch/text"
}
if cc -O1 -o "$scratch/reads" "$scratch/reads.c" && mount -t tmpfs -o size=4m none "$scratch/small" 2>"$scratch/.mount"; then
    check "standard input that cannot be kept is told at once" input_of_profiled
    check "... but for what is not needed" input_of_rest
    umount "$scratch/small"
else
    skip "standard input that cannot be kept is told at once" "$(head -n 1 "$scratch/.mount")"
    skip "... but for what is not needed" "$(head -n 1 "$scratch/.mount")"
fi

# What was run before the signal is explained, by regions of it or in full; two signals at once are
# one request. The commands here never end by themselves.
set -m
report=$scratch/partial
holds_bytes() {
    [ "$(stat -c %s "$1")" -ge "$2" ]
}
interrupted() {
    "$CULPRIT" explain $in_order --keep 0 --regions-over 5M --regions 5 --json -o "$report" -- seq 1 inf \
        >"$scratch/counted" 2>"$scratch/error" &
    local process=$!
    until_true $process holds_bytes "$scratch/counted" 2000000
    kill -INT $process $process
    wait $process
    [ $? = 130 ] && [ "$(grep -c 'interrupted after .* instructions' "$scratch/error")" = 1 ] &&
        told 'r["partial"]' 'r["instructions"] > 5e6' 'r["regions"]["slices"] >= 5' \
            '"PARTIAL" in r["notes"][0]'
}
check "interrupted while profiling: the part that was run is explained by regions" interrupted
interrupted_early() {
    mkfifo "$scratch/never"
    exec 9<>"$scratch/never"
    "$CULPRIT" explain $in_order --json -o "$report" -- sh -c 'echo ready >"$0"; cat' "$scratch/ready" <&9 \
        2>"$scratch/error" &
    local process=$!
    until_true $process test -s "$scratch/ready"
    kill -TERM $process
    wait $process
    [ $? = 143 ] && exec 9<&- &&
        told 'r["partial"]' 'r["regions"] is None' 'r["instructions"] > 10000' \
            '"PARTIAL" in r["notes"][0]'
}
check "... or in full, when it is short, as of a server" interrupted_early
set +m

finish
