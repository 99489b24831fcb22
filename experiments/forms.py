#!/usr/bin/env python3
"""The instruction forms that Debian's programs execute, and how often: the list that calibrate
measures (src/calibrate/executed_forms.def) and docs/results/forms.md.

Each program has the same weight: shares of its instructions are added. Programs that are not
installed are passed over and named."""
import collections
import csv
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from lib import page, programs, run

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "forms.c")
LIST = os.path.join(run.ROOT, "src", "calibrate", "executed_forms.def")
LIMIT, LONGEST = "30M", 15

ARITHMETIC = """import math, struct, zlib, hashlib, json, re
rows = [{"n": i, "x": math.sin(i) * i, "s": str(i) * 3} for i in range(3000)]
text = json.dumps(rows)
for _ in range(4):
    json.loads(text), zlib.crc32(text.encode()), zlib.compress(text.encode(), 6)
    hashlib.sha256(text.encode()).digest(), re.findall(r"[0-9]+\\.[0-9]+", text)
    sum(math.sqrt(r["n"]) / (1 + r["x"] * r["x"]) for r in rows)
    struct.pack("3000d", *[math.exp(-r["n"] / 100) for r in rows])
"""


def commands():
    """Name and command; "{text}" and the like are inputs."""
    inputs = {"text": programs.written("text", programs.text),
              "source": programs.written("source.c", programs.c_source),
              "query": programs.written("query.sql", programs.query),
              "queens": programs.written("program.py", programs.python_program),
              "arithmetic": programs.written("arithmetic.py", lambda: ARITHMETIC),
              "pi": programs.written("pi", programs.digits_of_pi),
              "culprit": run.CULPRIT}
    lines = r"""mawk '{ n[$3] += $2 } END { for (w in n) print w, n[w] }' {text}
bc -l {pi}
bzip2 -c {text}
bzip2 -t {bz2}
cc1 -O2 -quiet -o /dev/null {source}
as -o /dev/null {assembly}
ld -o /dev/null -e 0 {objects}
grep -c '\([0-9][0-9]\)[0-9]*\1.*e' {text}
grep -cF profiling {text}
gzip -9 -c {text}
gzip -t {gz}
perl -ne '$h{$_ % 977} .= $_; END { print length $h{5} }' {text}
/usr/bin/python3 {queens}
/usr/bin/python3 {arithmetic}
sort -k3 {text}
sort -n -k1 {text}
sqlite3 :memory: ".read {query}"
xz -6 -c {text}
xz -t {xz}
zstd -6 -c {text}
zstd -t {zst}
lz4 -c {text}
sha1sum {text}
sha256sum {text}
sha512sum {text}
md5sum {text}
b2sum {text}
cksum {text}
cksum -a crc {text}
openssl dgst -sha3-256 {text}
openssl enc -aes-256-cbc -k x -pbkdf2 -in {text} -out /dev/null
openssl enc -chacha20 -k x -pbkdf2 -in {text} -out /dev/null
openssl genrsa 2048
openssl ecparam -genkey -name prime256v1
openssl speed -seconds 1 ed25519
gpg --homedir /tmp --print-md sha384 {text}
sed -n 's/\([0-9]*\) \([0-9]*\)/\2 \1/p' {text}
tar -cf /dev/null /usr/include
diff {text} {other}
cmp {text} {other}
wc {text}
od -A d -t x1z {text}
factor 1000000007000000049 340282366920938463463374607431768211457
uniq -c {text}
cut "-d " -f2 {text}
paste {text} {other}
nl {text}
tac {text}
shuf --random-source={text} {text}
base64 {text}
split -n 2 --filter=cat {text}
xxd {text}
jq -n '[range(100000)] | map(. * 3) | add'
find /usr/share -name '*.gz'
ls -lR /usr/share/doc
nm {culprit}
objdump -d --no-show-raw-insn {culprit}
readelf -Ws {culprit}
strip -o /dev/null {culprit}
gdb -batch -ex "info functions" {culprit}
groff -man -Tutf8 /usr/share/perl/5.36.0/pod/perlfunc.pod
node -e 'let s = 0; for (let i = 0; i < 1e6; i++) s += Math.sqrt(i) * Math.sin(i); console.log(s)'
tclsh8.6 {tcl}
convert -size 400x300 plasma:red-blue -blur 0x3 -resize 150% -rotate 7 png:/dev/null
convert {picture} -colorspace Lab -sharpen 0x2 jpg:/dev/null
bash -c "for ((i = 0; i < 20000; i++)); do ((s += i * i)); done; echo $s"
curl -s file://{text}
git hash-object {text}
ctags -o /dev/null {source}
make -npq
clang -O2 -S -o /dev/null {source}
dash -c "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
"""
    inputs |= made_inputs(inputs)
    found = []
    for line in lines.splitlines():
        for name, path in inputs.items():
            line = line.replace("{" + name + "}", path)
        found.append(shlex.split(line))
    return found


