# culprit calibrate: a simulated machine is read back, machine files, what is refused.
. tests/e2e/lib.sh

file=$scratch/host.ini

# value WHAT: of the finding, from the JSON report.
value() {
    python3 -S -c 'import json, sys
for finding in json.load(open(sys.argv[1]))["findings"]:
    if finding["what"] == sys.argv[2]:
        print(finding.get("value", finding["state"]))' "$scratch/report.json" "$1"
}

# A simulated run in a hurry is as exact but where a predictor or a bank is not warm yet.

# A machine unlike any that is shipped, so that no figure can be the base's.
reads_back() {
    { echo 'base = zen4'; echo '[core]'; echo 'dispatch_width = 5'; echo 'store_forward = 9'
      echo 'eliminate_moves = no'; echo 'eliminate_additions = yes'
      echo '[branch]'; echo 'ras_entries = 24'; } >"$scratch/odd.ini"
    run calibrate --quick --simulated "$scratch/odd.ini" --only width --only rename --only forwarding \
        --only branch --json >"$scratch/report.json" || return 1
    test "$(value 'dispatch width')" = 5.0 && test "$(value 'store to load')" = 9.0 &&
        test "$(value 'moves take no time')" = no &&
        test "$(value 'additions of constants take no time')" = yes &&
        test "$(value 'compare and branch are one µop')" = yes &&
        test "$(value 'return stack')" = 24.0 || { cat "$scratch/report.json"; return 1; }
    # 8 from fetch to dispatch, 3 from execution to fetch, 1 to issue, 1 to execute
    python3 -S -c 'import sys; sys.exit(abs(float(sys.argv[1]) - 13) > 1)' "$(value misprediction)"
}

# 5 ways of 512 sets, of which 3 may have branches to other pages; half of the targets of an indirect
# jump are predicted where there are about as many as entries, of which machines have a power of two.
branches_read_back() {
    { echo 'base = zen4'; echo '[branch]'; echo 'tage_max_history = 40'; echo 'btb_entries = 2560'
      echo 'btb_ways = 5'; echo 'btb_far_ways = 3'; echo 'btb_miss_penalty = 11'; echo 'indirect_entries = 128'
      echo 'call_bubble = 2'; echo 'return_bubble = 1'; echo 'far_bubble = 5'; echo 'far_bit = 39'
    } >"$scratch/odd.ini"
    run calibrate --simulated "$scratch/odd.ini" --only history --only targets --only calls -o "$file" \
        >"$scratch/text" &&
        grep -q '^tage_max_history .* = 40 .*; measured$' "$file" &&
        grep -q '^btb_entries .* = 2560 .*; measured' "$file" &&
        grep -q '^btb_far_ways .* = 3 .*; measured: branch.far_jumps' "$file" &&
        grep -q '^btb_returns .* = no .*; measured' "$file" &&
        grep -q '^btb_miss_penalty .* = 11 .*; measured' "$file" &&
        grep -q '^call_bubble .* = 2 .*; measured' "$file" &&
        grep -q '^return_bubble .* = 1 .*; measured' "$file" &&
        grep -q '^far_bubble .* = 5 .*; measured' "$file" &&
        grep -q '^far_bit .* = 39 .*; measured' "$file" &&
        grep -q '^indirect_entries .* = 128 .*; measured: branch.indirect_targets' "$file" ||
        { cat "$scratch/text" "$file"; return 1; }
}

# Two buffers, of which the second loses 3 cycles: what neither holds takes 9 beside a jump of the
# first. What conditional branches tell alone the targets' order does not.
branches_of_two_buffers_read_back() {
    { echo 'base = zen3'; echo '[branch]'; echo 'btb_entries = 2560'; echo 'btb_ways = 5'
      echo 'btb_far_ways = 0'; echo 'near_btb_entries = 128'; echo 'near_btb_bubble = 3'; echo 'btb_miss_penalty = 9'
      echo 'indirect_entries = 256'; } >"$scratch/odd.ini"
    run calibrate --simulated "$scratch/odd.ini" --only targets -o "$file" >"$scratch/text" &&
        grep -q '^btb_entries .* = 2560 .*; measured' "$file" &&
        grep -q '^btb_far_ways .* = 0 .*; measured' "$file" &&
        grep -q '^btb_returns .* = yes .*; measured' "$file" &&
        grep -q '^btb_miss_penalty .* = 9 .*; measured' "$file" &&
        grep -q '^indirect_entries .* = 256 .*; measured: branch.indirect_targets' "$file" &&
        grep -q 'that conditional branches tell; their order tells few' "$scratch/text" ||
        { cat "$scratch/text" "$file"; return 1; }
}

