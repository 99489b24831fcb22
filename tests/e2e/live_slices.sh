# Slices of live samples: by process id, thread, processor, control group and time, what is told
# apart adds up to the whole, and each slice can be looked at alone.
. tests/e2e/lib.sh

export CULPRIT_STORE=$scratch/profiles.db
cat >"$scratch/spin.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}
__attribute__((noinline)) static void spin(double length) {
    const double end = seconds(CLOCK_THREAD_CPUTIME_ID) + length;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (volatile int i = 0; i < 10000; i++)
            continue;
}
static void *body(void *length) {
    spin(*(double *)length);
    return NULL;
}
/* Two threads, one with twice the time of the other. */
int main(void) {
    double one = 0.2, two = 0.4;
    pthread_t thread;
    pthread_create(&thread, NULL, body, &one);
    body(&two);
    pthread_join(thread, NULL);
    return 0;
}
C
gcc -O1 -pthread -o "$scratch/spin" "$scratch/spin.c" || exit 1

# rows ARGUMENTS... -- [EXPRESSION over rows, total and the report top]...
rows() {
    local arguments=()
    while [ "$1" != -- ]; do arguments+=("$1"); shift; done
    shift
    run top --json --top 0 "${arguments[@]}" >"$scratch/top.json" && python3 -S - "$scratch/top.json" "$@" <<'PYTHON'
import json, sys
top = json.load(open(sys.argv[1]))
event = top["events"][0]["name"]
rows = top["rows"]
for row in rows:
    row["value"] = row["values"][event]
total = top["events"][0]["total"]
assert abs(sum(row["value"] for row in rows) - total) < 1e-6 * total
for expression in sys.argv[2:]:
    assert eval(expression), (expression, [{k: v for k, v in row.items() if k != "over_time"} for row in rows][:10])
PYTHON
}
# figure EXPRESSION: of the report that `rows` had last.
figure() {
    python3 -S -c 'import json, sys; top = json.load(open(sys.argv[1])); rows = top["rows"]; print(eval(sys.argv[2]))' \
        "$scratch/top.json" "$1"
}

recorded() {
    run record -o "$scratch/record.txt" -- sh -c '"$1" & first=$!; "$1"; wait $first' sh "$scratch/spin" &&
        rows --by process -- '{row["process"] for row in rows} >= {"spin"}' && total=$(figure 'top["events"][0]["total"]')
}
check "a recording tells its samples apart" recorded

# In a store of its own.
one_name() {
    local CULPRIT_STORE=$scratch/one_name.db
    mkdir -p "$scratch/one" "$scratch/other" && cp "$scratch/spin" "$scratch/one/same" && cp "$scratch/spin" "$scratch/other/same" || return 1
    run record -o "$scratch/record.txt" -- "$scratch/one/same" &&
        rows --by process -- '[row["executable"] for row in rows if row["process"] == "same"] == ["'"$scratch"'/one/same"]' &&
        run record -o "$scratch/record.txt" -- "$scratch/other/same" &&
        rows --epoch all --by process -- '[row["executable"] for row in rows if row["process"] == "same"] == ["[several]"]'
}
check "of programs of one name no single executable is told" one_name

adds_up() {
    local by
    for by in pid thread cpu cgroup; do
        rows --by $by -- "total == $total" || return 1
    done
}
check "pid, thread, cpu and cgroup each add up to the whole" adds_up

# Of each of the two programs, two threads; the one has half the samples of the other. In its own code:
# what the machine does in its interrupts besides falls on either.
threads() {
    rows --by thread --process spin --image spin -- 'len({row["pid"] for row in rows if row["value"] > 50}) == 2' \
        'len([row for row in rows if row["value"] > 50]) == 4' \
        'all(row["thread"] for row in rows)' || return 1
    python3 -S - "$scratch/top.json" <<'PYTHON'
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["values"][json.load(open(sys.argv[1]))["events"][0]["name"]] > 50]
for pid in {r["pid"] for r in rows}:
    main, other = sorted((r for r in rows if r["pid"] == pid), key=lambda r: r["thread"])
    values = [list(r["values"].values())[0] for r in (main, other)]
    assert main["thread"] == pid and 1.5 < values[0] / values[1] < 2.6, (values, rows)
PYTHON
}
check "threads have the time that they used" threads

# Each row's own slice has as many samples as the row, by every grain and in every view.
alone() {
    local by option number
    for by in pid thread cpu; do
        rows --by $by -- 'True'
        number=$(figure "rows[0]['$by']")
        option=$(figure "sum(row['values'][top['events'][0]['name']] for row in rows if row['$by'] == $number)")
        rows --$by "$number" -- "total == $option" "top['only']['$by'] == $number" || return 1
    done
    rows --by cgroup -- 'True'
    number=$(figure 'rows[0]["cgroup"]')
    rows --cgroup "$number" -- "total == $total"
}
check "a slice alone has what its row has" alone

