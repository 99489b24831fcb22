#!/usr/bin/env python3
"""Many hosts: how large their epochs are, how fast 50 writers send them to a server of PostgreSQL, what
that costs a host, how long questions take, in a file and on the server; into docs/results/fleet.md.

Epochs are made from recorded ones (lib/fleet_store.py). Several sizes, HOSTSxDAYS each, show how figures
grow. A size that would take more than --space in the scratch folder is left out and named. The page is
written after each size. A part without sizes is left as it stands.

  experiments/fleet.py
  experiments/fleet.py --file 100x1 --server ""
  experiments/fleet.py --file "" --server 100x1,1000x7"""
import argparse
import concurrent.futures
import glob
import os
import pwd
import re
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
UNSUMMED = 30000  # epochs, of more of which sums are made before anything is asked
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
    figures = measure(path, epochs, epochs <= UNSUMMED)
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
        sending = [writers.submit(send, store, server.address) for store in stores]
        while concurrent.futures.wait(sending, timeout=5).not_done:
            eta(int(server.sql("SELECT count(*) FROM culprit.session")))
        for one in sending:
            one.result()
    seconds = time.time() - began
    used = processor(resource.getrusage(resource.RUSAGE_CHILDREN)) - processor(before)
    served = server.processor() - busy
    sent = server.size() - server.empty
    for store in stores:
        for name in glob.glob(store + "*"):
            os.remove(name)
    figures = measure(server.address, epochs, epochs <= UNSUMMED)
    figures.update(bytes=sent, sum_bytes=server.size() - server.empty - sent, seconds=seconds, writers=len(stores),
                   host_seconds=used / epochs, server_seconds=served / epochs)
    return figures


# ---- the page ----


def seconds(figures):
    return None if figures is None else f"{figures[0]:.2f} ({figures[1]:.2f})"


def size_name(hosts, days, minutes):
    return f"{hosts:,} hosts × {days} d, {minutes} min"


HOST_COST = "a host's processor for an epoch, ms"
SERVER_COST = "the server's, ms"


def figures_table(sizes, measured):
    rows = [["epochs"] + [f"{figures['epochs']:,}" for figures in measured],
            ["bytes of an epoch"] + [f"{figures['bytes'] / figures['epochs']:,.0f}" for figures in measured],
            ["all, MB"] + [f"{figures['bytes'] / 1e6:,.0f}" for figures in measured],
            ["sums of days besides, MB"] + [f"{figures['sum_bytes'] / 1e6:,.0f}" for figures in measured]]
    if "seconds" in measured[0]:
        rows += [["writers at once"] + [figures["writers"] for figures in measured],
                 ["epochs sent a second, in sum"] + [f"{figures['epochs'] / figures['seconds']:.0f}"
                                                     for figures in measured],
                 [HOST_COST] + [f"{1e3 * figures['host_seconds']:.1f}"
                                                            for figures in measured],
                 [SERVER_COST] + [f"{1e3 * figures['server_seconds']:.1f}" for figures in measured]]
    rows += [["epochs sum"] + [seconds(figures["sum"]) for figures in measured],
             ["top of all, without sums"] + [seconds(figures.get("unsummed")) for figures in measured]]
    rows += [[title] + [seconds(figures["questions"][title]) for figures in measured] for title, _ in QUESTIONS]
    return page.table([""] + [size_name(*size) for size in sizes], rows)


def of_table(text):
    """Of the largest size in a table that figures_table() made: {row: [its numbers]}."""
    figures = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        numbers = re.findall(r"[0-9.]+", cells[-1].replace(",", ""))
        if line.startswith("|") and numbers:
            figures[cells[0]] = [float(number) for number in numbers]
    return figures