text_is_whole() {
    local parts='--only calls --only tlb --only forwarding --only fused --only rename --only forms'
    run calibrate --quick --simulated granite-rapids $parts >"$scratch/text" &&
        run calibrate --quick --simulated granite-rapids $parts --json >"$scratch/report.json" &&
        grep -q '^ *measured  *granite-rapids$' "$scratch/text" &&
        grep -qx '      renamed, in [01]\.[0-9] cycles: forwarding is not seen' "$scratch/text" &&
        python3 -S -c 'import json, sys
lines = open(sys.argv[1]).read().splitlines()
assert max(map(len, lines)) <= 80, max(lines, key=len)
for finding in json.load(open(sys.argv[2]))["findings"]:
    line = next(line for line in lines if line.strip().startswith(finding["what"] + " "))
    assert line[40:50].strip() and line[49] != " " and line[50:51] in ("", " "), line
' "$scratch/text" "$scratch/report.json"
}

# No other thread takes a part of a simulated core: it is the pipes of one in order.
no_width_is_no_thread() {
    run calibrate --quick --simulated alpha21164 --only width >"$scratch/text" &&
        grep -q 'no mix of instructions comes near a whole number' "$scratch/text" ||
        { cat "$scratch/text"; return 1; }
}

# Sets of the last cache go by page frames, which have no order: what it can hold is not exact.
sizes_are_told_in_units() {
    run calibrate --quick --simulated granite-rapids --only caches >"$scratch/text" || return 1
    tr -s ' \n' ' ' <"$scratch/text" | grep -q 'the latency rises from [0-9.]* MiB to [0-9.]* MiB ' &&
        ! grep -q '[0-9]e+' "$scratch/text" || { cat "$scratch/text"; return 1; }
}

# A load that waits: 1 cycle for the store's issue, 1 for its own address, 7 for what is forwarded.
# One that does not runs again so much later, as its fetch begins, and not a cycle more.
ordering_reads_back() {
    local known passed
    for words in 'disambiguation = perfect' 'violation_penalty = 5' 'violation_penalty = 25'; do
        { echo 'base = zen4'; echo '[core]'; echo "$words"; } >"$scratch/odd.ini"
        run calibrate --simulated "$scratch/odd.ini" --only ordering --json >"$scratch/report.json" ||
            return 1
        known+=" $(value 'a load that is known to follow it')"
        passed+=" $(value 'a load that passed its store, besides')"
    done
    echo "known $known, passed $passed"
    python3 -S -c 'import sys
known, passed = (list(map(float, words.split())) for words in sys.argv[1:])
sys.exit(abs(known[0] - 9) > 0.5 or abs(passed[0] - 9) > 0.5 or
         abs(passed[2] - passed[1] - 20) > 0.5 or passed[1] < passed[0] + 10)' "$known" "$passed"
}

# Of a machine that minds neither, 0 and once as many slots; with blocks of 32 bytes a store over the
# end of a line takes what one over the end of a block does, whatever is said of lines.
splits_read_back() {
    local words read=
    for words in 'split_load = 0;split_store = 0' 'split_load = 3;split_store = 2' \
        'split_load = 1;split_store = 1;store_block = 32'; do
        { echo 'base = zen4'; echo '[core]'; tr ';' '\n' <<<"$words"; } >"$scratch/odd.ini"
        run calibrate --simulated "$scratch/odd.ini" --only splits --json >"$scratch/report.json" ||
            return 1
        read+=" $(value "a load over a line's end, later by")"
        read+=" $(value "a load over a line's end, as" | cut -c 1-3)"
        read+=" $(value "a store over a line's end, besides")"
    done
    echo "read$read"
    test "$read" = ' 0 1.0 0 3.0 2.0 2.0 1.0 2.0 unknown'
}

