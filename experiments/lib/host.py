"""This processor, as the experiments that are compared with it see it."""
import json
import os
import platform
import re
import subprocess
import sys

from lib import programs, run

# What the emulator's processor lacks, and sizes that the C library finds by it, libraries shall not
# go by on this one either: both run the same code. The last three are those of Intel's alone.
TUNABLES = {"hwcaps": "-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,-RTM,-Prefer_No_VZEROUPPER,"
                      "-Fast_Unaligned_Load", "x86_data_cache_size": 0x10000,
            "x86_shared_cache_size": 0x1080000, "x86_non_temporal_threshold": 0xc60000}
ENVIRONMENT = run.ENVIRONMENT | {
    "GLIBC_TUNABLES": ":".join(f"glibc.cpu.{name}={value}" for name, value in TUNABLES.items()),
    "OPENSSL_ia32cap": ":~0x600e0230000"}


def processor():
    with open("/proc/cpuinfo") as lines:
        keys = dict(re.split(r"\s*:\s*", line.strip(), maxsplit=1)
                    for line in lines.read().split("\n\n")[0].splitlines() if ":" in line)
    return (f"{keys.get('model name', platform.machine())} (family {int(keys['cpu family']):x}h, "
            f"model {int(keys['model']):02x}h)")


def default_machine():
    """The shipped machine of this processor, without the user's own files."""
    environment = {name: value for name, value in run.ENVIRONMENT.items()
                   if name != "CULPRIT_MACHINE"}
    said = subprocess.run([run.CULPRIT, "machines", "--json"], env=environment, check=True,
                          capture_output=True, text=True).stdout
    return json.loads(said)["defaults"]["x86-64"]["machine"]


def tool(name, libraries=()):
    """A program of this folder that uses culprit's library, and what that needs besides."""
    source = os.path.join(run.ROOT, "experiments", "lib", name + ".c")
    path = os.path.join(programs.INPUTS, name)
    library = os.path.join(os.path.dirname(run.CULPRIT), "libculprit.a")
    newest = max(os.path.getmtime(source), os.path.getmtime(library))
    if not os.path.exists(path) or os.path.getmtime(path) < newest:
        os.makedirs(programs.INPUTS, exist_ok=True)
        subprocess.run(["gcc", "-O2", "-I", os.path.join(run.ROOT, "src"), "-D_GNU_SOURCE", "-o",
                        path, source, library, *libraries, "-lm"], check=True)
    return path


def retention():
    """{key: value} of what others leave of the last cache at the moment."""
    said = subprocess.run([run.CULPRIT, "calibrate", "--only", "retention", "--quick", "--json"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return {row["key"]: int(row["value"]) for row in json.loads(said)["findings"] if row["state"] == "measured"}


def check_variants():
    """Ends if the C library takes other variants of its functions here than under the emulator."""
    command, told = [tool("variants")], []
    for line in (command, [run.CULPRIT, "trace", "-o", "/dev/null", "--", *command]):
        said = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True, check=True)
        told.append(dict(line.split() for line in said.stdout.splitlines()))
    different = [name for name in told[0] if told[0][name] != told[1].get(name)]
    if different:
        sys.exit("the C library takes other variants under the emulator: " + ", ".join(different))


def native_runs(command, times):
    """So many runs of a command, as `validate --host` measures them."""
    said = subprocess.run([tool("user_cycles"), str(times), *command], env=ENVIRONMENT,
                          cwd=run.ROOT, capture_output=True, text=True, check=True).stdout
    runs = [tuple(map(float, line.split())) for line in said.splitlines()]
    return [{"user_seconds": user, "system_seconds": system, "clock_ghz": clock / 1e9,
             "cycles": user * clock, "additions": room} for user, system, clock, room in runs]


# ---- the host as a machine ----

def chase():
    """Cycles of a dependent load by MiB of lines that are visited."""
    said = subprocess.run([tool("chase")], capture_output=True, text=True, check=True).stdout
    return {int(line.split()[0]): float(line.split()[1]) for line in said.splitlines()}


def kernel_in_user_time():
    """Cycles of user time that go with a page fault and with a system call."""
    said = subprocess.run([tool("faults")], capture_output=True, text=True, check=True).stdout
    return dict(zip(("fault", "call"), map(int, said.split())))


def measured_keys(path):
    """{key: value} of the lines of a machine file that say that they are measured."""
    section, found = "", {}
    with open(path) as lines:
        for line in lines:
            head = re.match(r"\[(.*)\]", line)
            key = re.match(r"(\S+)\s*=\s*(\S+)\s*; measured", line)
            section = head.group(1) + "." if head else section
            if key:
                found[section + key.group(1)] = key.group(2)
    return found


def calibrated(machine):
    """{key: value} of what docs/results/hosts/MACHINE.ini has measured, but for what the machine's own
    file says is measured: by hand-made code that says more of it; {}: there is none."""
    path = os.path.join(run.ROOT, "docs", "results", "hosts", machine + ".ini")
    if not os.path.exists(path):
        return {}
    by_hand = measured_keys(os.path.join(run.ROOT, "machines", machine + ".ini"))
    found = {key: value for key, value in measured_keys(path).items() if key not in by_hand}
    if "forms" in found:  # a table that is shipped has ports as well
        shipped = os.path.exists(os.path.join(run.ROOT, "machines", machine + ".forms"))
        table = os.path.join(os.path.dirname(path), found.pop("forms"))
        found |= {} if shipped else {"forms": table}
    return found