def plan(file, server):
    """What 100,000 hosts need, from the largest sizes measured."""
    hosts, rows = 100000, []
    for minutes in (1440, 60, 10):
        epochs = hosts * 1440 / minutes
        row = [f"{minutes} min", f"{epochs / 86400:,.0f}"]
        if file:
            row += [f"{epochs * file['bytes of an epoch'][0] / 1e9:,.0f}",
                    f"{epochs * file['epochs sum'][1] / file['epochs'][0] / 3600:.1f}"]
        if server:
            row += [f"{epochs * server['bytes of an epoch'][0] / 1e9:,.0f}",
                    f"{epochs / 86400 * server[SERVER_COST][0] / 1e3:.2f}",
                    f"{100 * server[HOST_COST][0] / 1e3 / (60 * minutes):.4f}"]
        rows.append(row)
    heads = ["epochs of", "epochs a second"]
    heads += ["GB a day in a file", "hours of a processor to sum a day"] if file else []
    heads += ["GB a day on a server", "processors of the server to take them", "% of a host's processor"] if server else []
    return page.table(heads, rows)


class Sizes:
    """One part of the page: the sizes that were measured there, and what was left out."""

    def __init__(self, title, sizes, minutes, space, epoch_bytes):
        self.title, self.minutes, self.sizes, self.measured, self.left_out, self.todo = title, minutes, [], [], [], []
        for hosts, days in sizes:
            room = hosts * days * 1440 / minutes * epoch_bytes
            if room > space * 1e9:
                self.left_out.append(f"{size_name(hosts, days, minutes)}: {room / 1e9:.0f} GB")
            else:
                self.todo.append((hosts, days))

    def add(self, size, figures):
        self.sizes.append((*size, self.minutes))
        self.measured.append(figures)

    def text(self, head):
        text = f"{head}\n\n{figures_table(self.sizes, self.measured)}"
        if self.left_out:
            text += "\nLeft out for want of room: " + "; ".join(self.left_out) + ".\n"
        return text


def write_page(head, parts):
    old = page.parts("fleet", SCRIPT)
    texts = {part.title: part.text(head) if part.measured else old.get(part.title) for part in parts}
    text = "".join(f"### {title}\n\n{part}\n\n" for title, part in texts.items() if part)
    text += "### 100,000 hosts\n\n" + plan(*[part and of_table(part) for part in texts.values()])
    page.write("fleet", SCRIPT, text)
    return text


def sizes_of(text):
    return [tuple(int(number) for number in size.split("x")) for size in text.split(",") if size]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--file", type=sizes_of, default="100x1,333x3,1000x7", help="sizes, HOSTSxDAYS,...")
    options.add_argument("--server", type=sizes_of, default="50x1,100x1", help="likewise")
    options.add_argument("--epoch", type=int, default=60, help="minutes of an epoch, a divisor of a day's")
    options.add_argument("--samples", type=int, default=100000, help="of an epoch, in the mean")
    options.add_argument("--space", type=float, default=20, help="GB that the scratch folder may take")
    options.add_argument("--scratch", help="where it is made")
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix="fleet-", dir=given.scratch)
    server = None
    try:
        recorded = record(folder)
        pools = recorded.vary(given.samples, 1)
        of_row = sum(sum(len(variant[1]) for variant in pool if variant) / len(pool) + 150 for pool in pools)
        file = Sizes("In a file", given.file, given.epoch, given.space, 1.2 * of_row)
        on = Sizes("On a server", given.server, given.epoch, given.space, 3 * of_row)
        head = f"Recorded: {', '.join(PROGRAMS)}; {len(recorded.rows)} profiles of an image in a process, " \
               f"{given.samples:,} samples an epoch in the mean. Seconds as they passed, the processor's in brackets" \
               f"; {os.cpu_count()} processors."
        text = ""
        for size in file.todo:
            file.add(size, in_file(folder, recorded, pools, *size, given.epoch))
            text = write_page(head, (file, on))
        if on.todo:
            server = Server(folder)
        for size in on.todo:
            on.add(size, on_server(folder, server, recorded, pools, *size, given.epoch))
            text = write_page(head, (file, on))
        print(text)
    finally:
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