over_time() {
    rows --over-time --by process -- 'top["timeline"]["untimed"] == 0' \
        'all(abs(sum(row["over_time"]) - row["value"]) < 1e-6 for row in rows)' \
        'all(len(row["over_time"]) == top["timeline"]["steps"] for row in rows)' || return 1
    local begin middle
    begin=$(figure 'top["timeline"]["begin_seconds"]')
    middle=@$(python3 -S -c "print($begin + 0.3)")
    rows --until "$middle" -- "0 < total < $total" && before=$(figure 'top["events"][0]["total"]')
    rows --since "$middle" -- "total == $total - $before"
}
check "steps of time add up, and what is before and after a moment" over_time

# The head tells the time that was looked at, of which the first epoch has nothing.
head_of_a_slice() {
    local CULPRIT_STORE=$scratch/one_name.db begin
    sleep 1.1 && run record -o "$scratch/record.txt" -- "$scratch/spin" &&
        rows --over-time -- True && begin=$(figure 'int(top["timeline"]["begin_seconds"])') &&
        run top --epoch 1..3 --since "@$begin" >"$scratch/text" &&
        grep -qF "$(date -u -d "@$begin" '+%F %T') to " "$scratch/text"
}
over_time_text() {
    run top --over-time --svg "$scratch/time.svg" >"$scratch/text" && fits_100 "$scratch/text" &&
        grep -qE '^from [0-9:.]+ to [0-9:.]+ UTC, a block for ' "$scratch/text" &&
        grep -qE '^100\.00% +[0-9.]+ cpu .*[▁▂▃▄▅▆▇█].* all$' "$scratch/text" &&
        python3 -S -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$scratch/time.svg" &&
        grep -q '<title>all others</title>' "$scratch/time.svg"
}
check "the head tells the time that was looked at" head_of_a_slice
check "over time as text and as a picture" over_time_text

# A run of less than a second in a slice of an hour: of the hour it would be 0.0003 of a processor.
over_time_in_part() {
    run record --slices time=1h --store "$scratch/hour.db" -o "$scratch/record.txt" -- "$scratch/spin" &&
        run top --store "$scratch/hour.db" --over-time >"$scratch/text" || return 1
    awk '$NF == "all" { peak = $2 } END { exit !(peak > 0.003) }' "$scratch/text"
}
check "a slice that was watched in part has the rate of that part" over_time_in_part

# A procedure is annotated of one thread alone; diff and variance take slices too.
other_verbs() {
    rows --by thread --process spin -- 'True'
    thread=$(figure 'rows[0]["thread"]')
    run annotate --thread "$thread" spin --json >"$scratch/annotated.json" &&
        python3 -S -c 'import json, sys; a = json.load(open(sys.argv[1])); assert a["only"]["thread"] == int(sys.argv[2])' \
            "$scratch/annotated.json" "$thread" &&
        run record -o "$scratch/record.txt" -- "$scratch/spin" &&
        run diff --epoch 1 --epoch 2 --cpu "$(rows --by cpu -- True && figure 'rows[0]["cpu"]')" >"$scratch/diff" &&
        grep -qE '^only cpu [0-9]+$' "$scratch/diff"
}
check "annotate and diff of a slice" other_verbs

refused() {
    fails_with 1 'no such samples' run top --epoch 1 --pid 1 &&
        fails_with 1 'no epoch in this time' run top --until 2000-01-01 &&
        fails_with 1 'no epoch of nobody' run top --host nobody &&
        fails_with 2 'a moment such as' run top --since whenever &&
        fails_with 2 '--until is not after --since' run top --since now --until '1h ago' &&
        fails_with 2 'add --over-time' run top --svg "$scratch/x.svg" &&
        fails_with 125 'told apart by pid, thread, cpu, cgroup' run record --slices tid -- true
}
check "what is not there is said" refused

# What was recorded without slices says how to have them.
untold() {
    run record --slices none -o "$scratch/record.txt" -- "$scratch/spin" &&
        fails_with 1 'not told apart by thread' run top --thread 5 &&
        fails_with 1 'not told apart by time' run top --over-time &&
        rows --by thread --process spin -- 'len(rows) == 1' 'rows[0]["thread"] is None'
}
check "without slices it is said how to have them" untold

# Stores are copied and merged with their slices.
copied() {
    run epochs export --epoch 1 "$scratch/copy.db" && CULPRIT_STORE=$scratch/copy.db run epochs check &&
        rows --epoch 1 --by thread -- 'True' && cp "$scratch/top.json" "$scratch/first.json" &&
        CULPRIT_STORE=$scratch/copy.db rows --by thread -- 'True' &&
        python3 -S - "$scratch/first.json" "$scratch/top.json" <<'PYTHON'
import json, sys
one, other = (json.load(open(name))["rows"] for name in sys.argv[1:])
assert one == other
PYTHON
}
check "an exported epoch keeps them" copied

# With their callers.
stacks() {
    run record --stacks -o "$scratch/record.txt" -- "$scratch/spin" &&
        rows --by thread --process spin -- 'True' && thread=$(figure 'rows[0]["thread"]') &&
        all=$(figure 'rows[0]["values"][top["events"][0]["name"]]') &&
        run top --tree --thread "$thread" --json >"$scratch/tree.json" &&
        python3 -S -c 'import json, sys; t = json.load(open(sys.argv[1])); assert t["event"]["total"] == float(sys.argv[2]), (t["event"], sys.argv)' \
            "$scratch/tree.json" "$all"
}
check "a tree of calls of one thread" stacks
finish
