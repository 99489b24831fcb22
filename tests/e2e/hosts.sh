# Questions about many hosts, on stores that tests/e2e/store.py writes: four hosts for three days, of
# which the last has three times as much of work_3, and where another build is deployed after two.
. tests/e2e/lib.sh
store=$scratch/fleet.db
export CULPRIT_STORE=$store CULPRIT_RUN=$scratch/run
py() { python3 -S -B tests/e2e/store.py "$@"; }
py fleet "$store" hosts=5 days=3 epochs=4 swap=2 odd=1

tells_hosts() {
    run top --by host >"$scratch/hosts" && cat "$scratch/hosts" &&
        grep -qE '^ +12,000 20\.00% +20\.00% +12  web-00$' "$scratch/hosts" &&
        grep -qF 'next: culprit top --host web-00' "$scratch/hosts" &&
        run top --host 'web-0[12]' --host web-04 --by host --json --output "$scratch/hosts.json" &&
        python3 -S - "$scratch/hosts.json" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
assert [(row["host"], row["epochs"], row["cpi"], row["values"]["cpu-clock"]) for row in told["rows"]] == \
    [(host, 12, None, 12000) for host in ("web-01", "web-02", "web-04")], told["rows"]
PYTHON
}
check "rows by host, and hosts by pattern" tells_hosts
check "a host that is not there" fails_with 1 'no epoch of db-9' run top --host db-9
check "a host without name" fails_with 2 '--host: the value is empty' run top --host ''

tells_builds() {
    run top --by build --host '*' >"$scratch/builds" && cat "$scratch/builds" &&
        grep -qE 'app@a1a1a1a1a1a1 +/srv/app$' "$scratch/builds" &&
        run top --build app@b2b2 --by image --json --output "$scratch/build.json" &&
        python3 -S - "$scratch/build.json" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["only"]["build"] == "app@b2b2"
assert {row["image"] for row in told["rows"]} == {"/srv/app", "[kernel]"}, told["rows"]
assert told["events"][0]["total"] == 5 * 4 * 900
PYTHON
}
check "samples of a build, in all of its code" tells_builds
check "a build that is not there" fails_with 1 '--build ffff: nothing in' run top --build ffff
check "no build" fails_with 2 'first digits of a build id' run top --build /srv/app
check "one build at a time" fails_with 2 "culprit diff' compares two" run top --build a1a1 --build b2b2

# The same question of whole days, of hours and of all, from sums and from epochs.
ask_all() {
    run top --host '*' --top 0 --json && run top --by host --json &&
        run top --since '2026-01-01 07:00Z' --until '2026-01-03 20:00Z' --by image --json &&
        run top --build a1a1 --by image --json && run top --outliers --json &&
        run variance --hosts --json
}
drop_epochs() {
    python3 -S - "$1" <<'PYTHON'
import json, sys
text, at, decoder = open(sys.argv[1]).read(), 0, json.JSONDecoder()
while at < len(text.rstrip()):
    told, end = decoder.raw_decode(text, at)
    at = end + 1
    told.pop("epochs", None)
    for row in told.get("rows", []):
        row["offset"] = None
    told["rows"] = sorted(told.get("rows", []), key=str)
    print(json.dumps(told, indent=1, sort_keys=True))
PYTHON
}
sums_are_the_same() {
    ask_all >"$scratch/before.json" && [ "$(run epochs sum | cut -d';' -f1)" = \
        "made 24 sums of days from 75 epochs" ] &&
        [ "$(run epochs sum)" = "made 0 sums of days from 0 epochs; 24 were there, 0 removed" ] &&
        ask_all >"$scratch/after.json" && grep -q '"kind": "sum"' "$scratch/after.json" &&
        drop_epochs "$scratch/before.json" >"$scratch/before" &&
        drop_epochs "$scratch/after.json" >"$scratch/after" &&
        diff "$scratch/before" "$scratch/after" && run epochs check && ! run epochs | grep -q sum
}
check "sums of days answer as epochs do" sums_are_the_same

finds_the_odd_host() {
    run top --outliers >"$scratch/outliers" && cat "$scratch/outliers" &&
        grep -qF '1 of them stands apart' "$scratch/outliers" &&
        grep -qE '^ *1[0-9]\.[0-9]+% +[0-9.]+% +\+[0-9.]+ .* web-04 +work_3 +app$' "$scratch/outliers" &&
        run top --outliers --host 'web-0[0-3]' | grep -qxF 'no host stands apart' &&
        COLUMNS=80 run top --outliers --image app | awk 'length > 100 { exit 1 }'
}
check "which host stands apart" finds_the_odd_host
check "too few hosts" fails_with 1 'and 4 are needed' run top --outliers --host 'web-0[01]'
check "outliers of rows alone" fails_with 2 'outliers: by procedure' run top --outliers --by pid

