"""live_mix.py SECONDS FOLDER: keeps two processors busy with a mixture: a large C file compiled in
a loop, gzip, sqlite3, and a shell that starts thousands of short processes. The programs are copies
under names of their own, so that nothing else on the machine is mistaken for them. Prints, as JSON,
the processor seconds of each name, from the kernel's own account of the processes, and how many
there were."""
import json, os, shutil, subprocess, sys, threading, time

seconds, folder = float(sys.argv[1]), sys.argv[2]
deadline = time.monotonic() + seconds
used, started, lock = {}, {}, threading.Lock()


def copy(name, program):
    path = os.path.join(folder, name)
    shutil.copy(program, path)
    os.chmod(path, 0o755)
    return path


def account(name, usage, count):
    with lock:
        used[name] = used.get(name, 0) + usage.ru_utime + usage.ru_stime
        started[name] = started.get(name, 0) + count


def loop(name, *command, **redirections):
    """The command again and again; the last one is let run to its end."""
    while time.monotonic() < deadline:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, **redirections)
        account(name, os.wait4(child.pid, 0)[2], 1)


def short_processes(shell, true):
    """The shell and what it starts count together: a child bears the shell's name until its exec."""
    script = "i=0; while [ $i -lt 500 ]; do %s; i=$((i+1)); done" % true
    while time.monotonic() < deadline:
        child = subprocess.Popen([shell, "-c", script])
        account("mix-sh", os.wait4(child.pid, 0)[2], 501)


source, text = os.path.join(folder, "large.c"), os.path.join(folder, "text")
with open(source, "w") as file:
    for i in range(300):
        file.write(f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) "
                   f"{{ s += a[i] * {i + 3}; if (s % {i + 7} == 3) s ^= a[n - i - 1]; }} return s; }}\n")
with open(text, "w") as file:
    x = 1
    for i in range(300000):
        x = x * 16807 % 2147483647
        file.write(f"{x} {i % 977}\n")
query = ("create table t(a integer primary key, b integer); with recursive n(i) as (select 1 union "
         "all select i + 1 from n where i < 200000) insert into t select i, i * 7919 % 10007 from n; "
         "select count(*), sum(b) from t where b % 3 = 0;")
compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                          check=True).stdout.strip()
threads = [
    threading.Thread(target=loop, args=("mix-cc1", copy("mix-cc1", compiler), "-quiet", "-O2", source,
                                        "-o", "/dev/null")),
    threading.Thread(target=loop, args=("mix-gzip", copy("mix-gzip", shutil.which("gzip")), "-9", "-c",
                                        text)),
    threading.Thread(target=loop, args=("mix-sqlite3", copy("mix-sqlite3", shutil.which("sqlite3")),
                                        ":memory:", query)),
    threading.Thread(target=short_processes, args=(copy("mix-sh", "/bin/dash"),
                                                   copy("mix-true", "/bin/true"))),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"seconds": used, "processes": started}))
