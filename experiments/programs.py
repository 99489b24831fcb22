"""Programs that no test contains, each explained to its end: what it took beside native, and whether the
page is about the program's real work; into docs/results/programs.md.

    python3 -B experiments/programs.py [NAME...]

NAME...: only these, and nothing is written. BEFORE=PATH names an older culprit, which is given the same
commands. Needs packages beyond those of `make deps`; a program that is not installed is a row that says
so: apt-get install ripgrep nodejs ruby luajit lua5.4 imagemagick ffmpeg povray redis-server nginx-light jq
openssl pigz."""
import collections
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from lib import page, run

LIMIT_SECONDS = 300
BEFORE_SECONDS = 60
KEPT_ROWS = os.path.join(run.KEPT, "programs.json")
MANY_SECONDS = 12  # of a server
ENVIRONMENT = dict(run.ENVIRONMENT, PATH="/usr/bin:/bin:/usr/sbin", GO111MODULE="off")

# `work` is a pattern of the images, or functions, that a person would expect to be the program's work;
# `serves` a port and what is sent to it; `options` go to explain.
Program = collections.namedtuple("Program", "name command work options serves",
                                 defaults=([], None))

GO = """package main

import (
	"fmt"
	"sort"
)

func work(n int, done chan int) {
	squares := map[int]int{}
	for i := 0; i < n; i++ {
		squares[i%9001] += i * i
	}
	values := []int{}
	for _, value := range squares {
		values = append(values, value)
	}
	sort.Ints(values)
	done <- len(values)
}

func main() {
	done, sum := make(chan int), 0
	for i := 0; i < 8; i++ {
		go work(250000, done)
	}
	for i := 0; i < 8; i++ {
		sum += <-done
	}
	fmt.Println(sum)
}
"""
SIEVE_PY = """import sys
def sieve(n):
    marks = bytearray([1]) * n
    for i in range(2, int(n ** .5) + 1):
        if marks[i]:
            for k in range(i * i, n, i):
                marks[k] = 0
    return sum(marks)
print(sieve(int(sys.argv[1])))
"""
PROFILED_PY = """import signal
ticks = 0
def tick(number, frame):
    global ticks
    ticks += 1
signal.signal(signal.SIGPROF, tick)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
total = 0
for i in range(400000):
    total += i * i % 7
signal.setitimer(signal.ITIMER_PROF, 0)
print(total)
"""
ALARM_PL = """use Time::HiRes "ualarm";
$SIG{ALRM} = sub { $ticks++ }; ualarm(2000, 2000);
for ($i = 0; $i < 800000; $i++) { $sum += $i % 7 } ualarm(0); print $sum;
"""
TRAP_SH = """trap 'n=$((n + 1))' CHLD
for i in {1..40}; do (exit 0) & done; wait
for ((i = 0; i < 20000; i++)); do s=$((s + i % 7)); done; echo $s
"""
SCENE = """camera { location <0, 2, -6> look_at <0, 1, 0> } light_source { <4, 9, -6> rgb 1 }
plane { y, 0 pigment { checker rgb 1, rgb 0.2 } finish { reflection 0.3 } }
sphere { <0, 1.2, 0>, 1.2 pigment { rgb <1, .4, .2> } finish { phong 0.8 reflection 0.4 } }
"""
LOOP_JS = """function mix(n) { let s = 0; const m = new Map();
  for (let i = 0; i < n; i++) { s = (s * 31 + i) % 1000003; m.set(s % 997, i); } return s + m.size; }
console.log(mix(1500000));
"""
LOOP_LUA = """local t, s = {}, 0
for i = 1, 1000000 do t[i % 1000] = i; s = (s * 31 + (t[(i * 7) % 1000] or 0)) % 1000003 end print(s)
"""
LOOP_RB = "h = Hash.new(0); s = 0; 300_000.times { |i| h[i % 977] += i; s = (s * 31 + i) % 1000003 }; puts s + h.size\n"
MAKEFILE = """all: one.o two.o three.o
	gcc -shared -o all one.o two.o three.o
Makefile: ;
%.o: source.c
	gcc -O2 -fPIC -DNAME=$* -c -o $@ source.c
"""


