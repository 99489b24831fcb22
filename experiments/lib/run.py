"""Runs culprit and keeps its reports: a run of which nothing has changed is not repeated.

A report is kept under build/experiments/reports by what it depends on: culprit and its plugin, the
machine files, the command and the files that it names. The environment of a command is fixed, so
that its stack lies at the same place every time."""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
KEPT = os.path.join(ROOT, "build", "experiments")
CULPRIT = os.path.join(ROOT, os.environ.get("CULPRIT", "build/culprit"))
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/", "PYTHONHASHSEED": "0",
               "CULPRIT_MACHINE": "zen4"}


def workload(name, isa="riscv64"):
    return os.path.join(ROOT, "build", "workloads", isa, name)


def digest(*paths):
    together = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as content:
            together.update(hashlib.sha256(content.read()).digest())
    return together.hexdigest()


def files_of(command):
    """The program and whatever other files the command names."""
    program = shutil.which(command[0], path=ENVIRONMENT["PATH"])
    if not program:
        sys.exit(f"{command[0]} is not installed: make deps")
    return [program] + [word for word in command[1:] if os.path.isfile(word)]


def key_of(arguments, command, culprit=CULPRIT):
    tool = [culprit, os.path.join(os.path.dirname(culprit), "libculprit-trace.so")]
    machines = sorted(glob.glob(os.path.join(ROOT, "machines", "*.ini")))
    content = json.dumps([arguments, command, digest(*tool, *machines, *files_of(command))])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def kept_report(verb, options, key, words, limit_seconds):
    arguments = [verb, "--json"] + [str(option) for option in options]
    kept = os.path.join(KEPT, "reports", key(arguments) + ".json")
    if not os.path.exists(kept):
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        execute([CULPRIT] + arguments + ["--output", kept + ".new"] + words, limit_seconds)
        os.replace(kept + ".new", kept)
    with open(kept) as content:
        return json.load(content)


def execute(line, limit_seconds):
    """Ends the script when it fails."""
    print("culprit", *line[1:], file=sys.stderr)
    with tempfile.TemporaryFile() as output:  # grep does less when that is /dev/null
        done = subprocess.run(line, env=ENVIRONMENT, stdin=subprocess.DEVNULL, cwd=ROOT,
                              stdout=output, stderr=subprocess.PIPE, timeout=limit_seconds)
    if done.returncode:
        sys.exit(f"status {done.returncode} of {' '.join(line)}:\n{done.stderr.decode()}")


def report(verb, options, command, limit_seconds=900):
    """The JSON object of `culprit VERB OPTIONS -- COMMAND`. Ends the script when it fails."""
    command = [str(word) for word in command]
    return kept_report(verb, options, lambda arguments: key_of(arguments, command),
                       ["--"] + command, limit_seconds)


def trace(options, command, limit_seconds=900, culprit=CULPRIT):
    """The path of a trace of the command, kept like a report."""
    command = [str(word) for word in command]
    key = key_of(["trace"] + options, command, culprit)
    path = os.path.join(KEPT, "traces", key + ".ctrace")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        execute([culprit, "trace"] + options + ["--output", path + ".new", "--"] + command,
                limit_seconds)
        os.replace(path + ".new", path)
    return path


def report_of(verb, options, *paths, limit_seconds=900):
    """The JSON object of `culprit VERB OPTIONS FILE...`."""
    return kept_report(verb, options, lambda arguments: key_of(arguments, [CULPRIT, *paths]),
                       list(paths), limit_seconds)
