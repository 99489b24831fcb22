"""Compares the calls that culprit saw with a program's own log of them (tests/guests/call_log.h).

    call_log.py [--names] PROGRAM LOG REPORT.json

REPORT is culprit sim --tree --json of the run that wrote LOG, whose functions are addresses, or names.

Chains of the program's own functions, and how often each was entered, must be the same. Prints what
differs, and how many chains and calls there were."""

import collections
import json
import subprocess
import sys

REPEATED_MOST = 32


def fold(chain):
    """Recursion is folded as reports fold it: of a run of functions that is repeated there is one."""
    folded = []
    for function in chain:
        for length in range(1, min(REPEATED_MOST, len(folded)) + 1):
            if folded[-length] == function and all(
                len(folded) > length + i and folded[-1 - i] == folded[-1 - length - i]
                for i in range(length - 1)
            ):
                folded = folded[: len(folded) - length + 1]
                break
        else:
            folded.append(function)
    return tuple(folded)


def logged(program, log, named):
    names = {}
    for line in subprocess.check_output(["nm", "-C", program], text=True).splitlines():
        address, kind, name = (line.split(maxsplit=2) + ["", ""])[:3]
        if kind in "tTwW":
            names.setdefault(int(address, 16), name)
    chains = collections.Counter()
    for line in open(log):
        chain, entered = line.split()
        functions = [name if named else names[int(name, 16)] for name in chain.split(";")]
        chains[fold(functions)] += int(entered)
    return chains


def seen(report, functions):
    tree = json.load(open(report))["tree"]
    paths, chains = [()], collections.Counter()
    for frame in tree[1:]:
        own = frame["procedure"] in functions
        paths.append(paths[frame["parent"]] + ((frame["procedure"],) if own else ()))
        if own:
            chains[fold(paths[-1])] += round(frame["calls"])
    return chains


def main():
    program, log, report = sys.argv[-3:]
    expected = logged(program, log, "--names" in sys.argv)
    functions = {name for chain in expected for name in chain}
    found = seen(report, functions)
    for chain in sorted(set(expected) | set(found)):
        if expected[chain] != found[chain]:
            print(f"{' > '.join(chain)}: {expected[chain]} logged, {found[chain]} seen")
    print(f"{len(expected)} chains, {sum(expected.values())} calls")
    return expected != found


if __name__ == "__main__":
    sys.exit(main())
