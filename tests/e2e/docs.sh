# The documents hold together: links lead somewhere, and the README begins as promised.
. tests/e2e/lib.sh

# Every relative link [text](path#anchor) names a file, and the anchor one of its headings.
links_resolve() {
    python3 -S - "$1" <<'PYTHON'
import os, re, sys
page = sys.argv[1]
def anchors(path):
    headings = re.findall(r"^#+ (.*)$", open(path).read(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
broken = []
for target in re.findall(r"\]\(([^)\s]+)\)", open(page).read()):
    if re.match(r"[a-z]+:", target):
        continue
    path, _, anchor = target.partition("#")
    path = os.path.join(os.path.dirname(page), path) if path else page
    if not os.path.exists(path) or anchor and anchor not in anchors(path):
        broken.append(target)
sys.exit("broken: " + ", ".join(broken) if broken else 0)
PYTHON
}

for page in README.md docs/*.md; do
    check "links of $page" links_resolve "$page"
done

two_commands_first() {
    [ "$(grep -A3 -m1 '^```' README.md | sed -n 2,4p)" = "$(printf 'make demo\nmake test\n```')" ]
}
check "the README's first commands are make demo and make test" two_commands_first

every_machine_described() {
    local machine
    for machine in machines/*.ini; do
        grep -q "^| \`$(basename "$machine" .ini)\` |" docs/machines.md || { echo "$machine"; return 1; }
    done
}
check "docs/machines.md describes every machine" every_machine_described

# Of the machines that say how far programs on them were from such processors, the page has the same.
checked_as_measured() {
    python3 -S - <<'PYTHON'
import glob, re
page = open("docs/results/host-programs.md").read()
seen = 0
for path in sorted(glob.glob("machines/*.ini")):
    name = path.split("/")[-1][:-4]
    said = re.search(r"^checked *= *(.*)$", open(path).read(), re.M)
    part = page.split(f"<!-- host: {name} -->")[1:]
    assert bool(said) == bool(part), name
    if said:
        row = [cell.strip() for cell in re.search(r"^\| all \|(.*)\|$", part[0], re.M)[1].split("|")]
        there = f"{row[0]} programs, {row[2]} % off in the median, {row[4]} at worst"
        assert said[1] == there, (name, said[1], there)
        seen += 1
assert seen >= 4
PYTHON
}
check "machines say how far programs were from processors as docs/results/host-programs.md does" checked_as_measured

every_workload_described() {
    local workload
    for workload in workloads/*.c; do
        grep -q "^| \`$(basename "$workload" .c)\` |" docs/guide.md || { echo "$workload"; return 1; }
    done
}
check "docs/guide.md describes every workload" every_workload_described

# Papers: what the page says of the sources, and what these cite.
check "docs/papers.md names files and functions that are there" python3 -S tests/e2e/papers.py found
check "comments cite papers that docs/papers.md defines" python3 -S tests/e2e/papers.py cited
cites() {
    printf '/* Of DCPI. */ /* %s */\n' "$1" >"$scratch/cites.c"
    python3 -S tests/e2e/papers.py cited "$scratch/cites.c"
}
refused() {
    ! cites "$1" >"$scratch/refused" 2>&1 && grep -q "^$scratch/cites.c:1: " "$scratch/refused"
}
check "papers are cited by their names, and their sections behind these" \
    cites "Flows (DCPI §6.1.4, Fig. 7); as in Chen 2009 §3.1, footnote 2; Tarjan 1972; (§6.2)."
check "a paper that is not defined is refused" refused "Sampling of paper D."
check "a paper cited by another name is refused" refused "Sampling (TIP, §3.1)."
check "a work that the page does not list is refused" refused "Heaps (Williams 1964)."
check "a page that is not in the repository is refused" refused "Heaps (docs/heaps.md)."

rooms_as_listed() {
    diff <(sed -n 's/^\([a-z]\+\)  *\(.*\)/| `src\/\1\/` | \2 |/p' scripts/rooms) \
        <(grep '^| `src/' docs/architecture.md)
}
check "docs/architecture.md shows the rooms of scripts/rooms" rooms_as_listed
check "rooms keep their order" scripts/check-rooms

# A header of a later room, one of a study in a report, and an object of another one, are found.
disorder_is_found() {
    local copy said
    copy=$(mktemp -d) && mkdir -p "$copy/src/isa" "$copy/src/cmd" "$copy/src/report" "$copy/scripts" &&
        cp scripts/rooms "$copy/scripts" && said=$copy/said
    printf '#include "cmd/run.h"\nextern const int theirs[];\nextern int ours;\n' > "$copy/src/isa/a.h"
    printf 'int ours = 1;\n' > "$copy/src/isa/a.c"
    printf 'const int theirs[] = {1};\n' > "$copy/src/cmd/b.c"
    printf '#include "study/explain.h"\n#include "study/icost.h"\n' > "$copy/src/report/c.h"
    (cd "$copy" && "$OLDPWD/scripts/check-rooms") > "$said" && return 1
    [ "$(cat "$said")" = "src/isa/a.h:1: isa is above cmd, but includes cmd/run.h
src/report/c.h:1: report knows no study, but includes study/explain.h
src/isa/a.h:2: isa declares theirs extern, which is not its own" ] || { cat "$said"; return 1; }
    rm -r "$copy"
}
check "a room that includes a later one, a report that includes a study, and objects of others, are found" disorder_is_found

finish
