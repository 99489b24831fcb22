# culprit sweep: a tiny program on 2 x 2 points; what is kept, what fails, files of points.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >work.c <<'PROGRAM'
#include <stdlib.h>
int main(int count, char **arguments) {
    static volatile unsigned table[1 << 16];
    unsigned x = 1;
    for (int i = 0; i < (count > 1 ? atoi(arguments[1]) : 1000); i++) {
        x = x * 1664525 + 1013904223;
        table[x >> 16] += i;
    }
    return 0;
}
PROGRAM
cc -O1 -static -o work work.c # without the work of the loader || exit 1
points=(--set l2.size=256K,1M --set core.rob=64,256 --cost 'l2.size/1K + 2*core.rob')

whole() {
    run sweep "${points[@]}" --keep kept --jobs 1 --json --sort given --csv one.csv --svg front.svg -o one.json -- ./work 2000 &&
        run sim --repeatable --set l2.size=1M --set core.rob=64 --json --top 0 -o sim.json -- ./work 2000 &&
        python3 -S - <<'PYTHON'
import csv, json, math
report, sim = json.load(open("one.json")), json.load(open("sim.json"))
points = report["points"]
assert [tuple(point["settings"].values()) for point in points] == [("256K", "64"), ("256K", "256"), ("1M", "64"), ("1M", "256")]
assert [point["cost"] for point in points] == [384, 768, 1152, 1536]
assert (report["simulated"], report["known_before"], report["failed"], report["partial"]) == (4, 0, 0, False)
results = [point["result"] for point in points]
# A point is what sim says of that machine.
assert results[2]["cycles"] == sim["cycles"] and results[2]["instructions"] == sim["instructions"]
assert all(abs(results[2]["components"][key] - sim["components"][key]) < 1 for key in sim["components"])
assert results[0]["speed"] == 1 and abs(results[3]["speed"] - results[0]["cycles"] / results[3]["cycles"]) < 1e-9
assert points[0]["front"] and results[1]["cycles"] < results[0]["cycles"] and points[1]["front"]
# Effects, from the four logarithms.
logs = [math.log(result["cycles"]) for result in results]
rob = (logs[1] + logs[3] - logs[0] - logs[2]) / 4
both = (logs[0] - logs[1] - logs[2] + logs[3]) / 4
effects = report["effects"]
assert [factor["factor"] for factor in effects["main"]] == ["l2.size", "core.rob"]
assert abs(effects["main"][1]["levels"][1]["percent"] - 100 * math.expm1(rob)) < 1e-9
assert abs(abs(math.log1p(effects["interactions"][0]["largest_percent"] / 100)) - abs(both)) < 1e-12
assert abs(sum(factor["share"] for factor in effects["main"]) + effects["interactions"][0]["share"] - 1) < 1e-9
rows = list(csv.DictReader(open("one.csv")))
assert [int(row["cycles"]) for row in rows] == [result["cycles"] for result in results]
assert [row["front"] for row in rows] == ["yes" if point["front"] else "no" for point in points]
picture = open("front.svg").read()
assert picture.startswith("<svg") and picture.count("<circle") == 4 and "l2.size/1K + 2*core.rob" in picture
PYTHON
}
check "2 x 2 points are what sim says of each; cost, front, effects, values, picture" whole

again() {
    run sweep "${points[@]}" --keep kept --csv two.csv --sort given -o text -- ./work 2000 &&
        grep -q '^4 points: 0 simulated, 4 known from before, 0 failed$' text && same_file one.csv two.csv && fits_100 text &&
        run sweep "${points[@]}" --set l1d.latency=7 --keep kept -o text -- ./work 2000 && grep -q '^4 points: 4 simulated, 0 known' text &&
        run sweep "${points[@]}" --keep kept -o text -- ./work 2001 && grep -q '^4 points: 4 simulated, 0 known' text
}
check "run again, nothing is simulated; of another machine or command, all is" again

jobs() {
    run sweep "${points[@]}" --jobs 2 --csv two.csv --sort given -o two -- ./work 2000 &&
        run sweep "${points[@]}" --jobs 1 --csv three.csv --sort given -o one -- ./work 2000 &&
        same_file one.csv two.csv && same_file one.csv three.csv && same_file one two
}
check "one job or two, kept or not: the same bytes" jobs