def made_inputs(inputs):
    """Files that other programs make of the text."""
    made = {}
    for name, command in {"bz2": ["bzip2", "-c"], "gz": ["gzip", "-c"], "xz": ["xz", "-c"],
                          "zst": ["zstd", "-q", "-c"], "other": ["sort"]}.items():
        made[name] = os.path.join(programs.INPUTS, "text." + name)
        with open(made[name], "wb") as out:
            subprocess.run(command + [inputs["text"]], stdout=out, check=True)
    made["assembly"] = os.path.join(programs.INPUTS, "source.s")
    subprocess.run(["gcc", "-O2", "-S", "-o", made["assembly"], inputs["source"]], check=True)
    made["objects"] = os.path.join(programs.INPUTS, "source.o")
    subprocess.run(["gcc", "-O2", "-c", "-o", made["objects"], inputs["source"]], check=True)
    made["tcl"] = programs.written("loop.tcl", lambda: "proc f n {set s 0; for {set i 0} {$i < $n} "
                                   "{incr i} {set s [expr {$s + $i * 1.5}]}; return $s}\n"
                                   "puts [f 300000]\n")
    made["picture"] = programs.written("picture.ppm", lambda: "P2\n300 200\n255\n" + " ".join(
        str(n % 256) for n in programs.numbers(60000)) + "\n")
    return made


def path_of(name):
    if name == "cc1":
        name = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                              check=False).stdout.strip()
    return shutil.which(name, path=run.ENVIRONMENT["PATH"] + ":/usr/games")


def counted(command, scratch):
    """How often each place was executed: {(file, offset): times}; None: it could not be run."""
    path = os.path.join(scratch, "counts.csv")
    line = [run.CULPRIT, "bbv", "--follow", "--limit", LIMIT, "--stop",
            "--counts", path, "-o", os.path.join(scratch, "vectors"), "--"] + command
    try:
        subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=run.ENVIRONMENT, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return None
    if not os.path.exists(path):
        return None
    with open(path, newline="") as rows:
        found = {(row["image"], int(row["offset"], 16)): int(row["times"])
                 for row in csv.DictReader(rows) if row["kind"] == "instruction"}
    os.remove(path)
    return found


def forms_of(places, tool):
    """Times by form, of the places that lie in files."""
    bytes_of, listed = {}, []
    for image, offset in places:
        if image not in bytes_of:
            try:
                with open(image, "rb") as content:
                    bytes_of[image] = content.read()
            except OSError:
                bytes_of[image] = b""
        code = bytes_of[image][offset:offset + LONGEST]
        if code:
            listed.append(((image, offset), code.hex()))
    named = subprocess.run([tool], input="".join(code + "\n" for _, code in listed), text=True,
                           capture_output=True, check=True).stdout.splitlines()
    times = collections.Counter()
    for (place, _), form in zip(listed, named):
        if form:
            times[form] += places[place]
    return times


def write_list(shares, executed):
    with open(LIST, "w") as out:
        out.write("/* Instruction forms in the order of how often Debian's programs execute them: made "
                  "by\n * experiments/forms.py, which has the programs. EXECUTED_FORM(form, share of "
                  f"{executed} programs'\n * instructions in millionths). */\n/* clang-format off */\n")
        for form, share in shares:
            out.write(f'EXECUTED_FORM("{form}", {share * 1e6:.0f})\n')
        out.write("/* clang-format on */\n#undef EXECUTED_FORM\n")


def main():
    shares, missing, ran = collections.Counter(), [], []
    with tempfile.TemporaryDirectory() as scratch:
        tool = os.path.join(scratch, "forms")
        library = os.path.join(os.path.dirname(run.CULPRIT), "libculprit.a")
        subprocess.run(["gcc", "-O2", "-I", os.path.join(run.ROOT, "src"), "-D_GNU_SOURCE", "-o", tool,
                        SOURCE, library, "-lZydis"], check=True)
        for command in commands():
            program = path_of(command[0])
            places = program and counted([program] + command[1:], scratch)
            times = forms_of(places, tool) if places else None
            label = " ".join(os.path.basename(word) for word in command[:3])
            if not times:
                missing.append(label)
                continue
            total = sum(times.values())
            for form, count in times.items():
                shares[form] += count / total
            ran.append((label, total, len(times)))
            print(f"{label}: {total} instructions, {len(times)} forms, {len(shares)} in all",
                  file=sys.stderr, flush=True)
    ranked = [(form, share / len(ran)) for form, share in
              sorted(shares.items(), key=lambda item: (-item[1], item[0]))]
    write_list(ranked, len(ran))
    report(ranked, ran, missing)


def report(ranked, ran, missing):
    rows = ["| the first | have this share of the instructions |", "|--:|--:|"]
    for count in (10, 20, 50, 100, 200, 500, 1000):
        rows.append(f"| {count} forms | {100 * sum(s for _, s in ranked[:count]):.2f} % |")
    rows += ["", f"{len(ranked)} forms in {len(ran)} programs.", "",
             "| form | share |", "|---|--:|"]
    rows += [f"| `{form}` | {100 * share:.2f} % |" for form, share in ranked[:40]]
    rows += ["", "| program | instructions | forms |", "|---|--:|--:|"]
    rows += [f"| `{label}` | {total:,} | {forms} |" for label, total, forms in ran]
    if missing:
        rows += ["", "Not run here: " + ", ".join(f"`{label}`" for label in missing) + "."]
    page.write("forms", "experiments/forms.py", "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
