#!/usr/bin/env python3
"""Many hosts: how large their epochs are, how fast 50 writers send them to a server of PostgreSQL, what
that costs a host, how long questions take, in a file and on the server; into docs/results/fleet.md.

Epochs are made from recorded ones (lib/fleet_store.py). Three sizes, of which the last is --hosts times
--days, show how figures grow. A size that would take more than --space in the scratch folder is left
out and named.

  experiments/fleet.py                             1,000 hosts, 7 days, in a file; 100 of a day on a server
  experiments/fleet.py --hosts 100 --days 1 --no-server"""
import argparse
import concurrent.futures
import glob
import os
import pwd
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from lib import fleet_store, page
from lib.run import CULPRIT

SCRIPT = "experiments/fleet.py"
START = 1767225600  # 2026-01-01 00:00 UTC
WRITERS = 50
PROGRAMS = {
    "gzip": "gzip -9 -c /usr/bin/gdb /usr/bin/gzip /bin/bash > /dev/null",
    "python": "python3 -c 'import json\nfor i in range(600): json.loads(json.dumps({str(k): k for k in range(2000)}))'",
    "sort": "head -c 6000000 /dev/urandom | base64 | sort > /dev/null",
    "tar": "tar -C / -cf - usr/include | xz -1 > /dev/null",
}
QUESTIONS = [
    ("top of all", ["top", "--host", "*"]),
    ("top of a tenth of the hosts, one day", ["top", "--host", "host-*0", "--since", "2026-01-01T00:00Z",
                                              "--until", "2026-01-02T00:00Z"]),
    ("top of all, hours of two days besides", ["top", "--since", "2026-01-01T07:00Z", "--until",
                                               "2026-01-08T20:00Z"]),
    ("top --by host", ["top", "--by", "host"]),
    ("top --outliers", ["top", "--outliers"]),
    ("variance --hosts", ["variance", "--hosts"]),
]


def progress(text):
    print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end="" if sys.stderr.isatty() else "\n",
          file=sys.stderr, flush=True)


class Eta:
    """Tells how far a step is, twice a second."""

    def __init__(self, what, total):
        self.what, self.total, self.began, self.told = what, total, time.time(), 0

    def __call__(self, done):
        now = time.time()
        if now - self.told < (0.5 if sys.stderr.isatty() else 30) or not done:
            return
        self.told = now
        left = (now - self.began) * (self.total - done) / done
        progress(f"{self.what}: {done:,} of {self.total:,} epochs, {left:.0f} s left")


