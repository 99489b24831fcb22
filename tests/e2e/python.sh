# record --stacks of Python programs: their functions among those of C, true programs and others.
. tests/e2e/lib.sh
. tests/live.sh
source_folder=$PWD/src
cd "$scratch" || exit 1
store=$scratch/profiles.db
python=$(python3 -S -c 'import sys; print(sys.executable)')

record() {
    run record --store "$store" --json --output summary --stacks "$@" >/dev/null
}
run record --store "$store" --json --output summary --stacks -- "$python" -c \
    'sum(i * i for i in range(3000000))' >/dev/null 2>"$scratch/why"
if grep -q 'is not permitted: it needs CAP_PERFMON' "$scratch/why"; then
    skip "record --stacks of Python" "$(head -n 1 "$scratch/why")"
    finish
fi
if grep -q "Python's functions are not shown" summary; then
    skip "record --stacks of Python" "no CAP_BPF and CAP_PERFMON, or Linux is older than 5.17"
    finish
fi
if grep -qE 'a Python before 3.11|functions of Python [0-9.]+ are not shown' summary; then
    skip "record --stacks of Python" "no CPython 3.11 to 3.13 here"
    finish
fi

# share PATTERN: the hundredths of the last epoch's samples whose stack, "main;f;g", matches.
share() {
    run epochs export --store "$store" --epoch last --format folded folded >/dev/null &&
        python3 -S - "$1" <<'PYTHON'
import re, sys
found = total = 0
for line in open("folded"):
    stack, count = line.rsplit(" ", 1)
    total += int(count)
    found += int(count) if re.search(sys.argv[1], stack) else 0
print(100 * found // max(total, 1))
PYTHON
}
# about EXPECTED PATTERN: within twelve hundredths.
about() {
    local found
    found=$(share "$2") && echo "$2: $found %" && ((found >= $1 - 12 && found <= $1 + 12))
}

# Lines are told: see `lines`.
cp "$source_folder/../tests/guests/work.py" .

whole() {
    python3 -S - <<'PYTHON'
import json
said = json.load(open("summary"))
print(said["python"], said["stacks"], said["samples"])
# Before the interpreter was found there are none, and its own beginning and end have none.
assert said["python"]["whole"] * 100 >= 80 * said["samples"] > 5000, said["notes"]
PYTHON
}
in_their_shares() {
    record -- "$python" work.py shares 0.5 && whole || return 1
    about 60 ';<module>;until;shares;Half.most;spin' && about 30 ';shares;some;spin' &&
        about 10 ';shares;least;spin'
}
of_each_kind() {
    record -- "$python" work.py others 0.5 && whole || return 1
    for chain in ';others;(.*;)?generated;spin' ';recursive;recursive;recursive;spin' \
        ';others;(.*;)?compare;spin' ';others;raising'; do
        [ "$(share "$chain")" -ge 2 ] || { echo "no $chain" && cat folded && return 1; }
    done
}
of_threads() {
    record -- "$python" work.py threads 0.25 && whole &&
        [ "$(share ';Thread.run;(.*;)?until;some;spin')" -ge 25 ] &&
        [ "$(share ';Thread.run;(.*;)?until;least;spin')" -ge 25 ]
}
# Of processes that it makes, too.
of_children() {
    cat >children.py <<'PROGRAM'
import os
from work import *
if os.fork() == 0:
    until(time.thread_time() + 0.3, some)
    os._exit(0)
os.wait()
PROGRAM
    mkdir -p child && cp work.py child/ && mv children.py child/ && record -- "$python" child/children.py &&
        [ "$(share ';until;some;spin')" -ge 60 ]
}
# Threads that wait, also while their interpreter's memory comes and goes.
waiting() {
    cat >wait.py <<'PROGRAM'
import os, sys, time
def napping():
    time.sleep(0.1)
napping()
if len(sys.argv) < 2:
    os.execv(sys.executable, [sys.executable, __file__, "again"])
PROGRAM
    record --off-cpu -- "$python" wait.py || return 1
    run top --store "$store" --event off-cpu --callers=napping --json >waits.json && python3 -S - <<'PYTHON'
import json
procedure, = json.load(open("waits.json"))["procedures"]
print(procedure["procedure"], procedure["image"], procedure["total"])
assert procedure["image"].endswith("wait.py")
assert any(frame["procedure"] == "<module>" for frame in procedure["callers"])
PYTHON
}
callers() {
    record -- "$python" work.py shares 0.3 || return 1
    run top --store "$store" --callers=spin >callers && cat callers &&
        grep -qE 'spin +work.py' callers && grep -qE 'Half.most +work.py' callers &&
        run epochs check --store "$store"
}
# The line of the call: in pprof, and in perf script behind the function's name.
lines() {
    local line
    line=$(grep -n '        spin(6000)' work.py | cut -d : -f 1)
    run epochs export --store "$store" --epoch last --format perf-script script >/dev/null &&
        grep -q "Half.most+0x$(printf %x "$line") (.*work.py)" script || return 1
    has go || return 0
    run epochs export --store "$store" --epoch last --format pprof pprof &&
        HOME=$scratch go tool pprof -symbolize=none -lines -top -cum pprof >lines 2>&1 &&
        grep -q "Half.most .*work.py:$line" lines || { cat lines && return 1; }
}
# Offsets of structures, against the headers of the interpreter that is here.
as_in_the_headers() {
    cat >offsets.c <<'PROGRAM'
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#include <stddef.h>
#include <stdio.h>
int python_layout(const char *path, unsigned wanted[], unsigned count);
int main(int argc, char **argv) {
    const unsigned known[] = {
        offsetof(_PyRuntimeState, interpreters.head), offsetof(PyInterpreterState, next),
        offsetof(PyInterpreterState, threads.head), offsetof(PyThreadState, next),
        offsetof(PyThreadState, native_thread_id),
#if PY_MINOR_VERSION < 13
        offsetof(PyThreadState, cframe), offsetof(_PyCFrame, current_frame),
        offsetof(_PyCFrame, previous), offsetof(struct _PyInterpreterFrame, f_code),
        offsetof(struct _PyInterpreterFrame, prev_instr),
#else
        offsetof(PyThreadState, current_frame), 0, 0,
        offsetof(struct _PyInterpreterFrame, f_executable),
        offsetof(struct _PyInterpreterFrame, instr_ptr),
#endif
        offsetof(struct _PyInterpreterFrame, previous), offsetof(struct _PyInterpreterFrame, owner),
        offsetof(PyCodeObject, co_filename), offsetof(PyCodeObject, co_qualname),
        offsetof(PyCodeObject, co_linetable), offsetof(PyCodeObject, co_firstlineno),
        offsetof(PyCodeObject, co_code_adaptive), offsetof(PyObject, ob_type),
        offsetof(PyVarObject, ob_size), offsetof(PyBytesObject, ob_sval),
        offsetof(PyASCIIObject, length), offsetof(PyASCIIObject, state), sizeof(PyASCIIObject),
        sizeof(PyCompactUnicodeObject)};
    unsigned found[sizeof known / sizeof *known];
    if (python_layout(argv[1], found, sizeof known / sizeof *known))
        return 1;
    int wrong = 0;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] != found[i])
            wrong = printf("offset %u is %u, not %u\n", i, known[i], found[i]);
    return wrong != 0;
}
PROGRAM
    cat >layout.c <<'PROGRAM'