def lay_out(folder):
    """Files that the programs read."""
    def put(name, text, mode=0o644):
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path
    put("threads.go", GO)
    put("sieve.py", SIEVE_PY)
    put("script", "#!/usr/bin/env python3\n" + SIEVE_PY, 0o755)
    put("wrapper", '#!/bin/sh\nexec python3 "$(dirname "$0")/sieve.py" "$@"\n', 0o755)
    put("runner", '#!/bin/sh\npython3 "$(dirname "$0")/sieve.py" "$@"\nstatus=$?\nexit $status\n', 0o755)
    put("profiled.py", PROFILED_PY)
    put("alarm.pl", ALARM_PL)
    put("trap.sh", TRAP_SH)
    put("scene.pov", SCENE)
    put("loop.js", LOOP_JS)
    put("loop.lua", LOOP_LUA)
    put("loop.rb", LOOP_RB)
    put("Makefile", MAKEFILE)
    put("source.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n"
        + "".join(f"static int f{i}(int a, int b) {{ for (int i = 0; i < b; i++) a = a * {i + 3} % (b + {i + 1}) + i; "
                  f"return a; }}\n" for i in range(24)) + "int NAME(int a) { return "
        + " + ".join(f"f{i}(a, 3)" for i in range(24)) + "; }\n")
    put("two.json", json.dumps([{"id": i, "tags": [str(i % 7), str(i % 11)], "x": i / 3} for i in range(60000)]))
    put("nginx.conf", f"daemon off; pid {folder}/nginx.pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; "
        f"fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};\n"
        f"server {{ listen 127.0.0.1:{NGINX}; root {folder}; gzip on; gzip_min_length 1; "
        f"gzip_types *; gzip_comp_level 9; }} }}\n")
    with open(os.path.join(folder, "numbers"), "w") as file:
        file.writelines(f"{i * 7919 % 100003} {i % 17}\n" for i in range(120000))
    subprocess.run(["go", "build", "-o", "threads", "threads.go"], cwd=folder, check=True,
                   env=dict(ENVIRONMENT, GOCACHE=os.path.join(folder, "cache")))


NGINX, REDIS, PYTHON = 28731, 28732, 28733
GET = [b"GET /two.json HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n"]
SETS = [f"*3\r\n$3\r\nSET\r\n$5\r\nk{i % 1000:04}\r\n$4\r\nabcd\r\n".encode() for i in range(100)]