def run(*arguments, store):
    """Seconds that it took, seconds of processor time, MB at most, what it printed."""
    began = time.time()
    child = subprocess.Popen([CULPRIT, *arguments, "--store", store], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    output, errors = child.communicate()
    if child.returncode:
        sys.exit(f"culprit {' '.join(arguments)}: {errors}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.time() - began, used, output


def processor(used):
    return used.ru_utime + used.ru_stime


def timed(*arguments, store, tries=1):
    """Least of several tries: (seconds, seconds of the processor)."""
    best = None
    for _ in range(tries):
        before = processor(resource.getrusage(resource.RUSAGE_CHILDREN))
        seconds, used, output = run(*arguments, store=store)
        found = (seconds, processor(used) - before, output)
        best = min(best or found, found)
    return best


def record(folder):
    paths = []
    for name, command in PROGRAMS.items():
        progress(f"recording {name}")
        paths.append(os.path.join(folder, f"recorded-{name}.db"))
        subprocess.run([CULPRIT, "record", "--store", paths[-1], "--", "sh", "-c", command],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return fleet_store.Recorded(paths)


def new_store(path):
    """As culprit makes it, and empty."""
    for command in (["record", "--store", path, "true"], ["epochs", "remove", "all", "--store", path]):
        subprocess.run([CULPRIT, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def size_of(path):
    return sum(os.path.getsize(name) for name in glob.glob(path + "*"))


def names(count, first=0):
    return [f"host-{i:05}" for i in range(first, first + count)]


def ask(store):
    figures = {}
    for title, arguments in QUESTIONS:
        progress(f"asking: {title}")
        figures[title] = timed(*arguments, store=store, tries=2)[:2]
    return figures


def measure(store, epochs, ask_before):
    figures = {"epochs": epochs}
    if ask_before:
        progress("asking without sums")
        figures["unsummed"] = timed("top", "--host", "*", store=store)[:2]
    progress("making sums")
    figures["sum"] = timed("epochs", "sum", store=store)[:2]
    figures["questions"] = ask(store)
    return figures


# ---- a file ----


def in_file(folder, recorded, pools, hosts, days, minutes):
    path = os.path.join(folder, "fleet.db")
    new_store(path)
    epochs = hosts * days * 1440 // minutes
    fleet_store.fill(path, recorded, pools, names(hosts), START, days, minutes, 1, Eta("writing", epochs))
    before = size_of(path)
    figures = measure(path, epochs, epochs <= 30000)
    figures.update(bytes=before, sum_bytes=size_of(path) - before)
    for name in glob.glob(path + "*"):
        os.remove(name)
    return figures


# ---- a server ----


class Server:
    """In the scratch folder, on a socket there; as its own user where this is root."""

    def __init__(self, folder):
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.folder = os.path.join(folder, "server")
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        os.mkdir(self.folder)
        os.chmod(folder, 0o755)
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.call("initdb", "-D", self.folder + "/data", "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C")
        self.call("pg_ctl", "-D", self.folder + "/data", "-w", "-l", self.folder + "/log", "-o",
                  f"-k {self.folder} -c listen_addresses='' -c shared_buffers=256MB -c max_connections=100", "start")
        self.address = f"postgresql://owner@/fleet?host={self.folder}"

    def call(self, program, *arguments):
        command = [f"{self.programs}/{program}", *arguments]
        if self.user:
            command = ["runuser", "-u", self.user.pw_name, "--", *command]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sql(self, text, database="fleet"):
        return subprocess.run(["psql", "-X", "-h", self.folder, "-U", "owner", "-d", database, "-qAt", "-c", text],
                              check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def begin(self):
        self.sql("DROP DATABASE IF EXISTS fleet WITH (FORCE)", "postgres")
        self.sql("CREATE DATABASE fleet", "postgres")
        run("epochs", "init", store=self.address)
        self.empty = self.size()

    def size(self):
        return int(self.sql("SELECT pg_database_size('fleet')"))

    def processor(self):
        """Seconds of all processes that have ended or run."""
        with open(self.folder + "/data/postmaster.pid") as file:
            parent = file.readline().strip()
        ticks = 0
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if path.split("/")[2] == parent:
                ticks += sum(int(field) for field in fields[11:15])
            elif fields[1] == parent:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.call("pg_ctl", "-D", self.folder + "/data", "-w", "-m", "immediate", "stop")


def send(store, address):
    began = time.time()
    child = subprocess.run([CULPRIT, "epochs", "export", "--epoch", "all", "--push", address, "--store", store],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if child.returncode:
        raise RuntimeError(child.stderr)
    return time.time() - began


def on_server(folder, server, recorded, pools, hosts, days, minutes):
    """Each of the writers has the store of some hosts, and sends all of it."""
    server.begin()
    epochs, stores = hosts * days * 1440 // minutes, []
    share = max(1, hosts // WRITERS)
    for at in range(0, hosts, share):
        stores.append(os.path.join(folder, f"writer-{at}.db"))
        new_store(stores[-1])
        fleet_store.fill(stores[-1], recorded, pools, names(min(share, hosts - at), at), START, days, minutes, at)
    progress(f"{len(stores)} stores of writers are made")
    before, busy = resource.getrusage(resource.RUSAGE_CHILDREN), server.processor()
    began, eta = time.time(), Eta(f"sending from {len(stores)} stores", epochs)
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as writers:
        for done, _ in enumerate(concurrent.futures.as_completed(
                [writers.submit(send, store, server.address) for store in stores]), 1):
            eta(done * epochs // len(stores))
    seconds = time.time() - began
    used = processor(resource.getrusage(resource.RUSAGE_CHILDREN)) - processor(before)
    served = server.processor() - busy
    sent = server.size() - server.empty
    for store in stores:
        for name in glob.glob(store + "*"):
            os.remove(name)
    figures = measure(server.address, epochs, True)
    figures.update(bytes=sent, sum_bytes=server.size() - server.empty - sent, seconds=seconds, writers=len(stores),
                   host_seconds=used / epochs, server_seconds=served / epochs)
    return figures


# ---- the page ----


def seconds(figures):
    return None if figures is None else f"{figures[0]:.2f} ({figures[1]:.2f})"


def size_name(hosts, days, minutes):
    return f"{hosts:,} hosts × {days} d, {minutes} min"


def figures_table(sizes, measured):
    rows = [["epochs"] + [f"{figures['epochs']:,}" for figures in measured],
            ["bytes of an epoch"] + [f"{figures['bytes'] / figures['epochs']:,.0f}" for figures in measured],
            ["all, MB"] + [f"{figures['bytes'] / 1e6:,.0f}" for figures in measured],
            ["sums of days besides, MB"] + [f"{figures['sum_bytes'] / 1e6:,.0f}" for figures in measured]]
    if "seconds" in measured[0]:
        rows += [["writers at once"] + [figures["writers"] for figures in measured],
                 ["epochs sent a second, in sum"] + [f"{figures['epochs'] / figures['seconds']:.0f}"
                                                     for figures in measured],
                 ["a host's processor for an epoch, ms"] + [f"{1e3 * figures['host_seconds']:.1f}"
                                                            for figures in measured],
                 ["the server's, ms"] + [f"{1e3 * figures['server_seconds']:.1f}" for figures in measured]]
    rows += [["epochs sum"] + [seconds(figures["sum"]) for figures in measured],
             ["top of all, without sums"] + [seconds(figures.get("unsummed")) for figures in measured]]
    rows += [[title] + [seconds(figures["questions"][title]) for figures in measured] for title, _ in QUESTIONS]
    return page.table([""] + [size_name(*size) for size in sizes], rows)


def plan(file, server):
    """What 100,000 hosts need, from the largest sizes measured."""
    hosts, rows = 100000, []
    for minutes in (1440, 60, 10):
        epochs = hosts * 1440 / minutes
        row = [f"{minutes} min", f"{epochs / 86400:,.0f}", f"{epochs * file['bytes'] / file['epochs'] / 1e9:,.0f}",
               f"{epochs * file['sum'][1] / file['epochs'] / 3600:.1f}"]
        if server:
            row += [f"{epochs * server['bytes'] / server['epochs'] / 1e9:,.0f}",
                    f"{epochs / 86400 * server['server_seconds']:.2f}",
                    f"{100 * server['host_seconds'] / (60 * minutes):.4f}"]
        rows.append(row)
    heads = ["epochs of", "epochs a second", "GB a day in a file", "hours of a processor to sum a day"]
    heads += ["GB a day on a server", "processors of the server to take them", "% of a host's processor"] if server else []
    return page.table(heads, rows)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--hosts", type=int, default=1000)
    options.add_argument("--days", type=int, default=7)
    options.add_argument("--epoch", type=int, default=60, help="minutes of an epoch, a divisor of a day's")
    options.add_argument("--samples", type=int, default=100000, help="of an epoch, in the mean")
    options.add_argument("--server-hosts", type=int, default=100)
    options.add_argument("--server-days", type=int, default=1)
    options.add_argument("--no-server", action="store_true")
    options.add_argument("--space", type=float, default=20, help="GB that the scratch folder may take")
    options.add_argument("--scratch", help="where it is made")
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix="fleet-", dir=given.scratch)
    server = None
    try:
        recorded = record(folder)
        pools = recorded.vary(given.samples, 1)
        of_row = sum(sum(len(variant[1]) for variant in pool if variant) / len(pool) + 150 for pool in pools)
        sizes, measured, left_out = [], [], []
        for hosts, days in ((max(5, given.hosts // 10), 1), (max(5, given.hosts // 3), max(1, given.days // 2)),
                            (given.hosts, given.days)):
            room = hosts * days * 1440 / given.epoch * of_row * 1.2
            if room > given.space * 1e9:
                left_out.append(f"{size_name(hosts, days, given.epoch)} in a file: {room / 1e9:.0f} GB")
                continue
            measured.append(in_file(folder, recorded, pools, hosts, days, given.epoch))
            sizes.append((hosts, days, given.epoch))
        text = f"Recorded: {', '.join(PROGRAMS)}; {len(recorded.rows)} profiles of an image in a process, " \
               f"{given.samples:,} samples an epoch in the mean. Seconds as they passed, the processor's in brackets" \
               f"; {os.cpu_count()} processors.\n\n### In a file\n\n{figures_table(sizes, measured)}\n"
        on = []
        if not given.no_server and glob.glob("/usr/lib/postgresql/*/bin/initdb") and shutil.which("psql"):
            server = Server(folder)
            server_sizes = [(max(5, given.server_hosts // 2), given.server_days, given.epoch),
                            (given.server_hosts, given.server_days, given.epoch)]
            on = [on_server(folder, server, recorded, pools, *size) for size in server_sizes]
            text += f"\n### On a server\n\n{figures_table(server_sizes, on)}\n"
        text += f"\n### 100,000 hosts\n\n{plan(measured[-1], on[-1] if on else None)}"
        if left_out:
            text += "\nLeft out for want of room: " + "; ".join(left_out) + ".\n"
        page.write("fleet", SCRIPT, text)
        print(text)
    finally:
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