words_read_back() {
    local words read=
    for words in 'partial_store = 0' 'partial_store = 3' 'partial_store = 5;partial_store_recent = 6'; do
        { echo 'base = zen4'; echo '[core]'; echo 'store_block = 32'; tr ';' '\n' <<<"$words"; } >"$scratch/odd.ini"
        run calibrate --quick --simulated "$scratch/odd.ini" --only words --json >"$scratch/report.json" ||
            return 1
        read+=" $(value 'a byte to a word just written, besides') $(value 'just: so long before')"
    done
    echo "read$read"
    test "$read" = ' 0  3.0 4.0 5.0 6.0'
}

# On a machine whose way to dispatch and to commit is longer, too.
cpuid_reads_back() {
    local cycles read=
    for cycles in 0 100 15000; do
        { echo 'base = icelake-server'; echo '[core]'; echo "cpuid_cycles = $cycles"; } >"$scratch/odd.ini"
        run calibrate --quick --simulated "$scratch/odd.ini" --only cpuid --json >"$scratch/report.json" &&
            run calibrate --quick --simulated "$scratch/odd.ini" --only cpuid -o "$scratch/read.ini" || return 1
        read+=" $(printf %.0f "$(value CPUID)") $(sed -n 's/^cpuid_cycles *= *\([0-9]*\).*/\1/p' "$scratch/read.ini")"
    done
    echo "read$read"
    test "$read" = ' 26 0 132 100 15032 15000'
}

# Neither sizes nor ways are powers of two; a load takes a cycle besides for its address. Small, so
# that chases are short.
caches_read_back() {
    { echo 'base = zen4'; echo '[l1d]'; echo 'size = 28K'; echo 'ways = 14'; echo 'latency = 5'
      echo '[l2]'; echo 'size = 384K'; echo 'ways = 12'; echo 'latency = 17'
      echo '[llc]'; echo 'size = 5632K'; echo 'ways = 11'; echo 'latency = 60'; } >"$scratch/odd.ini"
    run calibrate --quick --simulated "$scratch/odd.ini" --only caches --json -o "$file" \
        >"$scratch/report.json" || return 1
    test "$(value 'L1 size')" = 28672.0 && test "$(value 'L1 ways')" = 14.0 &&
        test "$(value 'L2 size')" = 393216.0 && test "$(value 'L2 ways')" = 12.0 &&
        test "$(value 'LLC size')" = 5767168.0 && test "$(value 'LLC ways')" = 11.0 &&
        test "$(value 'L1 line')" = 64.0 || { cat "$scratch/report.json"; return 1; }
    grep -q '^latency .* = 5 .*; measured: l1d.load_to_use 6$' "$file" &&
        grep -q '^latency .* = 17 .*; measured: l2.load_to_use' "$file" &&
        grep -q '^latency .* = 60 .*; measured: llc.load_to_use' "$file" ||
        { cat "$file"; return 1; }
}

# The sets of its L2 go by page frames: no lines fill one on purpose, and some pages are in too few
# sets to be held, but the line of the L1 is as long as it is.
frames_are_not_misread() {
    run calibrate --quick --simulated zen3 --only caches --json >"$scratch/report.json" &&
        test "$(value 'L1 line')" = 64.0 && test "$(value 'L2 ways')" = unknown &&
        test "$(value 'L2 size')" = unknown || { cat "$scratch/report.json"; return 1; }
}

# Which lines its last cache keeps is drawn by lot: a page table's are in memory at times.
window_by_lot() {
    run calibrate --quick --simulated granite-rapids --only window --json >"$scratch/report.json" &&
        test "$(value 'reorder buffer')" = 512.0 && test "$(value 'registers of flags')" = unknown ||
        { cat "$scratch/report.json"; return 1; }
}

