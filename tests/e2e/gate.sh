# culprit gate: a build against its baseline, told with function, line and event; what cannot be said
# ends with 125 and changes no file.
. tests/e2e/lib.sh

if skip_without gcc "builds are held against their baselines"; then
    finish
fi
strip=$PWD/scripts/without-comments
mkdir "$scratch/work" && cd "$scratch/work" || exit 1
case $CULPRIT in /*) ;; *) CULPRIT=$OLDPWD/$CULPRIT ;; esac

# sum() reads a field of each struct, which takes more lines of the cache when the struct is larger.
# With an argument the program reads its input, too.
build() {
    {
        echo "#include <unistd.h>"
        echo "struct row { long key; $1 };"
        cat <<'PROGRAM'
struct row rows[30000];
__attribute__((noinline)) long sum(void) {
    long all = 0;
    for (int i = 0; i < 30000; i++)
        all += rows[i].key;
    return all;
}
int main(int argc, char **argv) {
    char byte;
    (void)argv;
    for (volatile int i = 0; i < 9000; i++)
        ;
    while (argc > 1 && read(0, &byte, 1) > 0)
        ;
    return sum() > 7;
}
PROGRAM
    } >prog.c
    gcc -g -O1 -static -o prog prog.c
}
file=perf.baseline
gate() {
    run gate --baseline $file "$@"
}
report=$scratch/gate.json

build ""
check "without a baseline nothing can be said" fails_with 125 'no such file: write it with' gate -- ./prog
written() {
    gate --update -- ./prog >"$scratch/text" && cat "$scratch/text" && grep -q '^written  prog: ' "$scratch/text" &&
        [ "$(stat -c %s $file)" -lt 20000 ] && [ "$(head -n 3 $file)" = "$(printf 'culprit-baseline\t2\nentry\tprog\ncommand\t./prog')" ]
}
check "a baseline is written, and small" written
passes() {
    [ "$(gate -- ./prog)" = "passed  prog: no difference: the same cycles" ] && run gate --baseline $file >"$scratch/text" &&
        grep -q '^passed' "$scratch/text"
}
check "the same build passes, with and without the command" passes
cp $file kept.baseline

build "long more[7];"
slower() {
    gate --annotations --markdown gate.md --junit gate.xml --code-quality gate.json -- ./prog >"$scratch/text"
    [ $? = 1 ] || return 1
    cat "$scratch/text"
    tr -s ' \n' ' ' <"$scratch/text" |
        grep -qE '^slower prog: \+[0-9.]+ % cycles: sum \+[0-9.]+ % \([L1C]+ misses at prog.c:7: struct row grew from 8 to 64 bytes\)' && fits_100 <(grep -v '^::' "$scratch/text")
}
check "a slower build fails, with function, line and event" slower
check "a line for hosted systems names the source line" grep -qE \
    '^::error file=prog.c,line=7,title=prog%3A slower::\+[0-9.]+ %25 cycles: sum ' "$scratch/text"
reports() {
    grep -q '| `prog` | \*\*slower\*\* | +' gate.md && grep -q '| `sum` |' gate.md &&
        python3 - <<'PYTHON'
import json, xml.etree.ElementTree as tree
suite = tree.parse("gate.xml").getroot().find("testsuite")
assert suite.attrib == {"name": "culprit gate", "tests": "1", "failures": "1", "errors": "0"}
failure = suite.find("testcase[@name='prog']/failure")
assert failure.attrib["type"] == "slower" and "struct row grew" in failure.attrib["message"]
finding = json.load(open("gate.json"))[0]
assert finding["location"] == {"path": "prog.c", "lines": {"begin": 7}}, finding
assert len(finding["fingerprint"]) == 16
PYTHON
}
check "Markdown, JUnit and code quality tell the same" reports
as_json() {
    gate --json -o "$report" -- ./prog
    [ $? = 1 ] && told "r['verb'] == 'gate' and r['slower'] == 1 and r['limit_percent'] == 1" \
        "r['entries'][0]['verdict'] == 'slower'" \
        "r['entries'][0]['comparison']['changes'][0]['function'] == 'sum'" \
        "r['entries'][0]['comparison']['changes'][0]['line_before']['line'] == 7" \
        "r['entries'][0]['comparison']['changes'][0]['resized']['size_after'] == 64" \
        "abs(sum(c['change'] for c in r['entries'][0]['comparison']['changes']) - r['entries'][0]['comparison']['after']['elapsed_cycles'] + r['entries'][0]['comparison']['before']['elapsed_cycles']) < 1 or len(r['entries'][0]['comparison']['changes']) < r['entries'][0]['comparison']['change_count']"
}
check "and JSON, with changes from the baseline" as_json
check "what is within the limit passes" gate --max 90% -- ./prog
same_baseline() {
    cmp $file kept.baseline && ! compgen -G "$file.*" >/dev/null
}
check "judging writes no baseline" same_baseline

accepted() {
    gate --update -- ./prog >"$scratch/text" && grep -q '^written .* cycles: sum +' "$scratch/text" && ! cmp -s $file kept.baseline &&
        gate -- ./prog && build "" && gate -- ./prog >"$scratch/text" && grep -q '^passed .*: -' "$scratch/text"
}
check "--update tells what it accepts, and a faster build passes" accepted
cp kept.baseline $file

suite() {
    seq 300 >numbers && cp prog other &&
        gate --update --name part --limit 50K --env LC_ALL=C -- ./other &&
        gate --update --name count -- ./prog numbers <numbers &&
        gate <numbers >"$scratch/text" && cat "$scratch/text" && [ "$(grep -c ^passed "$scratch/text")" = 3 ] &&
        grep -q '^3 passed' "$scratch/text" && gate --name part >"$scratch/text" && [ "$(wc -l <"$scratch/text")" = 1 ] &&
        ! cmp -s <(gate --name count </dev/null) "$scratch/text"
}
check "one file serves several commands, each with its options" suite
cp $file kept.baseline
both() {
    gate --update --name count -- ./prog one <numbers &
    gate --update --name part -- ./prog two </dev/null && wait $! || return 1
    grep -q $'^command\t./prog\tone' $file && grep -q $'^command\t./prog\ttwo' $file && grep -q ^entry.prog $file
}
check "two that write one file lose nothing" both
cp kept.baseline $file

# sum() takes longer under each layout; the same build under each takes what it did.
by_layouts() {
    cp prog kept.prog && gate --update --name laid --layouts 3 -- ./prog && [ "$(grep -c ^layout $file)" = 3 ] &&
        [ "$(gate --name laid)" = "passed  laid: no difference: the same cycles under each of 3 layouts" ] || return 1
    build "long more[7];" && ! gate --name laid >"$scratch/text"
    cat "$scratch/text" && mv kept.prog prog
    grep -qE '^slower  laid: \+[0-9.]+ % cycles \(\+[0-9.]+ to \+[0-9.]+ %\) over 3 layouts: sum \+' "$scratch/text"
}
check "under layouts a build is slower when it is so under each" by_layouts
check "an entry has as many layouts as it was written with" fails_with 125 'has 3 layouts' gate --name laid --layouts 4
cp kept.baseline $file

another_library() {
    gate --update --name true -- true && sed -i 's/^\(library\tlibc.so.6\t\).*/\10123456789abcdef/' $file &&
        gate --name true --json -o "$report" && told "r['passed'] == 1" \
        "any('libc.so.6 is another one' in note for note in r['entries'][0]['notes'])"
}
check "a library that is another one is noted" another_library
cp kept.baseline $file

