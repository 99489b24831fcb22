# culprit epochs, on stores that tests/e2e/store.py writes and reads as docs/store-format.md says.
. tests/e2e/lib.sh
store=$scratch/profiles.db
export CULPRIT_STORE=$store CULPRIT_RUN=$scratch/run
py() { python3 -S -B tests/e2e/store.py "$@"; }

# Three epochs a day apart from 2026-01-01 on, of 100, 200 and 400 samples, and a simulation.
make_store() {
    rm -f "$store"*
    py make "$store" daemon:0:1767225600:1767312000:100 daemon:0:1767312000:1767398400:200 \
        'gzip -9:1:1767312001:1767312002:1680000' daemon:0:1767398400:0:400
}

lists() {
    make_store && run epochs >"$scratch/list" || return 1
    cat "$scratch/list"
    # epoch date time length samples unknown dropped size name
    grep -qE '^ +1  2026-01-01 00:00 +1 d 00 h +100 +2\.00% +1 +[0-9]+ B  daemon$' "$scratch/list" &&
        grep -qE '^ +4 .* 400 ' "$scratch/list" &&
        grep -qE '^ +3  2026-01-02 00:00 +2.00 k cycles +-' "$scratch/list" &&
        grep -q '^       live on vm, Linux 6.1, not ended: cpu-clock every 192,000 ns, 400 samples$' \
            "$scratch/list" &&
        grep -q '^       simulated on zen4, Linux 6.1: cpu-clock, 2.00 k cycles$' "$scratch/list" &&
        ! grep -qE '^.{101}' "$scratch/list"
}
check "lists epochs" lists

lists_one() {
    sqlite3 "$store" 'UPDATE profile SET total = 1 WHERE total = 100' &&
        run epochs --epoch 1 | tee "$scratch/list" | grep -qx '       live on vm, Linux 6.1: cpu-clock every 192,000 ns, 1 sample'
    local found=$?
    cat "$scratch/list"
    make_store && [ $found = 0 ]
}
check "of one sample it speaks in the singular" lists_one

lists_json() {
    run epochs --json --epoch 2..3 --output "$scratch/list.json" && python3 -S - "$scratch/list.json" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
first, second = told["epochs"]
assert (first["epoch"], first["kind"], first["seconds"], first["unknown"], first["dropped"]) == \
    (2, "live", 86400, 2, 1), first
assert first["start"] == "2026-01-02T00:00:00Z" and first["end"] == "2026-01-03T00:00:00Z"
assert (second["kind"], second["seconds"]) == ("simulated", None), second
event = first["events"][0]
assert (event["name"], event["period"], event["period_unit"], event["total"]) == \
    ("cpu-clock", 192000, "ns", 200), event
assert second["kind"] == "simulated" and second["events"][0]["unit"] == "1/840 cycles"
assert told["bytes"] > 0 and told["unused_bytes"] == 0
PYTHON
}
check "lists epochs as JSON" lists_json

merges() {
    make_store && run epochs merge 1..2 && run epochs check && py dump "$store" | sort >"$scratch/dump" &&
        printf '%s\n' 'daemon/cpu-clock /usr/bin/gzip gzip 1000:0=294' \
            'daemon/cpu-clock /usr/bin/gzip gzip 1000:0=397' \
            'daemon/cpu-clock /usr/bin/gzip gzip 1004:0=1' \
            'daemon/cpu-clock /usr/bin/gzip gzip 1004:0=2' \
            'daemon/cpu-clock /usr/bin/gzip gzip 1004:5=2' \
            'daemon/cpu-clock /usr/bin/gzip gzip 1004:5=4' \
            'gzip -9/cpu-clock /usr/bin/gzip gzip 1000:0=1679997' \
            'gzip -9/cpu-clock /usr/bin/gzip gzip 1004:0=1' \
            'gzip -9/cpu-clock /usr/bin/gzip gzip 1004:5=2' | diff - "$scratch/dump"
}
check "merges epochs" merges
check "does not merge what goes on" fails_with 1 'epochs?|session 4 has not ended' run epochs merge 1,4
check "does not merge different kinds" fails_with 1 'different kinds' run epochs merge 1,3