def programs(folder):
    numbers = os.path.join(folder, "numbers")
    return [
        Program("Go, 8 goroutines", ["./threads"], r"main\.work|runtime\.map|sort\.|aeshash"),
        Program("Rust: ripgrep", ["rg", "-c", "struct [a-z]+_[a-z]+", "/usr/include/linux"], "^rg$"),
        Program("node", ["node", "loop.js"], r"node|\[anon\]|mix|perf"),
        Program("node with names", ["node", "--perf-basic-prof", "loop.js"], r"mix"),
        Program("ruby", ["ruby", "loop.rb"], "libruby"),
        Program("luajit", ["luajit", "loop.lua"], r"luajit|\[anon\]"),
        Program("lua", ["lua5.4", "loop.lua"], "lua"),
        Program("ImageMagick", ["convert-im6.q16", "-size", "300x300", "plasma:red-blue", "-blur", "0x6",
                                "-resize", "60%", "null:"], "libMagick|libgomp|libm"),
        Program("ffmpeg", ["ffmpeg", "-v", "quiet", "-f", "lavfi", "-i", "testsrc=duration=6:size=320x240",
                           "-c:v", "mpeg4", "-f", "null", "-"], "libav|libsw"),
        Program("povray", ["povray", "+Iscene.pov", "-D", "+W100", "+H80", "-GA", "+Onull.png"],
                "povray"),
        Program("redis under a client", ["redis-server", "--port", str(REDIS), "--bind", "127.0.0.1",
                                         "--save", ""], "redis|libc", ["--for", f"{MANY_SECONDS}s"],
                (REDIS, SETS)),
        Program("nginx, workers", ["nginx", "-c", os.path.join(folder, "nginx.conf")], "nginx|libz",
                ["--for", f"{MANY_SECONDS}s"], (NGINX, GET)),
        Program("python http.server", ["python3", "-m", "http.server", str(PYTHON), "--bind",
                                       "127.0.0.1"], "python|libpython|libc", ["--for", f"{MANY_SECONDS}s"],
                (PYTHON, GET)),
        Program("a makefile", ["make", "-B", "-s"], "cc1|as$|ld|collect"),
        Program("script with env", ["./script", "300000"], "python"),
        Program("python by exec in a wrapper", ["./wrapper", "300000"], "python"),
        Program("python as a wrapper's child", ["./runner", "300000"], "python"),
        Program("profiler by setitimer", ["python3", "profiled.py"], "python"),
        Program("perl with ualarm", ["perl", "alarm.pl"], "perl"),
        Program("bash with a trap on CHLD", ["bash", "trap.sh"], "bash"),
        Program("shell pipeline", ["sh", "-c", f"head -c 700000 {numbers} | gzip -9 | md5sum"],
                "gzip|md5sum|libcrypto"),
        Program("xz, two threads", ["xz", "-k", "-c", "-T2", "-1", numbers], "liblzma"),
        Program("sqlite3", ["sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x+1 "
                            "from c where x < 120000) select count(distinct x * 7919 % 10007), "
                            "sum(x % 13) from c"], "sqlite"),
        Program("gcc -O2", ["gcc", "-O2", "-DNAME=n", "-c", "-o", "/dev/null", "source.c"], "cc1|as$"),
        Program("openssl speed, by alarm", ["openssl", "speed", "-seconds", "1", "-bytes", "8192",
                                            "sha256"], "libcrypto"),
        Program("awk", ["mawk", "{ s[$2] += $1 * 3 } END { for (k in s) print k, s[k] }", numbers], "mawk"),
        Program("sort, parallel", ["sort", "--parallel=2", "-n", "-o", "/dev/null", numbers], "sort|libc"),
        Program("jq", ["jq", "map(select(.id % 3 == 0) | .x) | add", "two.json"], "jq|libonig|libc"),
    ]


# ---- one program ----

def serve(serves, until):
    """Sends the requests in turn, at most a thousand, and counts the answers."""
    port, requests = serves
    answered = 0
    while answered < 1000 and time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                for request in requests:
                    connection.sendall(request)
                    if not connection.recv(1 << 16):
                        break
                    answered += 1
                while len(requests) == 1 and connection.recv(1 << 16):
                    pass
        except OSError:
            time.sleep(0.2)
    return answered


def run_once(line, folder, serves=None, seconds=LIMIT_SECONDS):
    """(exit status or None when it had to be killed, seconds, standard error, answers)"""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile("w+") as error:
        process = subprocess.Popen(line, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=error, start_new_session=True)
        answers = serve(serves, start + MANY_SECONDS) if serves else None
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
        error.seek(0)
        return status, time.monotonic() - start, error.read(), answers


def explain(culprit, program, folder, limit=LIMIT_SECONDS):
    path = os.path.join(folder, "report.json")
    if os.path.exists(path):
        os.unlink(path)
    line = [culprit, "explain", "--json", "--top", "0", "--output", path, *program.options, "--",
            *program.command]
    status, seconds, error, answers = run_once(line, folder, program.serves, limit)
    try:
        with open(path) as file:
            report = json.load(file)
    except (OSError, ValueError):
        report = None
    return status, seconds, error, answers, report


def share_of(report, pattern):
    return sum(row["share"] for row in report["functions"]
               if re.search(pattern, row["image"]) or re.search(pattern, row["function"] or ""))