# Few sets in each: of lines at some power of two from each other, not all are in one set of a level.
small_caches_read_back() {
    { echo 'base = zen4'; echo '[l2]'; echo 'size = 192K'; echo 'ways = 12'
      echo '[llc]'; echo 'size = 1M'; echo 'ways = 16'; } >"$scratch/odd.ini"
    run calibrate --quick --simulated "$scratch/odd.ini" --only caches --json \
        >"$scratch/report.json" || return 1
    test "$(value 'L2 size')" = 196608.0 && test "$(value 'L2 ways')" = 12.0 &&
        test "$(value 'LLC size')" = 1048576.0 && test "$(value 'LLC ways')" = 16.0 ||
        { cat "$scratch/report.json"; return 1; }
}

tlbs_read_back() {
    { echo 'base = zen4'; echo '[dtlb]'; echo 'entries = 24'; echo 'ways = 6'
      echo '[l2tlb]'; echo 'entries = 384'; echo 'ways = 12'; echo 'latency = 9'
      echo '[tlb]'; echo 'page_walk = 41'; echo 'walk_interval = 13'; } >"$scratch/odd.ini"
    run calibrate --simulated "$scratch/odd.ini" --quick --only tlb -o "$file" >"$scratch/text" &&
        grep -q '^entries .* = 24 .*; measured$' "$file" &&
        grep -q '^ways .* = 6 .*; measured$' "$file" &&
        grep -q '^entries .* = 384 .*; measured$' "$file" &&
        grep -q '^ways .* = 12 .*; measured$' "$file" &&
        grep -q '^latency .* = 9 .*; measured' "$file" &&
        grep -q '^page_walk .* = 41 .*; measured' "$file" &&
        grep -q '^walk_interval .* = 13 .*; measured' "$file" &&
        grep -q '^walkers .* = 0 .*; not measurable here; published' "$file" || { cat "$scratch/text"; return 1; }
}

# In a virtual machine walks read the host's tables too, 64 bytes for each page of many: of few pages
# all are in the L2. Of pages that were never loaded from they are in some cache, as natively.
tables_of_a_host_read_back() {
    { echo 'base = zen4'; echo '[l2]'; echo 'size = 256K'; echo '[l2tlb]'; echo 'entries = 1K'
      echo 'ways = 8'; echo '[tlb]'; echo 'page_walk = 20'; echo 'walk_level = 2'
      echo 'host_tables = yes'; echo 'walkers = 3'; echo 'walk_interval = 40'
    } >"$scratch/odd.ini"
    run calibrate --simulated "$scratch/odd.ini" --only tlb --only memory --only window --json \
        -o "$file" >"$scratch/report.json" &&
        grep -q '^entries .* = 1K .*; measured$' "$file" &&
        grep -q '^ways .* = 8 .*; measured$' "$file" &&
        grep -q '^page_walk .* = 20 .*; measured' "$file" &&
        grep -q '^walkers .* = 3 .*; measured' "$file" &&
        grep -q '^walk_interval .* = 40 .*; measured' "$file" &&
        grep -q '^rob .* = 320 .*; measured' "$file" &&
        python3 -S -c 'import sys; sys.exit(abs(float(sys.argv[1]) - 433) > 2)' \
            "$(value 'memory load to use')" || { cat "$scratch/report.json"; return 1; }
}

new_pages_read_back() {
    local cleared
    for cleared in yes no; do
        { echo 'base = zen4'; echo '[l1d]'; echo "cleared_pages = $cleared"; } >"$scratch/odd.ini"
        run calibrate --quick --simulated "$scratch/odd.ini" --only pages -o "$file" >"$scratch/text" &&
            grep -q "^cleared_pages .* = $cleared .*; measured$" "$file" ||
            { cat "$scratch/text"; return 1; }
    done
}