#include "program/python_layout.h"
int python_layout(const char *path, unsigned wanted[], unsigned count) {
    struct elf_image elf = {0};
    struct python_image image;
    struct error error;
    if (!elf_image_open(&elf, path, &error) || !python_image_read(&elf, &image) || !image.known)
        return 1;
    const struct python_layout *l = &image.layout;
    const unsigned offsets[] = {
        l->interpreters, l->interpreter_next, l->threads, l->thread_next, l->thread_id,
        l->thread_frame, l->c_frame_frame, l->c_frame_previous, l->frame_code,
        l->frame_instruction, l->frame_previous, l->frame_owner, l->code_filename,
        l->code_qualname, l->code_linetable, l->code_first_line, l->code_instructions,
        l->object_type, l->bytes_size, l->bytes_data, l->text_length, l->text_state,
        l->text_ascii, l->text_data};
    for (unsigned i = 0; i < count; i++)
        wanted[i] = offsets[i];
    elf_image_close(&elf);
    return sizeof offsets / sizeof *offsets != count;
}
PROGRAM
    gcc -w -c -I"$headers" -I"$headers/internal" -o offsets.o offsets.c &&
        gcc -D_GNU_SOURCE -I"$source_folder" -c -o layout.o layout.c &&
        gcc -o offsets offsets.o layout.o "$CULPRIT_BUILD/libculprit.a" -ldw -lelf -lz -lzstd -llzma &&
        ./offsets "$image"
}