def judged(outcome, program, native_status):
    """What a person would find wrong with it; empty: nothing."""
    status, seconds, error, answers, report = outcome
    said = [line for line in error.splitlines() if line.startswith("culprit: ")]
    if status is None:
        return f"not done after {seconds:.0f} s"
    if not report:
        return said[-1] if said else f"no report, status {status}"
    if report["partial"]:
        return f"a part of the run only: {said[-1] if said else 'no reason given'}"
    if status != native_status and not program.serves:
        return f"status {status} where natively {native_status}"
    share = share_of(report, program.work)
    if share < 0.5:
        return f"{100 * share:.0f} % of the page is the program's work; first: " \
               f"{report['functions'][0]['image']}"
    return ""


def summary(outcome):
    report = outcome[4]
    first = report["functions"][0]
    return (f"{report['instructions_executed'] / 1e9:.2f} G", f"{report['cpi']:.2f}",
            f"`{first['function'] or first['image']}` ({first['image']})",
            f"{100 * first['share']:.0f} %")


def row_of(program, folder):
    name = program.command[0]
    if "/" not in name and not shutil.which(name, path=ENVIRONMENT["PATH"]):
        return [program.name, "not installed"] + [""] * 6, False
    native = [run_once(program.command, folder) for _ in range(3)] if not program.serves else []
    native_status = native[0][0] if native else 0
    if native_status:
        sys.exit(f"{program.name}: natively status {native_status}: {native[0][2]}")
    seconds = statistics.median(once[1] for once in native) if native else None
    now = explain(run.CULPRIT, program, folder)
    fault = judged(now, program, native_status)
    before = ""
    if os.environ.get("BEFORE") and not program.options:
        before = judged(explain(os.environ["BEFORE"], program, folder, BEFORE_SECONDS), program,
                        native_status)
    elif program.options:
        before = "no limit by time: never ends"
    figures = summary(now) if now[4] else ("", "", "", "")
    timing = f"{seconds:.2f} s" if seconds else f"{now[3]} answers"
    ratio = f"{now[1]:.0f} s" + (f", {now[1] / seconds:.0f} ×" if seconds else "")
    print(f"{program.name}: {timing} {ratio} {figures} now: {fault or 'right'} before: {before}",
          file=sys.stderr)
    return [program.name, timing, ratio, *figures, before, fault or "right"], not fault


def kept_rows():
    """Rows of runs before, by the culprits they are of and the program: {key: [row, right]}."""
    try:
        with open(KEPT_ROWS) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def kept_row(program, folder, culprits):
    """As row_of(), which a run that was interrupted need not do again."""
    key = f"{culprits} {program.name} {' '.join(program.command).replace(folder, '')}"
    rows = kept_rows()
    if key not in rows:
        row = row_of(program, folder)
        rows = kept_rows()
        rows[key] = row
        os.makedirs(run.KEPT, exist_ok=True)
        with open(KEPT_ROWS, "w") as file:
            json.dump(rows, file)
    return rows[key]


def cell(value):
    """Short enough for the table, without the names of temporary folders."""
    text = re.sub(r"/tmp/culprit-\w+/", "", str(value))
    return text if len(text) <= 90 else text[:90] + " …"


def main():
    chosen = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder)
        culprits = run.digest(*[path for path in (run.CULPRIT, os.environ.get("BEFORE")) if path])
        listed = [program for program in programs(folder) if not chosen or program.name in chosen]
        rows = [kept_row(program, folder, culprits) for program in listed]
    right = sum(good for _, good in rows)
    body = (f"{right} of {len(rows)} programs were explained to the end, with their real work explained.\n\n"
            + page.table(["program", "native", "explain", "instructions", "CPI", "first function", "its share",
                          "wrong before", "now"], [[cell(value) for value in row] for row, _ in rows]))
    if not chosen:
        page.write("programs", "experiments/programs.py", body)


main()