removes() {
    make_store && run epochs remove last,1 && [ "$(py dump "$store" | cut -d/ -f1 | uniq)" = "daemon
gzip -9" ] && run epochs check
}
check "removes epochs" removes

# The times are of the past: all that ended is older than a day, the fourth too, whose
# writer died.
prunes() {
    make_store && [ "$(run epochs prune --older 100000d | head -1)" = "removed 0 epochs" ] &&
        [ "$(run epochs prune --older 1d | head -1)" = "removed 4 epochs" ] && run epochs check
}
check "prunes by age" prunes
prunes_size() {
    make_store && [ "$(run epochs prune --size 1 | head -1)" = "removed 3 epochs" ] &&
        [ "$(py dump "$store" | wc -l)" = 3 ]
}
check "prunes by size, but not what goes on" prunes_size
# As if a daemon collected: its lock is taken. Of the two that have not ended it writes the last.
spares() {
    local status
    rm -f "$store"*
    py make "$store" daemon:0:1767225600:0:100 daemon:0:1767312000:0:200 && mkdir "$CULPRIT_RUN" && echo $$ >"$CULPRIT_RUN/daemon.lock" || return 1
    flock "$CULPRIT_RUN/daemon.lock" "$CULPRIT" epochs prune --older 1d >"$scratch/said" &&
        grep -qx 'removed 1 epoch' "$scratch/said" &&
        grep -qx "epoch 2 stays: it goes on, and process $$ collects ('culprit epochs new' ends it)" "$scratch/said" &&
        [ "$(py dump "$store" | wc -l)" = 3 ] &&
        flock "$CULPRIT_RUN/daemon.lock" "$CULPRIT" epochs prune --size 1 | grep -q 'removed 0 epochs' &&
        [ "$(run epochs prune --older 1d | head -1)" = "removed 1 epoch" ]
    status=$?
    rm -r "$CULPRIT_RUN"
    return $status
}
check "prunes all but what a daemon writes" spares
compacts() {
    make_store && run epochs remove 1..3 && run epochs compact | grep -qE '^[0-9.]+ KiB became [0-9.]+ KiB$' &&
        run epochs check
}
check "compacts" compacts
sweeps() {
    make_store && sqlite3 "$store" "INSERT INTO image(id, kind, path, build_id, root) VALUES(99, 0, '/gone', x'01', '');
        INSERT INTO symbols SELECT 99, data FROM symbols LIMIT 1" && run epochs compact && run epochs check &&
        [ "$(sqlite3 "$store" 'SELECT count(*), max(id) < 99 FROM image')" = "1|1" ]
}
check "compacting removes images of no epoch" sweeps

transfers() {
    make_store && run epochs export --epoch 1,3 "$scratch/some.db" && [ ! -e "$scratch/some.db-wal" ] &&
        run epochs --store "$scratch/some.db" check &&
        [ "$(py dump "$scratch/some.db" | cut -d/ -f1 | uniq)" = "daemon
gzip -9" ] &&
        run epochs import "$scratch/some.db" --store "$scratch/new/folder/other.db" &&
        py dump "$scratch/some.db" >"$scratch/one" && py dump "$scratch/new/folder/other.db" | diff - "$scratch/one"
}
check "exports and imports a store" transfers
check "does not export onto itself" fails_with 1 'that is the store itself' run epochs export "$store"
check "does not import itself" fails_with 1 'that is the store itself' run epochs import "$store"
check "does not export to a device" fails_with 1 'needs a regular file' run epochs export /dev/null

check "no daemon to ask" fails_with 1 'no daemon runs' run epochs new

# ---- what cannot be read or written
check "no store" fails_with 1 'none: no profiles are kept there yet' run epochs --store "$scratch/none"
check "nor one to write" fails_with 1 'none: no profiles are kept there yet' run epochs --store "$scratch/none" compact
text_file() { echo 'this is no database, whatever its name says; it is long enough to be one' >"$scratch/text"; }
text_file
check "no database" fails_with 1 'text is no store' run epochs --store "$scratch/text"
: >"$scratch/empty"
check "an empty file" fails_with 1 'empty is empty' run epochs --store "$scratch/empty"
sqlite3 "$scratch/foreign" 'CREATE TABLE t(a)'
check "another program's database" fails_with 1 "some other program's database" run epochs --store "$scratch/foreign"
check "nor is it written" fails_with 1 "some other program's database" run epochs import "$store" --store "$scratch/foreign"
make_store
cp "$store" "$scratch/newer.db"
sqlite3 "$scratch/newer.db" 'PRAGMA user_version=7'
check "a newer store" fails_with 1 'version 7; this culprit knows versions up to' run epochs --store "$scratch/newer.db"
weights() {
    for weight in -1 9e999; do
        cp "$store" "$scratch/weight.db"
        sqlite3 "$scratch/weight.db" "UPDATE session SET weight = $weight"
        fails_with 1 'impossible values' run epochs --store "$scratch/weight.db" || return
    done
}
check "weights that are none" weights
hostile_units() {
    cp "$store" "$scratch/units.db"
    sqlite3 "$scratch/units.db" "UPDATE event SET name = printf('%.99c', char(27)), unit = name, period_unit = name"
    run top --store "$scratch/units.db" --epoch 1 >"$scratch/text" && ! grep -q "$(printf '\033')" "$scratch/text"
}
check "units of an event cannot steer the terminal" hostile_units
check "a folder" fails_with 1 'not a regular file' run epochs --store "$scratch"
check "a pipe" fails_with 1 'not a regular file' run epochs --store <(cat "$store")

cut_short() {
    head -c 20000 "$store" >"$scratch/cut.db"
    fails_with 1 'cut.db is damaged: ' run epochs --store "$scratch/cut.db" check
}
check "a file cut short" cut_short

blob_damaged() {
    cp "$store" "$scratch/blob.db"
    sqlite3 "$scratch/blob.db" "UPDATE profile SET data = x'0011223344556677' WHERE id = 2"
    fails_with 1 'blob.db is damaged: profile 2: its checksum is wrong' run epochs --store "$scratch/blob.db" check
}
check "a damaged blob" blob_damaged

# The error of a damaged schema quotes it.
schema_damaged() {
    cp "$store" "$scratch/schema.db"
    sqlite3 -cmd '.dbconfig defensive off' "$scratch/schema.db" "PRAGMA writable_schema = ON;
UPDATE sqlite_master SET name = 'two' || char(10) || 'lines' || char(27) || '[31m', sql = 'CREATE' || char(10) || char(27) || '[31m x (' WHERE name = 'event'" >"$scratch/said" 2>&1 || return
    fails_with 1 'schema.db' run epochs --store "$scratch/schema.db" || return
    ! LC_ALL=C grep -q '[[:cntrl:]]' "$scratch/err"
}
check "the error of a damaged schema is one line that cannot steer the terminal" schema_damaged

# A store that an ordinary user reads, where its writer has ended, died, and is at work.
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
if [ "$(id -u)" != 0 ]; then
    skip "an ordinary user reads the machine's store" "not root"
elif ! as_nobody "$CULPRIT" --version >/dev/null 2>&1; then
    skip "an ordinary user reads the machine's store" "an ordinary user cannot run culprit here"
else
    readable() {
        chmod 755 "$scratch" && mkdir -p "$scratch/machine" && cp "$store" "$scratch/machine/profiles.db" &&
            as_nobody "$CULPRIT" epochs --store "$scratch/machine/profiles.db" | grep -q daemon &&
            [ "$(ls "$scratch/machine")" = profiles.db ]
    }
    check "an ordinary user reads the machine's store" readable
    while_written() {
        python3 -S - "$scratch/machine/profiles.db" "$scratch/ready" <<'PYTHON' &
import os, sqlite3, sys, time
database = sqlite3.connect(sys.argv[1])
database.execute("UPDATE session SET name = 'renamed'")
database.commit()
open(sys.argv[2], "w").write("yes")
for _ in range(6000):
    if os.path.exists(sys.argv[2] + ".die"):
        os.kill(os.getpid(), 9)
    time.sleep(0.1)
PYTHON
        local writer=$!
        until_true $writer test -s "$scratch/ready" || return 1
        as_nobody "$CULPRIT" epochs --store "$scratch/machine/profiles.db" | grep -q renamed
        local status=$?
        : >"$scratch/ready.die"
        wait
        return $status
    }
    check "while it is written" while_written
    check "after its writer was killed" \
        sh -c "setpriv --reuid 65534 --regid 65534 --clear-groups '$CULPRIT' epochs --store '$scratch/machine/profiles.db' | grep -q renamed"
    no_permission() {
        fails_with 1 'cannot write: permission' as_nobody "$CULPRIT" epochs --store "$scratch/machine/profiles.db" remove 1
    }
    check "but does not write it" no_permission
fi

# ---- usage
check "no such action" fails_with 2 'one of list, new' run epochs show
check "merge what" fails_with 2 'merge which epochs' run epochs merge
check "prune how" fails_with 2 'prune by --older' run epochs prune
check "no such epoch" fails_with 1 'no such epoch' run epochs --epoch 17
check "not an epoch" fails_with 1 'not an epoch' run epochs --epoch 3..1
check "not a time" fails_with 2 'a time above 0' run epochs prune --older soon
check "--size is of prune" fails_with 2 'only of prune' run epochs compact --size 1G
finish
