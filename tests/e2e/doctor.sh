# What works on this machine, and how it is mended; scripts by which shells complete.
. tests/e2e/lib.sh

tells() {
    CULPRIT_STORE=$scratch/store.db run doctor --json -o "$scratch/doctor.json"
    local status=$?
    python3 -S - "$scratch/doctor.json" "$status" <<'PYTHON'
import json, sys
findings = json.load(open(sys.argv[1]))["findings"]
assert len({finding["what"] for finding in findings}) == len(findings) >= 8
assert all(finding["state"] in ("works", "limited", "missing") and finding["found"] for finding in findings)
assert (int(sys.argv[2]) == 1) == any(finding["state"] == "missing" for finding in findings)
states = {finding["what"]: finding["state"] for finding in findings}
assert states["programs of this machine, simulated"] == "works", findings
PYTHON
}
check "doctor tells what works" tells
# Nothing but 'true' and a shell in PATH, and a store that cannot be.
missing() {
    mkdir -p "$scratch/bin" && ln -sf "$(type -P true)" "$scratch/bin/true" && touch "$scratch/file"
    PATH=$scratch/bin CULPRIT_STORE=$scratch/file/store.db run doctor >"$scratch/said"
    [ $? = 1 ] && cat "$scratch/said" && grep -q '^missing  programs for riscv64' "$scratch/said" && fits_100 "$scratch/said" &&
        grep -q '^missing  programs of this machine' "$scratch/said" && grep -q '^missing  the store' "$scratch/said" &&
        [ "$(grep -c 'mend it: sudo apt install qemu-user' "$scratch/said")" = 2 ]
}
check "and how what is missing is mended" missing
# Emulators that were built without plugins are no use, of whichever architecture.
without_plugins() {
    local name
    mkdir -p "$scratch/without" || return 1
    for name in qemu-x86_64 qemu-riscv64; do
        { cat "$(type -P true)" && printf '%s version 10.0.13 (Debian 1:10.0.13+ds)\n' "$name"; } >"$scratch/without/$name"
    done
    chmod +x "$scratch"/without/*
    PATH=$scratch/without:$PATH CULPRIT_STORE=$scratch/store.db COLUMNS=400 run doctor >"$scratch/said"
    [ $? = 1 ] && cat "$scratch/said" &&
        grep -q '^missing  programs of this machine.*without/qemu-x86_64 was built without plugins' "$scratch/said" &&
        grep -q '^missing  programs for riscv64.*without/qemu-riscv64 was built without plugins' "$scratch/said" &&
        ! grep -q 'mend it: sudo apt install qemu-user' "$scratch/said"
}
check "emulators without plugins are missing" without_plugins

# A description of this host that is broken: the command puts a new one where it is looked for.
broken_description() {
    local host=$scratch/config/culprit/host.ini command
    mkdir -p "$scratch/config/culprit" && echo 'rob = = 3' >"$host" &&
        env -u CULPRIT_MACHINE XDG_CONFIG_HOME="$scratch/config" COLUMNS=400 "$CULPRIT" doctor >"$scratch/said"
    [ $? = 1 ] && cat "$scratch/said" && grep -q '^missing  a description of this processor: .*host\.ini:1: no key rob' "$scratch/said" || return 1
    command=$(sed -n 's/^ *mend it: \(mkdir .*calibrate.*\)/\1/p' "$scratch/said")
    [ "$command" = "mkdir -p $scratch/config/culprit && culprit calibrate -o $host" ] && rm -r "$scratch/config" &&
        PATH=$(dirname "$CULPRIT"):$PATH bash -c "$command --quick --only width" >/dev/null && run machines check "$host" &&
        CULPRIT_MACHINE=none COLUMNS=400 run doctor >"$scratch/said"
    [ $? = 1 ] && grep -A1 '^missing  a description of this processor' "$scratch/said" | grep -qx ' *mend it: unset CULPRIT_MACHINE'
}
check "a description of this host that is broken is mended" broken_description

run completion bash >"$scratch/bash" || exit 1
# completes WORDS...: what bash proposes for the last of these words.
completes() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _culprit; printf "%s\n" "${COMPREPLY[@]}"' - "$scratch/bash" "$@"
}
in_bash() {
    PATH=$(dirname "$CULPRIT"):$PATH
    [ "$(completes culprit expl)" = explain ] && completes culprit explain --no- | grep -qx -- --no-what-if &&
        [ "$(completes culprit sim --by fi)" = field ] && [ "$(completes culprit sim --by = fi)" = field ] &&
        completes culprit icost --machine icel | grep -qx icelake-server && completes culprit predict --swe | grep -qx -- --sweep= &&
        completes culprit sim -o tests/e2e/do | grep -qx tests/e2e/doctor.sh
}
check "bash completes verbs, options, choices, machines and files" in_bash
topics() {
    run help topics >"$scratch/topics" || return 1
    local topic
    for topic in $(awk '{ print $1 }' "$scratch/topics"); do
        COLUMNS=80 run help "$topic" >"$scratch/topic" || return 1
        [ "$(wc -l <"$scratch/topic")" -gt 4 ] && grep -q '^more: docs/.*md$' "$scratch/topic" || return 1
        completes culprit help "$topic" | grep -qx "$topic" || return 1
    done
    [ "$(wc -l <"$scratch/topics")" -ge 20 ] && run help events | grep -q -- '- `DR-SQ`: is a store'
}
check "every topic of help has a text, and is completed" topics
check "help of help is that of all" bash -c '"$1" help --help | cmp - <("$1" help) && "$1" help help | cmp - <("$1" --help)' - "$CULPRIT"
check "a topic that is not known suggests the nearest" fails_with 2 "did you mean 'foreign-traces'" run help foreign-trace
full_help() {
    local words
    for words in 'help explain' 'help events' 'help sim' 'sim --help' help --version; do
        # shellcheck disable=SC2016
        fails_with 1 '^culprit: cannot write: No space left' sh -c "\"\$1\" $words >/dev/full" - "$CULPRIT" || return 1
    done
}
check "help on a full disk fails" full_help
limited_help() {
    local words limited="ulimit -f 1; exec \"\$0\" \$1 >\"\$2\""
    for words in 'help explain' 'help events' 'sim --help' help; do
        fails_with 1 '^culprit: cannot write: File too large, the limit is 1024 bytes \(raise it: ulimit -f\)' \
            bash -c "$limited" "$CULPRIT" "$words" "$scratch/help" || return 1
    done
}
check "... as on a limit of the size of files, which is told" limited_help
ascii_help() {
    local verb
    for verb in calibrate sim; do
        LC_ALL=C.UTF-8 run "$verb" --help | LC_ALL=C grep -q '[^ -~]' &&
            LC_ALL=C run "$verb" --help >"$scratch/ascii" || return 1
        if LC_ALL=C grep '[^ -~]' "$scratch/ascii"; then return 1; fi
    done
}
check "help has signs of ASCII where the locale has no others" ascii_help
every_option() {
    local verb
    for verb in explain icost top daemon gate; do
        run "$verb" --help | grep -oE '^ +(-[a-zA-Z], +)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | grep -vxE -- '--(usage|version)' | sort -u >"$scratch/help"
        completes culprit "$verb" -- | tr -d = | sort -u | diff "$scratch/help" - || return 1
    done
}
check "all options of a verb are proposed" every_option
for shell in zsh fish; do
    run completion "$shell" >"$scratch/$shell" || exit 1
    skip_without "$shell" "$shell takes its script" || check "$shell takes its script" "$shell" -n "$scratch/$shell"
done
check "another shell is refused" fails_with 2 'one of bash, zsh, fish' run completion tcsh

finish