# A result that is torn, or lost, is simulated again, and comes out as it was.
torn() {
    local results=(kept/*.point.json)
    head -c 40 "${results[0]}" >torn && mv torn "${results[0]}" && rm "${results[1]}" kept/*.ctrace
    run sweep "${points[@]}" --keep kept --csv two.csv --sort given -o text -- ./work 2000 && same_file one.csv two.csv
}
check "what is torn or lost is made again" torn

regions() {
    run sweep --set core.rob=64,256 --regions-over 200K --regions 4 --keep long --json -o one.json -- ./work 100000 &&
        run sweep --set core.rob=64,256 --regions-over 200K --regions 4 --keep long --jobs 1 -o text -- ./work 100000 &&
        grep -q '^2 points: 0 simulated, 2 known' text && grep -q 'by regions$' text &&
        run explain --repeatable --set core.rob=64 --regions-over 200K --regions 4 --no-what-if --json --top 0 -o explain.json -- ./work 100000 &&
        python3 -S - <<'PYTHON'
import json
report, explain = json.load(open("one.json")), json.load(open("explain.json"))
assert report["programs"][0]["how"] == "by regions" and 1 < report["programs"][0]["regions"] <= 4
result = [point["result"] for point in report["points"] if point["settings"]["core.rob"] == "64"][0]
assert result["half_interval_95"] is None or result["half_interval_95"] > 0
assert abs(result["cycles"] / explain["cycles"] - 1) < 0.05, (result["cycles"], explain["cycles"])
PYTHON
}
check "a longer run by regions, which are captured once" regions

bad_point() {
    run sweep --set l2.size=256K,300K --json -o bad.json -- ./work 2000
    [ $? = 1 ] && python3 -S - <<'PYTHON'
import json
report = json.load(open("bad.json"))
good, bad = report["points"]
assert good["result"] and bad["result"] is None and "power of two" in bad["failure"]
assert report["failed"] == 1 and report["effects"] is None
PYTHON
}
check "a point that no machine can have is named, and the others go on" bad_point

file() {
    cat >sweep.ini <<'INI'
; two programs, one of which is not there
[program work]
command = ./work 2000
[program none]
command = ./nowork
[sweep]
machine = zen4, zen5
cost = core.rob
[set]
core.rob = 64, 256
INI
    run sweep --file sweep.ini --json -o file.json
    [ $? = 1 ] && run sweep --file sweep.ini -o text
    [ $? = 1 ] && grep -q 'none: cannot run ./nowork' text && python3 -S - <<'PYTHON'
import json
report = json.load(open("file.json"))
assert (report["simulated"], report["failed"], len(report["mean_speeds"])) == (4, 4, 4) and all(report["mean_speeds"])
assert report["machines"] == ["zen4", "zen5"] and report["programs"][1]["failure"]
PYTHON
}
check "programs, machines and settings of a file; a program that is not there" file

# In the phase of points, in a folder: what is done then is kept, and is not simulated again.
interrupted() {
    run sweep --full --set core.rob=64,96,128,160,192,224,256,288 --jobs 1 --keep cut -o cut.text -- ./work 100000 &
    local pid=$! status i
    for ((i = 0; i < 600; i++)); do
        compgen -G 'cut/*.point.json' >/dev/null && break
        sleep 0.05
    done
    kill -INT $pid
    wait $pid
    status=$?
    [ $status = 130 ] || [ $status = 0 ] || { echo "status $status"; return 1; } # 0: it was done before
    local kept
    kept=$(compgen -G 'cut/*.point.json' | wc -l)
    [ "$kept" -ge 1 ] && [ $status = 0 ] || grep -q "interrupted: $((8 - kept)) of 8 points are missing" cut.text || return 1
    run sweep --full --set core.rob=64,96,128,160,192,224,256,288 --keep cut -o text -- ./work 100000 &&
        grep -q "^8 points: $((8 - kept)) simulated, $kept known from before, 0 failed$" text
}
check "interrupted, it ends with what there is; run again, with the rest" interrupted

# After one program was captured, in the midst of the next.
interrupted_early() {
    mkfifo never && exec 9<>never && echo 'echo >began; read line <never' >waits.sh || return 1
    printf '%s\n' '[program work]' 'command = ./work 10' '[program waits]' 'command = sh waits.sh' \
        '[sweep]' 'machine = zen4' '[set]' 'core.rob = 64, 256' >early.ini
    "$CULPRIT" sweep --file early.ini >early.text 2>early.err &
    local process=$! status
    until_true $process test -e began || return 1
    kill -INT $process
    wait $process
    status=$?
    without_progress early.err
    [ $status = 130 ] && grep -q '^culprit: interrupted before any point was simulated$' early.err
}
check "interrupted before any point, it ends as by the signal" interrupted_early

check "a key that is none" fails_with 1 'did you mean size' run sweep --set l2.sise=1M ./work
check "a machine that is none" fails_with 1 'did you mean zen5' run sweep --machine zen4,zem5 ./work
check "a cost of what is no key" fails_with 1 'character 5: core.robe: .*did you mean rob' run sweep --cost '1 + core.robe' ./work
check "a picture without costs" fails_with 1 'add --cost' run sweep --svg x.svg ./work
check "a value twice" fails_with 2 '64 is there twice' run sweep --set core.rob=64,64 ./work
check "... written in two ways" fails_with 2 '32K is there twice' run sweep --set l1d.size=32K,64K,32768 ./work
check "a command that is not there" fails_with 127 'cannot run ./nowork' run sweep ./nowork
of_a_pipe() {
    mkfifo piped.ctrace && exec 8<>piped.ctrace || return 1
    fails_with 1 'piped.ctrace: must be a regular file' run sweep --set core.rob=64,128 piped.ctrace
    local status=$?
    exec 8>&-
    return $status
}
check "a trace in a pipe cannot be read again" of_a_pipe
check "a full disk" fails_with 1 'No space left' run sweep --csv /dev/full ./work 100

# Also when it is known from before.
of_a_cut_trace() {
    local round
    run trace -o whole.ctrace -- ./work 100000 >/dev/null 2>&1 &&
        head -c $(($(stat -c %s whole.ctrace) * 3 / 4)) whole.ctrace >broken.ctrace || return 1
    for round in 1 2; do
        run sweep --keep broken -o text broken.ctrace && grep -q '^ - broken.ctrace: the trace is cut short after [1-9]' text || { cat text; return 1; }
    done
}
check "a trace that is cut short is told" of_a_cut_trace

finish
