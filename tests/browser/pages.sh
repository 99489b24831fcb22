# Pages of real programs in a headless browser: every view at two widths, and a picture of each.
. tests/e2e/lib.sh
mkdir -p build/pictures

use() {
    python3 tests/browser/pages.py "$@"
}

page_of() {
    local name=$1
    shift
    run explain --html "$scratch/$name.html" -o /dev/null -- "$@" >/dev/null &&
        { [ $name != gzip ] || [ "$(stat -c %s "$scratch/$name.html")" -lt 3000000 ]; } &&
        use "$scratch/$name.html" views sorts filters opens_code zooms keyboard is_wide_enough &&
        use --pictures build/pictures "$name=$scratch/$name.html"
}
check "gzip: under 3 MB, and every view works" page_of gzip gzip -9 -c docs/guide.md
check "hashjoin, with source" page_of hashjoin "$WORKLOADS/x86_64/hashjoin"
check "python3" page_of python python3 -S -c 'print(sum(i * i for i in range(20000)))'

others() {
    local page=$scratch/other.html
    run compare --html "$page" -o /dev/null "$WORKLOADS/x86_64/chase" "$WORKLOADS/x86_64/list" >/dev/null 2>&1
    run icost --html "$page" -o /dev/null --limit 3M -- "$WORKLOADS/x86_64/hashjoin" && use "$page" views is_wide_enough &&
        run profilers --html "$page" -o /dev/null --limit 3M -- "$WORKLOADS/x86_64/hashjoin" && use "$page" views is_wide_enough &&
        run sharing --html "$page" -o /dev/null -- "$WORKLOADS/x86_64/counters" && use "$page" views is_wide_enough
}
check "icost, profilers and sharing" others

# What threads did over the cycles of the program, and who called whom in two runs.
in_time() {
    local page=$scratch/threads.html
    run explain --no-what-if --html "$page" -o /dev/null -- "$WORKLOADS/x86_64/barrier" uneven 3 4 &&
        use "$page" elapsed views is_wide_enough && use --pictures build/pictures "threads=$page" &&
        run compare --html "$page" -o /dev/null "$WORKLOADS/x86_64/branchy 2000" "$WORKLOADS/x86_64/branchy 3000" &&
        use "$page" views differs zooms is_wide_enough && use --pictures build/pictures "compare=$page"
}
check "threads over time, and a differential flame graph" in_time

compared_threads() {
    local page=$scratch/compared.html
    run compare --html "$page" -o /dev/null "$WORKLOADS/x86_64/queue" "$WORKLOADS/x86_64/critical" && use "$page" whole_stacks views
}
check "cycles of all threads are told apart from those elapsed" compared_threads

# A stranger's five questions, each answered in at most three clicks from the opened page: the hottest line and
# its cause; who calls it; what mending it would give; what changed between two builds; which phase is slow.
strangers() {
    local page=$scratch/slow.html
    cc -O1 -g -o "$scratch/slow" tests/browser/slow.c && cc -O1 -g -DSTEP=1 -o "$scratch/quick" tests/browser/slow.c &&
        run explain --regions-over 200K --regions 12 --html "$page" -o /dev/null -- "$scratch/slow" >/dev/null &&
        use "$page" answers is_wide_enough || return 1
    run compare --html "$page" -o /dev/null "$scratch/slow" "$scratch/quick" && use "$page" answers_of_two is_wide_enough
}
check "five questions are answered in three clicks" strangers

# Pages of every kind of a program in whose names is what a page could take for something else.
hostile() {
    local page=$scratch/hostile.html program arguments=('"</script><script>window.hacked=1</script>' __proto__)
    mkdir "$scratch/names" && python3 -S tests/e2e/hostile_names.py "$scratch/names" || return 1
    program=$(echo "$scratch"/names/\<img*\>)
    cp "$program" "$scratch/names/<b>old"
    run explain --html "$page" -o /dev/null -- "$program" "${arguments[@]}" && use "$page" inert views zooms &&
        run sim --by loop --data --html "$page" -o /dev/null -- "$program" && use "$page" inert &&
        run icost --critical --html "$page" -o /dev/null -- "$program" && use "$page" inert &&
        run profilers --tree --html "$page" -o /dev/null -- "$program" && use "$page" inert &&
        run sharing --html "$page" -o /dev/null -- "$program" && use "$page" inert &&
        run compare --html "$page" -o /dev/null "$scratch/names/<b>old" "$scratch/names/plain" && use "$page" inert
}
check "hostile names are text in every kind of page" hostile

# A tree of a million frames, and a hundred thousand functions, written as culprit writes them.
large() {
    python3 -S - "$scratch/gzip.html" "$scratch/large.html" <<'PYTHON'
import json, random, re, sys
text = open(sys.argv[1]).read()
start = text.index('<script type="application/json" id="profile">') + len('<script type="application/json" id="profile">')
end = text.index("</script>", start)
profile = json.loads(text[start:end])
random.seed(1)
frames, functions = 1000000, 100000
profile["texts"] += [f"function_{i}" for i in range(functions)]
first = len(profile["texts"]) - functions
profile["functions"] = [[first + i, 0, i * 16, 16, -1, 0, 10, 840, [0, 840]] for i in range(functions)]
profile["functions_total"] = functions
profile["code"], profile["loops"] = [], []
profile["procedures"] = [[first + i, 0] for i in range(functions)]
parent = [-1] + [max(0, i - 1 - int(random.random() ** 3 * min(i, 5000))) for i in range(1, frames)]
profile["tree"] = {"parent": parent, "procedure": [-1] + [random.randrange(functions) for _ in range(frames - 1)],
                   "self": [0] + [random.randrange(1000) for _ in range(frames - 1)], "instructions": [10] * frames,
                   "calls": [1] * frames, "cell_frame": [], "cell_event": [], "cell_cycles": []}
open(sys.argv[2], "w").write(text[:start] + json.dumps(profile, separators=(",", ":")).replace("<", "\\u003c") + text[end:])
PYTHON
    use "$scratch/large.html" sorts filters seconds
}
check "a million frames and a hundred thousand functions" large

finish
