# The documents hold together: links lead somewhere, and the README begins as promised.
. tests/e2e/lib.sh

# Every relative link [text](path#anchor) names a file, and the anchor one of its headings.
links_resolve() {
    python3 - "$1" <<'PYTHON'
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

every_workload_described() {
    local workload
    for workload in workloads/*.c; do
        grep -q "^| \`$(basename "$workload" .c)\` |" docs/guide.md || { echo "$workload"; return 1; }
    done
}
check "docs/guide.md describes every workload" every_workload_described

finish
