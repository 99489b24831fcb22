# The example of examples/ci/: a small repository with a good and a bad commit, by the rule of the makefile
# and by the step of the workflow.
. tests/e2e/lib.sh

for program in gcc git make; do
    skip_without $program "the example of a gate works" && finish
done
case $CULPRIT in /*) ;; *) CULPRIT=$PWD/$CULPRIT ;; esac
mkdir "$scratch/bin" "$scratch/project"
ln -s "$CULPRIT" "$scratch/bin/culprit"
ln -s "$(dirname "$CULPRIT")"/*.so "$scratch/bin/"
PATH=$scratch/bin:$PATH

# The commands of the step of that name.
step() {
    awk -v name="$1" '/- / { on = 0 } $0 ~ "- name: " name { on = 1 } on && !/name:|run: \|/ { sub(/^          /, ""); print }' \
        examples/ci/workflow.yml
}
step 'Is it slower' >"$scratch/step.sh"
cp examples/ci/perf.mk "$scratch/project/"
cd "$scratch/project" || exit 1
git() {
    command git -c user.name=test -c user.email=test@localhost -c init.defaultBranch=main "$@"
}
commit() {
    git add -A && git commit -qm "$1" && git tag "$1"
}
# Letters of a text are counted; in the bad commit its length is found anew for each.
program() {
    cat <<PROGRAM
#include <string.h>
static char text[2000];
__attribute__((noipa)) size_t measure(void) {
    return strlen(text);
}
__attribute__((noinline)) int count(void) {
    int found = 0;
    size_t length = measure();
    for (size_t i = 0; i < $1; i++)
        found += text[i] == 'a';
    return found;
}
int main(void) {
    memset(text, 'a', sizeof text - 1);
    return count() != sizeof text - 1;
}
PROGRAM
}
set_up() {
    git init -q . && program length >count.c &&
        printf 'CFLAGS = -g -O1 -static\nall: count\ninclude perf.mk\n' >Makefile && printf 'count\ngate.*\n' >.gitignore &&
        make && culprit gate --baseline perf.baseline --update -- ./count && commit good &&
        program 'measure()' >count.c && commit bad
}
check "a repository with a good and a bad commit" set_up

by_make() {
    git checkout -q good && touch count.c && make perf || return 1
    git checkout -q bad && touch count.c && ! make perf >"$scratch/said" 2>&1
    local status=$?
    cat "$scratch/said"
    [ $status = 0 ] && grep -q 'Error 1' "$scratch/said" && grep -qE '^slower  count: .*strlen' "$scratch/said"
}
check "the rule passes the good one and fails the bad one" by_make
by_workflow() {
    local summary=$scratch/summary
    git checkout -q good && touch count.c && make && GITHUB_STEP_SUMMARY=$summary sh "$scratch/step.sh" && grep -q '| passed |' "$summary" || return 1
    git checkout -q bad && touch count.c && make
    GITHUB_STEP_SUMMARY=$summary sh "$scratch/step.sh" >"$scratch/said"
    [ $? = 1 ] && grep -q '^::error .*title=count%3A slower::' "$scratch/said" && grep -q '| \*\*slower\*\* |' "$summary" &&
        grep -q '<failure' gate.xml
}
check "the step of the workflow does, and writes the summary" by_workflow
accepted() {
    make perf-accept >/dev/null && make perf && commit accepted && git diff --stat bad accepted | grep -q perf.baseline
}
check "what is accepted passes, and the baseline's difference is in the commit" accepted

finish