# Few misses at once, and slow memory; then a bus that a core can fill, 4 bytes a cycle at 5 GHz.
memory_reads_back() {
    { echo 'base = zen4'; echo '[l1d]'; echo 'mshrs = 9'; echo '[dram]'
      echo 'base_latency = 210'; } >"$scratch/odd.ini"
    run calibrate --simulated "$scratch/odd.ini" --only memory -o "$file" >"$scratch/text" &&
        grep -q '^mshrs .* = 9 .*; measured: 9' "$file" &&
        grep -q '^base_latency .* = 210 .*; measured: memory.load_to_use' "$file" &&
        grep -q '^bandwidth .*; not measurable here; published' "$file" ||
        { cat "$scratch/text"; return 1; }
    { echo 'base = zen4'; echo '[dram]'; echo 'bandwidth = 20'; } >"$scratch/odd.ini"
    run calibrate --quick --simulated "$scratch/odd.ini" --only memory --json >"$scratch/report.json" &&
        test "$(value 'misses at once')" = unknown &&
        python3 -S -c 'import sys; sys.exit(abs(float(sys.argv[1]) - 4) > 0.2)' \
            "$(value 'memory bandwidth')" || { cat "$scratch/report.json"; return 1; }
}

# Page walks, of a host's tables too, slow loads and stores down long before the bus would.
walks_are_no_bus() {
    run calibrate --quick --simulated zen4-server --only memory --json >"$scratch/report.json" &&
        test "$(value 'memory bandwidth')" = unknown &&
        python3 -S -c 'import sys; sys.exit(abs(float(sys.argv[1]) / 24 - 1) > 0.15)' \
            "$(value 'misses at once')" || { cat "$scratch/report.json"; return 1; }
}

# One prefetcher, of 6 lines ahead in its page; then none but that of the next line on a miss.
prefetchers_read_back() {
    { echo 'base = zen4'; echo '[l1d]'; echo 'prefetcher = none'; echo '[l2]'
      echo 'prefetcher = stream'; echo 'prefetch_degree = 6'; } >"$scratch/odd.ini"
    run calibrate --quick --simulated "$scratch/odd.ini" --only prefetch --json >"$scratch/report.json" &&
        test "$(value 'ascending, each line')" = 6.0 &&
        test "$(value 'descending, each line')" = 6.0 &&
        test "$(value 'ascending, each 2nd')" = 6.0 &&
        test "$(value 'ascending, each 8th')" = 0.0 &&
        test "$(value "beyond the page's end")" = 0.0 &&
        test "$(value 'behind a single, even line')" = 0.0 ||
        { cat "$scratch/report.json"; return 1; }
    { echo 'base = zen4'; echo '[l1d]'; echo 'prefetcher = none'; echo '[l2]'
      echo 'prefetcher = on_miss'; } >"$scratch/odd.ini"
    run calibrate --quick --simulated "$scratch/odd.ini" --only prefetch --json >"$scratch/report.json" &&
        test "$(value 'behind a single, even line')" = 1.0 &&
        test "$(value 'behind a single, odd line')" = 1.0 &&
        test "$(value 'before a single, even line')" = 0.0 &&
        test "$(value 'descending, each line')" = 0.0 || { cat "$scratch/report.json"; return 1; }
}

writes_a_machine() {
    run calibrate --simulated boom-tip --only width -o "$file" >"$scratch/text" &&
        run machines check "$file" && grep -q '^dispatch_width .* ; measured$' "$file" &&
        grep -q '^rob .* ; published (boom-tip)$' "$file" &&
        grep -qE '^ +dispatch width +4 +µops +4$' "$scratch/text"
}

# The table is beside the machine file, which names it, and is read with it; a second run replaces
# both, and one that measures no forms names none.
writes_a_table_of_forms() {
    mkdir "$scratch/calibrated"
    local machine=$scratch/calibrated/host.ini
    run calibrate --quick --simulated zen4 --only forms -o "$machine" >"$scratch/text" || return 1
    grep -q '^forms .* = host.forms ; measured$' "$machine" &&
        grep -qE '^imul r64, r64 +3 ' "$scratch/calibrated/host.forms" &&
        run machines check "$machine" | grep -q '[1-9][0-9] forms of .*/host.forms)' &&
        run sim --machine "$machine" --json -- /bin/true | grep -q '"machine": "host"' || return 1
    run calibrate --simulated zen4 --only width -o "$scratch/calibrated/host.ini" >"$scratch/text" &&
        ! grep -q 'host.forms' "$machine" && run machines check "$machine" &&
        test "$(ls "$scratch/calibrated" | wc -l)" = 2
}

