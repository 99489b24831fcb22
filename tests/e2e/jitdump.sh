# Code made at run time is named by the jitdump of its program, as it was when it was sampled.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
store=$scratch/profiles.db

# first runs; second takes its place, and has lines; second moves. Each for so long. The dump is
# written at the end, when it is told to be late; "later" than anybody waits for. With "mallory" it is given to another user, or its
# names would rule a terminal.
cat >compile.c <<'PROGRAM'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static FILE *dump;
static uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}
static void put_record(uint32_t type, const void *one, size_t one_size, const void *two,
                       size_t two_size) {
    uint32_t head[] = {type, 16 + one_size + two_size};
    uint64_t time = now(CLOCK_MONOTONIC);
    fwrite(head, 1, sizeof head, dump), fwrite(&time, 1, 8, dump);
    fwrite(one, 1, one_size, dump), fwrite(two, 1, two_size, dump);
}
/* push rbp; mov rbp, rsp; l: dec rdi; jnz l; pop rbp; ret */
static const unsigned char LOOP[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf,
                                     0x75, 0xfb, 0x5d, 0xc3};
static void load(unsigned char *at, uint64_t number, const char *name) {
    uint64_t words[] = {getpid(), (uint64_t)at, (uint64_t)at, sizeof LOOP, number};
    char rest[256] = {0};
    memcpy(at, LOOP, sizeof LOOP);
    strcpy(rest, name);
    put_record(0, words, sizeof words, rest, strlen(name) + 1 + sizeof LOOP);
}
static void run(unsigned char *at) {
    for (uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + 150000000;
         now(CLOCK_THREAD_CPUTIME_ID) < end;)
        ((void (*)(long))at)(1000000);
}
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (!strcmp(how, "mallory") && fchown(file, 65534, 65534) != 0)
        return 1;
    dump = fdopen(file, "w");
    setvbuf(dump, malloc(1 << 16), !strncmp(how, "late", 4) ? _IOFBF : _IONBF, 1 << 16);
    uint32_t header[10] = {0x4a695444, 1, 40, 62, 0, getpid()};
    fwrite(header, 1, sizeof header, dump), fflush(dump);
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    unsigned char *code = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    load(code, 1, "first");
    run(code);
    struct {
        uint64_t address, count, at;
        uint32_t line, discriminator;
        char file[16];
    } lines = {(uint64_t)code, 1, (uint64_t)code, 7, 0, "/src/second.x"};
    put_record(2, &lines, 16 + 16 + strlen(lines.file) + 1, "", 0);
    load(code, 2, strcmp(how, "escapes") ? "second" : "\033[31msecond\n");
    run(code);
    unsigned char *moved = code + 65536;
    uint64_t move[] = {getpid(), (uint64_t)moved, (uint64_t)code, (uint64_t)moved, sizeof LOOP, 2};
    memcpy(moved, code, sizeof LOOP);
    put_record(1, move, sizeof move, "", 0);
    run(moved);
    if (!strcmp(how, "later"))
        sleep(7);
    fflush(dump);
    return 0;
}
PROGRAM
cc -O1 -w -fno-omit-frame-pointer -o compile compile.c || exit 1

# In a simulation, too, as it was when it was translated: the first 12 million instructions are those
# of first, whose place second takes and leaves again.
simulated() {
    run sim --limit 12M --top 0 --json -o sim.json -- ./compile && python3 -S - <<'PYTHON'
import json
report = json.load(open("sim.json"))
rows = {row["function"]: row for row in report["functions"]}
assert rows["first"]["share"] > 0.5
assert not any(row["image"] == "[anon]" and not row["function"] for row in report["functions"])
PYTHON
}
check "a simulation has the names of a jitdump" simulated

record() {
    run record --store "$store" --json --output summary --stacks "$@" >/dev/null
}
run record --store "$store" -- true 2>"$scratch/why"
if grep -q 'is not permitted: it needs CAP_PERFMON' "$scratch/why"; then
    skip "names of jitdumps" "$(head -n 1 "$scratch/why")"
    finish
fi

# shares FIRST SECOND: of the samples of user code, within eight hundredths, in the functions named;
# nearly all called by `run`, but for those in the instructions that make the frame. SECOND lies in its
# source. What the machine does in its interrupts besides is no part of it.
shares() {
    run top --store "$store" --tree --json >tree.json && python3 -S - "$@" <<'PYTHON'
import json, sys
tree = json.load(open("tree.json"))["tree"]
own = [frame for frame in tree[1:] if frame["image"] != "[kernel]"]
total = sum(frame["self"] for frame in own)
shares = {}
by_run = 0
for frame in own:
    name = frame["procedure"], frame["image"]
    shares[name] = shares.get(name, 0) + 100 * frame["self"] / total
    if name[0] in ("first", "second") and tree[frame["parent"]]["procedure"] == "run":
        by_run += 100 * frame["self"] / total
print(shares, by_run)
assert by_run >= 0.9 * (float(sys.argv[1]) + float(sys.argv[2])) - 8
assert abs(shares.get(("first", "[jit] compile"), 0) - float(sys.argv[1])) <= 8
assert abs(shares.get(("second", "/src/second.x"), 0) - float(sys.argv[2])) <= 8
PYTHON
}
named() {
    record -- ./compile && shares 33 66 && run epochs check --store "$store"
}
named_late() {
    record -- ./compile late && shares 33 66
}
# The first two were in one place: which of them ran is not known then.
named_later() {
    record -- ./compile later && shares 0 33
}
lines() {
    run epochs export --store "$store" --epoch last --format perf-script script >/dev/null &&
        grep -qE 'second\+0x7 \(/src/second.x\)' script
}
not_others() {
    record -- ./compile mallory && shares 0 0
}
no_escapes() {
    record -- ./compile escapes && run top --store "$store" --tree >shown && cat -v shown &&
        ! grep -q $'\033' shown && grep -q '\[31msecond' shown
}
of_node() {
    cat >hot.js <<'PROGRAM'
function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
const end = process.cpuUsage().user + 600000;
let sum = 0;
while (process.cpuUsage().user < end) sum += hot(3000000);
console.log(sum);
PROGRAM
    record -- node --perf-prof hot.js >/dev/null && run top --store "$store" --top 0 --json >top.json &&
        python3 -S - <<'PYTHON'
import json
rows = [row for row in json.load(open("top.json"))["rows"] if row["image"] != "[kernel]"]
print(rows[:3])
samples = lambda rows: sum(sum(row["values"].values()) for row in rows)
assert samples(row for row in rows if "hot.js" in (row["procedure"] or "")) > 0.3 * samples(rows)
PYTHON
}
check "code that is replaced and that moves" named
check "a dump that is written late" named_late
check "a dump that is written later than samples wait" named_later
run record --store "$store" --json --output summary --stacks -- ./compile >/dev/null || exit 1
check "lines" lines
check "names without escapes" no_escapes
if [ "$(id -u)" -eq 0 ]; then
    check "the dump of another user is not believed" not_others
else
    skip "the dump of another user is not believed" "this is not root"
fi
if node --perf-prof -e 0 2>/dev/null; then
    check "Node's" of_node
else
    skip "Node's" "no node that takes --perf-prof here"
fi
finish