# What cannot be said: each is one line, and the file stays.
unsaid() {
    local pattern=$1
    shift
    fails_with 125 "$pattern" gate "$@" && cmp $file kept.baseline
}
check "another machine" unsaid 'of machine zen4 .* this is zen5' --machine zen5 -- ./prog
before_the_run() {
    rm -f ran
    gate --update --name marks -- sh -c 'echo >ran' && [ -e ran ] && cp $file marked.baseline && rm ran &&
        fails_with 125 'of machine zen4 .* this is zen5' gate --machine zen5 --name marks -- sh -c 'echo >ran' &&
        cmp $file marked.baseline && [ ! -e ran ]
}
check "which is told before the command runs" before_the_run
cp kept.baseline $file
check "a machine that is described otherwise" unsaid 'of machine zen4 .* this is zen4' --set core.rob=64 -- ./prog
check "other arguments" unsaid 'with other arguments' --name count -- ./prog letters
check "other options" unsaid 'with other options \(none\)' --limit 1000 -- ./prog
check "an entry that is not there" unsaid "has no entry 'prog -l'" -- ./prog -l
check "a program that is not there" unsaid 'cannot run' --name prog -- ./nothing
check "a program that fails" unsaid 'ended with status 1' --update -- false
check "a program that a signal ends" unsaid 'ended with signal 15' --update -- sh -c 'kill $$'
counter='n=$(cat count); echo $((n + 300)) > count; while [ $n -gt 0 ]; do n=$((n - 1)); done'
echo 0 >count
check "a program that does another thing each time" unsaid 'not do the same each time' --update --follow -- sh -c "$counter"
one_fails() {
    rm other
    gate --update >"$scratch/text" 2>&1
    [ $? = 125 ] && cat "$scratch/text" && cmp $file kept.baseline && grep -q '^culprit: part: cannot run ./other' "$scratch/text" &&
        grep -q '^culprit: prog: not written, since another could not be' "$scratch/text"
}
check "of an update of several, of which one fails, nothing is written" one_fails
check "a machine that is not there" unsaid 'no machine nosuch' --machine nosuch -- ./prog
over_it() {
    unsaid 'junit \./perf.baseline: is the file of --baseline' --junit ./$file -- ./prog &&
        unsaid 'output perf.baseline: is the file of --baseline' -o $file -- ./prog &&
        unsaid 'markdown: the name is empty' --markdown '' -- ./prog
}
check "a report that would be written over it" over_it
# The number of what simulates is that of its code: comments and lines do not change it.
code_alone() {
    cat >one.c <<'C'
/* one */
#define F(x) /* a
 b */ (x)  // http
#define U "http://x /* no */"   \
	+ 1
int f(int a, int b) { // c
    return a /* "x */ + b; }
char *s = "a  // b", c = '"', d = '\'';
C
    cat >two.c <<'C'
#define F(x) (x)
#define U "http://x /* no */" \
    + 1

int f(
    int a,
    int b)
{
    return a + b;
}
char *s = "a  // b", // s
    c = '"', d = '\''; /* the
   end */
C
    awk -f "$strip" one.c >one && awk -f "$strip" two.c >two && cmp one two && cat one || return 1
    for change in 's/a + b/a - b/' 's/a  \/\//a \/\//' 's/(x) (x)/(x)(x)/' 's/+ 1/+ 2/' "s/'\"'/'x'/"; do
        sed "$change" two.c >three.c && ! cmp -s two.c three.c && ! cmp -s <(awk -f "$strip" three.c) two || return 1
    done
}
check "what simulates is told by its code alone" code_alone
version() {
    sed "s/$1/$2/" kept.baseline >$file
    fails_with 125 "$3" gate -- ./prog
}
check "another culprit" version '\(culprit\t0.1 model\).*' '\1 00000000' 'of culprit 0.1 model 00000000, this is 0.1 model'
check "another format" version '^culprit-baseline.*' 'culprit-baseline	7' 'version 7 of the format'
cut() {
    head -c 1000 kept.baseline >$file && cp $file cut.baseline
    fails_with 125 'no baseline that culprit gate wrote' gate -- ./prog &&
        fails_with 125 'no baseline that culprit gate wrote' gate --update -- ./prog && cmp $file cut.baseline
    sed '$d' kept.baseline >$file
    fails_with 125 'the file is cut' gate -- ./prog
}
check "a file that is cut is refused, and not written over" cut
cp kept.baseline $file
no_room() {
    (ulimit -f 1; trap '' XFSZ; fails_with 125 'File too large|cannot write' gate --update --name more -- ./prog) && cmp $file kept.baseline &&
        ! compgen -G "$file.*" >/dev/null
}
check "without room the file stays" no_room
interrupted() {
    local status
    "$CULPRIT" gate --baseline $file --update -- sh -c "while :; do :; done" >/dev/null 2>"$scratch/.err" &
    until_used $! 0.3
    kill $!
    wait $!
    status=$?
    [ $status = 143 ] && cmp $file kept.baseline && ! compgen -G "$file.*" >/dev/null
}
check "an interrupt changes nothing" interrupted
# The third run and those after it, which are under layouts, do not end.
interrupted_layouts() {
    local status
    : >runs
    "$CULPRIT" gate --baseline $file --update --layouts 2 -- sh -c 'n=0; while read -r run; do n=$((n + 1)); done <runs
        echo run >>runs; if [ $n -ge 2 ]; then : >third; while :; do :; done; fi' >/dev/null 2>"$scratch/.err" &
    until [ -e third ] || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
    kill $!
    wait $!
    status=$?
    cat "$scratch/.err"
    [ $status = 143 ] && cmp $file kept.baseline && ! compgen -G "$file.*" >/dev/null
}
check "nor does one while layouts are simulated" interrupted_layouts

finish