# Whatever the load is, it ends well: what is disturbed is unknown.
this_processor() {
    run calibrate --quick --only width --json >"$scratch/report.json" &&
        test -n "$(value additions)" && test "$(value 'dispatch width')" != 0.0
}

# Every line that another processor has is measured, or unknown, or there is one processor only.
transfers() {
    run calibrate --quick --only transfers --json >"$scratch/report.json" &&
        for what in 'line that another core wrote' 'line that another core read' \
            'line that both read, until owned' 'atomic addition to one that it wrote' \
            'line written by turns, half a round'; do
            value "$what" | grep -qE '^([0-9.]+|unknown|not there)$' || return 1
        done
}
wakes() {
    run calibrate --quick --only wakes --json >"$scratch/report.json" &&
        for what in 'woken from a futex, until it runs' \
            'and after a millisecond of sleep' 'call that wakes it'; do
            value "$what" | grep -qE '^([0-9.]+|unknown|not there)$' || return 1
        done
}
retention() {
    run calibrate --quick --only retention --json >"$scratch/report.json" &&
        for what in 'line that was used in the LLC stays' 'line that was not' \
            'lines from memory that the LLC keeps' 'lines that come again'; do
            value "$what" | grep -qE '^([0-9.]+|unknown|not there)$' || return 1
        done
}
new_pages() {
    run calibrate --quick --only pages --json >"$scratch/report.json" &&
        value 'lines of new pages are there' | grep -qxE 'yes|no|unknown'
}
# A simulated machine has no kernel: nothing is found, and the figures stay.
simulated_wakes() {
    run calibrate --simulated zen4 --only wakes --json -o "$file" >"$scratch/report.json" &&
        test "$(value 'call that wakes it')" = 'not there' &&
        grep -q 'the simulated machine has no kernel' "$scratch/report.json" &&
        grep -qE '^wake_latency += 0 .*not measurable here' "$file" || { cat "$scratch/report.json" "$file"; return 1; }
}
one_processor() {
    on_one_processor "$CULPRIT" calibrate --quick \
        --only transfers --json -o "$file" >"$scratch/report.json" &&
        test "$(value 'line that another core wrote')" = 'not there' &&
        grep -q 'not measurable here: there is one processor' "$scratch/report.json" &&
        grep -qE '^modified_transfer .*; not measurable here; published' "$file" ||
        { cat "$scratch/report.json" "$file"; return 1; }
}

same_parts() {
    run calibrate --help | sed -n '/^Parts:/,$p' >"$scratch/parts"
    ! sed 1d "$scratch/parts" | grep -v '^  [a-z]' || return 1 # a line for each
    sed -nE 's/^  ([a-z]+) .*/\1/p' "$scratch/parts" >"$scratch/help"
    sed -nE '/^The parts are/,/^\.It/s/^\.Cm ([a-z]+).*/\1/p' docs/man/culprit-calibrate.1 >"$scratch/page"
    test -s "$scratch/help" && diff "$scratch/help" "$scratch/page"
}

# Interrupted in the second part, which takes much longer: the first one is reported, as a part.
set -m
interrupted() {
    "$CULPRIT" calibrate --simulated zen4 --only width --only caches --json \
        >"$scratch/report.json" 2>"$scratch/error" &
    local process=$!
    until_used $process 1 || return 1
    kill -INT $process
    wait $process
    test $? = 130 && test "$(value 'dispatch width')" = 6.0 &&
        grep -q '"partial": true' "$scratch/report.json" || { cat "$scratch/error"; return 1; }
}

