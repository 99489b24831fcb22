# sim and explain of Python programs: lines and functions, exact where the program says how often
# it went there.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
python=$(python3 -S -c 'import sys; print(sys.executable)')

cat >work.py <<'PROGRAM'
import _thread


def hot(n):
    total = 0
    for i in range(n):
        total += i * i % 7 + i * 3 % 5 + i * 5 % 11 + i * 7 % 13
    return total


def steps(n):
    for i in range(n):
        yield i


def deep(n):
    return deep(n - 1) + 1 if n else 0


class Thing:
    def __lt__(self, other):
        return id(self) < id(other)


def fails():
    raise KeyError


def in_thread(ended):
    hot(10)
    ended.release()


def main():
    hot(800)
    assert sum(steps(30)) == 435
    assert deep(100) == 100
    sorted(Thing() for _ in range(2))
    for _ in range(7):
        try:
            fails()
        except KeyError:
            pass
    ended = _thread.allocate_lock()
    ended.acquire()
    _thread.start_new_thread(in_thread, (ended,))
    ended.acquire()


main()
PROGRAM
# What the interpreter does before it has a program is most of such a run, and no line's.
run trace --from Py_RunMain -o work.ctrace -- "$python" -I -S work.py >why 2>&1
run sim --python --top 0 --tree --json -o python.json work.ctrace
if grep -qE 'a Python before 3.11|functions of Python [0-9.]+ are not shown' python.json; then
    skip "sim of Python" "no CPython 3.11 to 3.13 here"
    finish
fi

# Of the whole page a hundredth is about Python: the rest is read once.
python3 -S - <<'PROGRAM'
import json
report = json.load(open("python.json"))
json.dump({key: report[key] for key in ("python", "tree", "cycles")}, open("look.json", "w"))
PROGRAM
cat >look.py <<'PROGRAM'
import json, sys
report = json.load(open("look.json"))
python = report["python"]
lines = {(row["file"], row["line"]): row for row in python["lines"] if row["file"].endswith("work.py")}
calls = {row["function"]: row["calls"] for row in python["functions"] if row["file"].endswith("work.py")}
tree = report["tree"]
def chain(at):
    names = []
    while at is not None:
        names.append(tree[at].get("procedure"))
        at = tree[at].get("parent")
    return names[::-1]
def sums():
    assert sum(row["cycles"] for row in python["lines"]) < report["cycles"]
    for rows in python["lines"], python["functions"]:
        assert abs(sum(row["cycles"] for row in rows) - python["cycles"]) < 1e-6 * python["cycles"]
        for row in rows:
            assert abs(sum(row["stack"].values()) - row["cycles"]) < 1e-6 * row["cycles"] + 1e-3
def hottest():
    row = max(lines.values(), key=lambda row: row["cycles"])
    assert (row["function"], row["line"]) == ("hot", 7), row
def exact():
    # A generator is entered when it is made, and each time that it goes on: 30 and 2 times, and once
    # to end; a thread's target once by each thread.
    assert calls == {"<module>": 1, "hot": 2, "steps": 32, "deep": 101, "Thing": 1,
                     "Thing.__lt__": 1, "fails": 7, "main": 1, "in_thread": 1, "main.<locals>.<genexpr>": 4}, calls
def frames():
    number = next(i for i, frame in enumerate(tree) if frame.get("procedure") == "hot")
    names = chain(number)
    assert names[-3:] == ["<module>", "main", "hot"], names
    assert not any("EvalFrame" in (name or "") for name in names), names
    loop = sum(frame["self"] for frame in tree if frame.get("procedure") == "_PyEval_EvalFrameDefault")
    assert loop < 0.02 * report["cycles"], loop
globals()[sys.argv[1]]()
PROGRAM
# A line is put before the loop, and one in it does more.
sed 's/^    total = 0/    total = 0\n    step = 1/; s/total += i \* i/total += len(str(i)) + i * i/' work.py >work2.py
run trace --from Py_RunMain -o work2.ctrace -- "$python" -I -S work2.py >why 2>&1
compares() {
    run compare --json -o compared.json work.ctrace work2.ctrace || return 1
    python3 -S - <<'PROGRAM'
import json
report = json.load(open("compared.json"))
python = report["python"]
first = python["changes"][0]
assert first["function"] == "hot" and first["change"] > 0.9 * (python["cycles_after"] - python["cycles_before"]), first
assert "total += i * i" in first["line_before"]["text"] and "total += len(str(i))" in first["line_after"]["text"], first
assert first["line_before"]["line"] + 1 == first["line_after"]["line"], first
assert report["sentence"].split(": ", 1)[1].startswith("hot +"), report["sentence"]
assert f"work2.py:{first['line_after']['line']}" in report["sentence"], report["sentence"]
assert python["cycles_after"] <= report["after"]["elapsed_cycles"], python
PROGRAM
}
check "two runs of Python are compared by its functions and lines" compares
check "or not" fails_with 2 'one of them' run compare --python --no-python work.ctrace work2.ctrace
check "lines and functions of Python sum to what is theirs" python3 -S look.py sums
check "the hottest line is the one that it must be" python3 -S look.py hottest
check "functions are entered as often as they are" python3 -S look.py exact
check "Python's frames stand in place of the interpreter's loop" python3 -S look.py frames

# A trace keeps it; the command of one of Python tells by itself that lines are wanted.
both_say() {
    COLUMNS=80 run explain --machine alpha21164 work.ctrace >text 2>&1 && grep -q 'work.py:7 .*total += i' text &&
        test "$(grep -n 'Python line' text | cut -d : -f 1)" -lt "$(grep -n '  function ' text | tail -n 1 | cut -d : -f 1)"
}
check "the text tells of lines, before the interpreter's functions" both_say
not_asked() {
    run sim --no-python --limit 1M --json -o none.json work.ctrace && grep -q '"python": null' none.json
}
check "--no-python: nobody looks" not_asked
saved() {
    run sim --skip 3M --limit 2M --tree --save --store profiles.db work.ctrace >/dev/null &&
        run top --store profiles.db --tree >saved && grep -q _PyEval_EvalFrameDefault saved
}
check "in the store Python's lines are a part of the loop" saved
finish
