# Without --machine: whose description is simulated, and what the reports say of it.
. tests/e2e/lib.sh

unset CULPRIT_MACHINE
export XDG_CONFIG_HOME=$scratch/config
host=$XDG_CONFIG_HOME/culprit/host.ini
mkdir -p "$XDG_CONFIG_HOME/culprit"
report=$scratch/report.json
program=$WORKLOADS/x86_64/branchy

simulated() {
    run sim --limit 20k "$@" --json --output "$report" -- "$program" >/dev/null 2>"$scratch/said"
}

of_this_processor() {
    rm -f "$host"
    simulated && told 'r["machine_chosen"]["by"] in ("processor", "nearest", "architecture")' \
        'r["machine"] in ("zen3", "zen4", "zen4-server", "zen5", "icelake-server", "sapphire-rapids", "granite-rapids")' &&
        [ "$(run machines --json | python3 -S -c '
import json, sys
print(json.load(sys.stdin)["defaults"]["x86-64"]["machine"])')" = \
            "$(python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["machine"])' "$report")" ]
}
says_so_in_text() {
    run sim --limit 20k -- "$program" 2>"$scratch/text" >/dev/null && cat "$scratch/text" &&
        grep -A2 '^machine ' "$scratch/text" | grep -qE '^  by default: (it describes|the nearest to|no machine is near|the default for)'
}
check "the default is a description of this processor or the nearest" of_this_processor
check "the text says which and why" says_so_in_text

calibrated() {
    printf 'base = zen3\n[core]\nrob = 200\n' >"$host"
    simulated && told 'r["machine"] == "host"' 'r["machine_chosen"]["by"] == "calibration"' \
        "r[\"machine_chosen\"][\"why\"] == \"$host describes this host\"" &&
        run icost --limit 20k --json --output "$report" -- "$program" >/dev/null 2>&1 &&
        told 'r["machine"] == "host"' 'r["machine_chosen"]["by"] == "calibration"' &&
        run machines | grep -qF "x86-64 programs: host; $host describes this host"
}
named() {
    simulated --machine host && told 'r["machine"] == "host"' 'r["machine_chosen"] is None' &&
        simulated --machine zen4 && told 'r["machine"] == "zen4"' 'r["machine_chosen"] is None' &&
        ! grep -q "by default" "$scratch/said"
}
all_may_write_it() {
    chmod o+w "$host" && simulated && told 'r["machine"] != "host"' \
        "r[\"machine_chosen\"][\"why\"].startswith(\"$host is not read (writable by all); \")" &&
        run sim --limit 20k -- "$program" 2>"$scratch/text" >/dev/null &&
        [ "$(tr -s '\n ' ' ' <"$scratch/text" | grep -co 'is not read (writable by all);')" = 1 ] &&
        fails_with 125 "host.ini is not read: it is writable by all" run sim --machine host -- "$program"
}
faulty() {
    rm -f "$host" && printf '[core]\nrob = x\n' >"$host" &&
        fails_with 125 'host\.ini:2: \[core\] rob' run explain -- touch "$scratch/touched" &&
        [ ! -e "$scratch/touched" ]
}
by_variable() {
    CULPRIT_MACHINE=icelake-server simulated && told 'r["machine"] == "icelake-server"' \
        'r["machine_chosen"] == {"by": "environment", "why": "CULPRIT_MACHINE names it"}' &&
        CULPRIT_MACHINE=nomachine fails_with 125 "CULPRIT_MACHINE: no machine nomachine" run sim -- "$program"
}
# What is said to come next works: of a file that the variable names, too, whatever its machine's name.
shown_next() {
    printf 'base = zen4\nname = other\n' >"$scratch/my own.ini"
    CULPRIT_MACHINE="$scratch/my own.ini" run machines >"$scratch/text" && cat "$scratch/text" &&
        grep -q 'x86-64 programs: other; CULPRIT_MACHINE names it' "$scratch/text" &&
        PATH=$(dirname "$CULPRIT"):$PATH bash -c "$(sed -n 's/^next: //p' "$scratch/text")" | grep -q '^name  *= other'
}
check "the machine that CULPRIT_MACHINE names is shown by the command told" shown_next
check "the user's description of the host comes first" calibrated
check "a machine that is named needs no reason" named
check "a description that all may write is not read, in one line" all_may_write_it
check "a fault in it is told before the command starts" faulty
check "CULPRIT_MACHINE comes before all" by_variable

# Runs that are the same on every host are so on a machine that is the same there; the line about it
# says why.
everywhere() {
    CULPRIT_MACHINE=icelake-server run "$@" >"$scratch/text" 2>&1 </dev/null &&
        tr -s '\n ' ' ' <"$scratch/text" | grep -qE 'machine zen4( .*)? by default: the same on every host for x86-64 programs \(--repeatable, --layouts, compare' ||
        { cat "$scratch/text"; return 1; }
}
check "--repeatable says why it is zen4" everywhere sim --repeatable --limit 20k -- "$program"
check "--layouts does" everywhere explain --layouts 2 --limit 20k -- "$program"
check "compare does" everywhere compare --limit 20k "$program" "$program"
check "compare by layouts does" everywhere compare --layouts 2 --limit 20k "$program" "$program"
layouts_on_named() {
    run explain --machine zen4 --layouts 2 --limit 20k -- "$program" >"$scratch/text" 2>&1 && ! grep -q "by default" "$scratch/text"
}
check "... of one that is named they need no reason" layouts_on_named

# A unit that cores for riscv64 have: the default for those programs takes it, none for x86-64 does.
not_of_this() {
    rm -f "$host" "$scratch/touched"
    fails_with 125 '\[pool\.csr\]' run "$@" --set pool.csr.units=2 -- touch "$scratch/touched" &&
        [ ! -e "$scratch/touched" ]
}
for verb in sim explain icost "icost --sensitivity=rob=64" predict sharing validate "validate --host" "gate --update --baseline $scratch/baseline"; do
    check "a machine that the program cannot have is told before it starts: $verb" not_of_this $verb
done
compared() {
    fails_with 1 '\[pool\.csr\]' run compare --set pool.csr.units=2 "touch $scratch/touched" "touch $scratch/touched" &&
        [ ! -e "$scratch/touched" ]
}
check "... compare" compared

# What sees the same everywhere is simulated on the same everywhere, as --help says.
everywhere() {
    local verb
    for verb in gate compare; do
        run $verb --help | tr -s '\n ' ' ' | grep -q 'default: of commands the same on every host, zen4' || return 1
    done
    CULPRIT_MACHINE=zen3 run compare --output "$scratch/text" "$program" "$program" >/dev/null && grep -qx 'machine zen4' "$scratch/text"
}
check "commands that are compared have the same default everywhere" everywhere

of_riscv64() {
    printf 'base = zen3\n' >"$host"
    run sim --limit 20k --json --output "$report" -- "$WORKLOADS/riscv64/branchy" >/dev/null 2>&1 &&
        told 'r["machine"] == "boom-tea"' 'r["machine_chosen"]["by"] == "architecture"'
}
skip_without riscv64-workloads "riscv64 programs have the same default everywhere" ||
    check "riscv64 programs have the same default everywhere" of_riscv64

finish