# A program that says it was an interpreter. Its frames are a circle; or of absurd addresses; or as
# they should be, of names that would rule a terminal or are said to be huge.
cat >fake.c <<'PROGRAM'
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef VERSION
#define VERSION 0x030b02f0
#endif
const unsigned long Py_Version = VERSION;
char PyCode_Type[408], PyUnicode_Type[408], PyBytes_Type[408];
static char code[256], name[256], path[256], table[64], thread[512], interpreter[64];
static char frames[2][128];
char _PyRuntime[1024];
static volatile unsigned long spins;
static void set(char *at, const void *value) { memcpy(at, &value, 8); }
static void put_text(char *at, const char *text, long length) {
    set(at + 8, PyUnicode_Type);
    set(at + 16, (void *)length);
    set(at + 32, (void *)0x64L); /* compact, ASCII */
    strcpy(at + 48, text);
}
static __attribute__((noinline)) void spin(void) {
    for (clock_t end = clock() + CLOCKS_PER_SEC / 4; clock() < end;)
        for (int i = 0; i < 100000; i++)
            spins++;
}
static __attribute__((noinline)) void loop(int entry) {
    void *c_frame[3] = {0, frames[0], 0};
    set(thread + 56, c_frame);
    for (int i = 0; i < 2; i++) {
        set(frames[i] + 32, code);
        set(frames[i] + 48, frames[1 - i]);
        frames[i][68] = (char)entry;
    }
    spin();
    spins += (unsigned long)c_frame[1];
}
int main(int argc, char **argv) {
    const char *how = argv[argc - 1];
    const long id = gettid();
    set(_PyRuntime + 40, interpreter);
    set(interpreter + 16, thread);
    set(thread + 160, (void *)id);
    set(code + 8, PyCode_Type);
    set(code + 112, path);
    set(code + 128, name);
    set(code + 136, table);
    put_text(name, "evil\033[31m\nname", strcmp(how, "huge") ? 14 : 1L << 62);
    put_text(path, "/etc/\033]0;title\007", 15);
    set(table + 8, PyBytes_Type);
    if (!strcmp(how, "absurd")) {
        set(_PyRuntime + 40, (void *)0xffffffff81000000);
        set(_PyRuntime + 576, thread);
        set(code + 112, (void *)~7L);
    }
    if (!strcmp(how, "threads"))
        set(thread + 8, thread), set(thread + 160, 0), set(interpreter, interpreter);
    loop(strcmp(how, "circle") != 0);
    return 0;
}
PROGRAM
not_believed() {
    local how
    cc -w -O1 -fno-omit-frame-pointer -rdynamic -o fake-python fake.c || return 1
    for how in circle absurd threads huge names; do
        record -- ./fake-python $how || return 1
        for option in --tree --callers=spin; do
            run top --store "$store" $option --least 0 >shown && ! grep -q $'\033' shown &&
                grep -q 'spin' shown || { echo "$how:" && cat -v shown && return 1; }
        done
        ! grep -q $'\033\|\007' summary && run epochs check --store "$store" || return 1
    done
    [ "$(share 'evil.\[31m.name')" -ge 50 ] # as it is called, without what rules a terminal
}
another_version() {
    cc -w -DVERSION=0x030e00f0 -O1 -rdynamic -o fake-python fake.c && record -- ./fake-python names &&
        grep -q 'functions of Python 3.14 are not shown' summary && [ "$(share evil)" -eq 0 ]
}
without_privileges() {
    cp "$CULPRIT" . && chmod 755 "$scratch" && mkdir -m 777 -p unprivileged &&
        setpriv --reuid 65534 --regid 65534 --clear-groups ./culprit record --stacks \
            --store unprivileged/profiles.db -- "$python" work.py shares 0.3 >said 2>&1
    cat said
    grep -q "Python's functions are not shown" said && grep -q 'stacks: .* whole' said
}

# On a busy machine the daemon sees only after a while that the process is one of Python.
is_walked() {
    flush && run daemon --status && [ "$(status python_whole)" -gt 50 ] &&
        run top --callers=Half.most --json >callers.json
}
by_the_daemon() {
    local store=$CULPRIT_STORE process good
    cp work.py "$(named work).py" && start_daemon --stacks --rate 997 --stack-bytes 8192 || return 1
    "$python" "$(named work).py" shares 60 &
    process=$!
    until_true "$process" is_walked >walked 2>&1
    good=$?
    kill "$process" && wait "$process"
    [ "$good" = 0 ] || { tail -n 20 walked; return 1; }
    python3 -S - "$(named work).py" <<'PYTHON' || return 1
import json, sys
procedure, = json.load(open("callers.json"))["procedures"]
print(procedure["procedure"], procedure["image"], procedure["total"])
assert procedure["image"].endswith(sys.argv[1])
assert [frame["procedure"] for frame in procedure["callers"][:3]] == ["Half.most", "shares", "until"]
PYTHON
    run daemon --stop
    daemon=0
}

check "functions in their shares, below who called them" in_their_shares
check "generators, recursion, callbacks from C, exceptions" of_each_kind
check "threads" of_threads
check "children" of_children
check "callers" callers
check "lines" lines
if run record --off-cpu --store "$store" -- true 2>/dev/null >/dev/null; then
    check "where threads wait" waiting
else
    skip "where threads wait" "no scheduler events here"
fi
headers=$(python3 -S -c 'import sysconfig; print(sysconfig.get_path("include"))')
image=$(python3 -S -c 'import sys, sysconfig
library = sysconfig.get_config_var("LDLIBRARY") if sysconfig.get_config_var("Py_ENABLE_SHARED") else None
print(sysconfig.get_config_var("LIBDIR") + "/" + library if library and sysconfig.get_config_var(
    "PYTHONFRAMEWORK") is not None and sys.executable.find("/usr/bin") else sys.executable)')
if [ -e "$headers/internal/pycore_frame.h" ]; then
    check "offsets as in the headers" as_in_the_headers
else
    skip "offsets as in the headers" "no headers of Python ($headers)"
fi
check "what looks like an interpreter is not believed" not_believed
check "a version that is not known is said" another_version
if [ -n "$live" ]; then
    skip "by the daemon" "$live"
else
    check "by the daemon" by_the_daemon
fi
if [ "$(id -u)" -ne 0 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
    skip "what it needs is said" "perf_event_open is for root alone, or this is not root"
else
    check "what it needs is said" without_privileges
fi
finish