varies() {
    run variance --hosts >"$scratch/spread" && cat "$scratch/spread" &&
        awk '/ share/ { getline; exit !(/web-04/ && /work_3/) }' "$scratch/spread"
}
check "which procedures differ between hosts" varies
check "hosts of one store" fails_with 2 'hosts: of one store' run variance --hosts "$store" "$store"

# work_5 takes twice as much of app in the new build, on all hosts.
deployed() {
    run diff --build a1a1 --build b2b2 >"$scratch/diff" && cat "$scratch/diff" &&
        grep -qF 'of which 5 are on both' "$scratch/diff" &&
        awk '/ points/ { getline; exit !(/work_5/ && $7 > 2 && $8 > 0 && $8 < $7) }' "$scratch/diff" &&
        run diff --build a1a1 --build b2b2 --compare rate --json --output "$scratch/diff.json" &&
        python3 -S - "$scratch/diff.json" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
first = told["rows"][0]
assert first["procedure"] == "work_5" and first["change"] > first["host_interval"] > 0, first
assert (told["hosts"], told["paired_hosts"]) == (5, 5)
PYTHON
}
check "before and after a deployment" deployed

# Of one host cycles are not samples: the first host, whose epochs come first.
cp "$store" "$scratch/units.db"
sqlite3 "$scratch/units.db" "UPDATE event SET unit = '1/840 cycles' WHERE session IN
    (SELECT id FROM session WHERE kind = 0 AND host = 'web-00');
    UPDATE session SET saved = saved + 5000000 WHERE kind = 0 AND host = 'web-00'" # its sums are void
leaves_units_out() {
    local arguments
    for arguments in "top --host *" "top --by host" "top --outliers" "variance --hosts" "diff --build a1a1 --build b2b2"; do
        set -f
        # shellcheck disable=SC2086
        run $arguments --store "$scratch/units.db" >"$scratch/some" || return
        # shellcheck disable=SC2086
        run $arguments --host 'web-0[1-4]' --store "$scratch/units.db" --json --output "$scratch/without.json" || return
        # shellcheck disable=SC2086
        run $arguments --store "$scratch/units.db" --json --output "$scratch/some.json" || return
        set +f
        cat "$scratch/some"
        tr -s '\n ' ' ' <"$scratch/some" |
            grep -qF 'cpu-clock: what 1 host (web-00) counts in cycles is left out, as most hosts count it in samples' &&
            python3 -S - "$scratch/some.json" "$scratch/without.json" <<'PYTHON' || return
import json, sys
some, without = (json.load(open(path)) for path in sys.argv[1:])
def rows(told):
    found = next(told[key] for key in ("rows", "outliers", "spread") if key in told)
    return [{key: value for key, value in row.items() if key != "offset"} for row in found if row.get("host") != "web-00"]
assert rows(some) == rows(without) != [], (rows(some), rows(without))
PYTHON
    done
    run top --host web-00 --store "$scratch/units.db" >"$scratch/alone" && ! grep -q 'left out' "$scratch/alone"
}
check "what hosts count in unlike units is left out, and named" leaves_units_out
# Only the last day, which has no samples, has a sum of all hosts.
summed_units() {
    run epochs sum --store "$scratch/units.db" && [ "$(sqlite3 "$scratch/units.db" \
        "SELECT count(*), sum((SELECT count(*) FROM event WHERE session = session.id)) FROM session
        WHERE kind = 3 AND host = ''")" = "1|0" ] && leaves_units_out
}
check "likewise of sums of days" summed_units

lists_some() {
    [ "$(run epochs --host web-03 | grep -c ' live on web-03')" = 12 ] &&
        [ "$(run epochs list --host 'web-0[13]' --since 2026-01-03 --until '2026-01-03 02:00' |
            grep -c ' live on ')" = 4 ] &&
        run epochs export --host web-02 "$scratch/one.db" &&
        [ "$(run top --store "$scratch/one.db" --by host | grep -c '  web-')" = 1 ]
}
check "lists and exports epochs of some hosts" lists_some
check "hosts of list alone" fails_with 2 'host: only of list and export' run epochs check --host a
finish