# Interrupted before the first figure: no machine file is written, of published figures alone.
interrupted_at_once() {
    "$CULPRIT" calibrate --simulated zen4 --only caches -o "$scratch/none.ini" \
        >"$scratch/report" 2>"$scratch/error" &
    local process=$! status
    until_used $process 0.2 || return 1
    kill -INT $process
    wait $process
    status=$?
    cat "$scratch/report" "$scratch/error"
    test $status = 130 && test ! -s "$scratch/report" && test -z "$(ls "$scratch" | grep '^none')" &&
        grep -qx 'culprit: interrupted before anything was measured' "$scratch/error"
}

# Both at once, each in processes of its own.
two_at_once() {
    "$CULPRIT" calibrate --simulated zen4 --only width --json >"$scratch/other.json" &
    local process=$!
    run calibrate --simulated zen4 --only width --json >"$scratch/report.json" && wait $process &&
        test "$(value 'dispatch width')" = 6.0 &&
        grep -q '"value": 6.0' "$scratch/other.json"
}

# A machine file on standard output has it to itself.
on_standard_output() {
    run calibrate --quick --only width --json -o - >"$scratch/out.ini" 2>"$scratch/report.json" &&
        run machines check "$scratch/out.ini" && test "$(value 'dispatch width')" != 0.0
}

fails_with() {
    local message=$1
    shift
    run calibrate "$@" >"$scratch/out" 2>&1
    test $? != 0 && grep -qF -- "$message" "$scratch/out" || { cat "$scratch/out"; return 1; }
}

if ! skip_without qemu-x86_64 "a simulated machine is read back"; then
    check "a simulated machine is read back" reads_back
    check "predictors of a simulated machine are read back" branches_read_back
    check "two buffers of targets are, and targets that branches tell" branches_of_two_buffers_read_back
    check "ordering violations of a simulated machine are read back" ordering_reads_back
    check "accesses over the end of a line are read back" splits_read_back
    check "stores of parts of words are read back" words_read_back
    check "CPUID is read back" cpuid_reads_back
    check "the text has names in full, in 80 columns" text_is_whole
    check "a simulated core is not said to have another thread" no_width_is_no_thread
    check "sizes that are not exact are told in units" sizes_are_told_in_units
    check "caches of a simulated machine are read back" caches_read_back
    check "page frames make no ways and no short lines" frames_are_not_misread
    check "a last cache that draws lots makes no smaller window" window_by_lot
    check "caches of few sets of a simulated machine are read back" small_caches_read_back
    check "TLBs of a simulated machine are read back" tlbs_read_back
    check "those of a virtual machine too" tables_of_a_host_read_back
    check "pages that are new to a simulated machine are read back" new_pages_read_back
    check "memory of a simulated machine is read back" memory_reads_back
    check "page walks are not taken for the bus to memory" walks_are_no_bus
    check "prefetchers of a simulated machine are read back" prefetchers_read_back
    check "a simulated machine wakes nobody" simulated_wakes
    check "an interrupt gives a partial report" interrupted
    check "one before the first figure gives none, and no file" interrupted_at_once
    check "two at once do not disturb each other" two_at_once
    check "a machine file says what was measured" writes_a_machine
    check "a table of forms lies beside it" writes_a_table_of_forms
fi
if [ "$(uname -m)" = x86_64 ]; then
    check "this processor is measured, or unknown" this_processor
    check "a machine file on standard output has it to itself" on_standard_output
    check "lines of another processor are measured, or unknown" transfers
    check "so is the waking of threads" wakes
    check "so is what others leave of the last cache" retention
    check "and whether lines of new pages are there" new_pages
    what="with one processor lines of another are not measured"
    if command -v taskset >/dev/null; then
        check "$what" one_processor
    else
        skip "$what" "no taskset here"
    fi
else
    check "another processor than x86-64 is refused in a line" \
        fails_with "only x86-64 processors can be calibrated"
fi
check "help and manual page list the same parts" same_parts
check "an unknown part is refused, with those there are" fails_with "width, rename" --only nothing
check "a chip of many threads is refused" fails_with "has several threads" --simulated niagara

finish
