# Profiles on a server of PostgreSQL: made, sent, read, guarded.
. tests/e2e/lib.sh
. tests/postgres.sh
store=$scratch/profiles.db
py() { python3 -S -B tests/e2e/store.py "$@"; }
export CULPRIT_RUN=$scratch/run

check "an address that nobody answers is an error of one line, without its password" \
    fails_with 1 'postgresql://ann@/profiles.host=/nowhere: ' \
    run epochs --store 'postgresql://ann:secret@/profiles?host=/nowhere'
no_password() {
    ! grep -q secret "$scratch/.err"
}
check "it has no password in it" no_password
check "the daemon's store is a file" fails_with 1 'has its store in a file' \
    run daemon --store postgresql://db/culprit

if [ -n "$no_server" ]; then
    skip "epochs on a server" "$no_server"
    finish
fi
check "a server starts" make_server
check "a database without tables" fails_with 1 "'culprit epochs init' makes one" run epochs --store "$(address owner postgres)"
check "the tables are made" new_fleet
again() {
    run epochs init --store "$(address owner)" | grep -q 'is a store of version 1'
}
check "and are as they were, made again" again
check "an empty one has no epochs, of whatever host" fails_with 1 'holds no epochs' run top --outliers --store "$(address owner)"

# A program of five instructions, in its file at 0x1000, where the store has samples.
small_program() {
    printf '.globl _start\n.type _start, @function\n_start: nop; nop; nop; nop; jmp _start\n.size _start, . - _start\n' >"$scratch/gzip.s" &&
        gcc -nostdlib -static -Wl,--build-id -o "$scratch/gzip" "$scratch/gzip.s" &&
        sqlite3 "$1" "UPDATE image SET path = '$scratch/gzip',
            build_id = x'$(readelf -n "$scratch/gzip" | sed -n 's/.*Build ID: //p')'"
}
# Three epochs of another host, "vm", and a simulation.
send() {
    py make "$store" daemon:0:1767225600:1767312000:100 daemon:0:1767312000:1767398400:200 \
        'gzip -9:1:1767312001:1767312002:1680000' "daemon:0:1767398400:1767398500:400" && small_program "$store" &&
        run epochs export --push "$(address owner)" --epoch all --store "$store" | grep -q '^sent 4 epochs' &&
        [ "$(sql 'SELECT sum(total), count(*) FROM culprit.profile')" = "1680700|4" ]
}
check "epochs are sent" send
twice() {
    run epochs export --push "$(address owner)" --epoch all --store "$store" |
        grep -q '^sent 0 epochs .*; 4 were there already$' &&
        [ "$(sql 'SELECT sum(total), count(*) FROM culprit.profile')" = "1680700|4" ]
}
check "and not twice" twice
check "all of the server's tables are whole" run epochs check --store "$(address owner)"
check "top says the same" same_on_server "$store" top --epoch 1,2,4 --event cpu-clock
check "top as JSON says the same" same_on_server "$store" top --epoch 1..2 --json
check "top by image says the same" same_on_server "$store" top --epoch 4 --by image
check "variance says the same" same_on_server "$store" variance --epoch 1 --epoch 2 --epoch 4
check "diff says the same" same_on_server "$store" diff --epoch 1 --epoch 2
check "annotate says the same" same_on_server "$store" annotate --epoch 2 _start
check "epochs says the same" same_on_server "$store" epochs
check "epochs as JSON says the same" same_on_server "$store" epochs --json
check "what is not there is not there" same_status_on_server 1 "$store" top --epoch 9

# ---- who may what
logins() {
    sql "CREATE ROLE vm LOGIN IN ROLE culprit_host; CREATE ROLE web1 LOGIN IN ROLE culprit_host;
        CREATE ROLE rack LOGIN IN ROLE culprit_host; INSERT INTO culprit.writer VALUES('rack', 'vm');
        CREATE ROLE ann LOGIN IN ROLE culprit_reader; CREATE ROLE guest LOGIN"
}
check "logins" logins
# as_host LOGIN START: an epoch of host vm.
as_host() {
    rm -f "$scratch/other.db"* && py make "$scratch/other.db" "daemon:0:$2:$(($2 + 3600)):50" &&
        run epochs export --push "$(address "$1")" --epoch all --store "$scratch/other.db"
}
allowed() {
    as_host vm 1767484800 && as_host rack 1767488400 &&
        [ "$(sql 'SELECT sum(total), count(*) FROM culprit.profile')" = "1680800|6" ]
}
check "a host sends its own epochs, and those that its login may" allowed
check "another host's are refused" fails_with 1 "refused: epochs of host 'vm'" as_host web1 1767492000
check "a reader's are refused" fails_with 1 'refused: permission denied' as_host ann 1767492000
check "anybody's are refused" fails_with 1 'refused: permission denied' as_host guest 1767492000
as_login() {
    psql -X -h "$server" -U "$1" -d fleet -v ON_ERROR_STOP=1 -qAt -c "SET search_path = culprit" -c "$2"
}
refused() {
    ! as_login "$@" 2>"$scratch/.refused" && cat "$scratch/.refused" &&
        grep -qE 'permission denied|row-level security|another host' "$scratch/.refused"
}
# By hand, past culprit.
host_rights() {
    local session day columns="day, session, image, process, event, total, data"
    session=$(sql "SELECT min(id) FROM culprit.session") day=$(sql "SELECT day FROM culprit.session ORDER BY id LIMIT 1")
    [ "$(as_login web1 'SELECT count(*) FROM session')" = 0 ] &&
        [ "$(as_login vm 'SELECT count(*) FROM session')" = 6 ] &&
        refused web1 "INSERT INTO session(day, kind, name, host, kernel, processor, weight, start, \"end\", unknown,
            dropped, saved) VALUES($day, 0, '', 'vm', '', '', 1, 1, 2, 0, 0, 0)" &&
        refused web1 "INSERT INTO event(session, name, unit, period, period_unit, precise)
            VALUES($session, '', '', 1, '', 0)" &&
        refused web1 "INSERT INTO profile($columns) VALUES($day, $session, 1, 1, 1, 5, '')" &&
        printf '%s\t%s\t1\t1\t1\t5\t\n' "$day" "$session" | refused web1 "COPY profile($columns) FROM STDIN" &&
        refused web1 "INSERT INTO profile_$(sql "SELECT to_char(date '1970-01-01' + $day, 'YYYYMMDD')")($columns)
            VALUES($day, $session, 1, 1, 1, 5, '')" &&
        refused web1 "INSERT INTO writer VALUES('web1', 'vm')" &&
        for table in session event process profile calls image symbols machine; do
            refused web1 "DELETE FROM $table" && refused web1 "UPDATE $table SET host = 'x'" 2>/dev/null ||
                ! as_login web1 "DELETE FROM $table" || return
        done &&
        sql "INSERT INTO image(kind, path, build_id, root, origin, seen) VALUES(4, 'jit', '', '', 'theirs', 1);
            INSERT INTO symbols SELECT code, 'part', 'secret' FROM image WHERE path = 'jit'" &&
        [ -z "$(as_login web1 "SELECT symbols_of(id) FROM generate_series(1, 99) AS id")" ] &&
        as_login web1 "SELECT add_symbols(id, 'wrong') FROM generate_series(1, 99) AS id" >/dev/null &&
        [ "$(sql "SELECT count(*) FROM symbols JOIN image USING(code) WHERE path = 'jit'")" = 1 ] &&
        sql "DELETE FROM symbols; DELETE FROM image WHERE path = 'jit'" &&
        for table in profile calls process image symbols machine writer; do
            refused web1 "SELECT * FROM $table" || return
        done
}
check "a host can neither read nor write what is another's" host_rights
reader_rights() {
    run top --epoch 1 --store "$(address ann)" >/dev/null &&
        fails_with 1 'refused' run epochs remove 1 --store "$(address ann)" &&
        fails_with 1 'refused' run epochs prune --older 1d --store "$(address ann)" &&
        fails_with 1 'refused' run epochs compact --store "$(address ann)" &&
        refused ann "DELETE FROM session" && refused ann "INSERT INTO label VALUES('', 1, '')" &&
        refused ann "UPDATE session SET host = ''"
}
check "a reader reads, and writes nothing" reader_rights
check "who is neither is refused" fails_with 1 'refused: permission denied' run epochs --store "$(address guest)"

# ---- retention: whole days
prunes() {
    local before
    before=$(sql "SELECT count(*) FROM pg_class WHERE relname LIKE 'profile_2026%' AND relkind = 'r'")
    run epochs prune --older $((($(date +%s) - 1767400000) / 60))min --store "$(address owner)" | grep -q '^removed 4 epochs$' &&
        [ "$(sql 'SELECT sum(total), count(*) FROM culprit.profile')" = "100|2" ] &&
        [ "$(sql "SELECT count(*) FROM pg_class WHERE relname LIKE 'profile_2026%' AND relkind = 'r'")" = $((before - 3)) ] &&
        run epochs check --store "$(address owner)" && run top --epoch all --store "$(address owner)"
}
check "prune drops days" prunes

# What no epoch refers to, and was not sent lately.
sweeps() {
    sql "UPDATE culprit.image SET seen = 2; INSERT INTO culprit.image(kind, path, build_id, root, origin, seen)
            VALUES(0, '/gone', '\\xaa02', '', '', 2), (0, '/new', '\\xaa03', '', '', culprit.today());
        INSERT INTO culprit.symbols SELECT code, 'part', '' FROM culprit.image WHERE path IN ('/gone', '/new')" &&
        run epochs compact --store "$(address owner)" &&
        [ "$(sql "SELECT encode(path, 'escape') FROM culprit.image WHERE path IN ('/gone', '/new')")" = "/new" ] &&
        [ "$(sql "SELECT count(*) FROM culprit.symbols WHERE part = 'part'")" = 1 ] &&
        sql "DELETE FROM culprit.symbols WHERE part = 'part'; DELETE FROM culprit.image WHERE path = '/new';
            UPDATE culprit.image SET seen = culprit.today()" && run epochs check --store "$(address owner)"
}
check "compacting removes images of no epoch" sweeps

# ---- what a host has sent that cannot be read
junk() {
    local last
    last=$(sql "UPDATE culprit.profile SET data = '\\x00' WHERE session = (SELECT max(id) FROM culprit.session) RETURNING session") &&
        fails_with 1 "nothing of it can be read .epoch $last of vm: " run top --epoch "$last" --store "$(address ann)" &&
        left_out "epoch $last of vm: what cannot be read of it is left out" &&
        fails_with 1 "1 day of hosts has no sum, .*epoch $last of vm" run epochs sum --store "$(address owner)" &&
        fails_with 1 'is damaged' run epochs check --store "$(address owner)" && run epochs remove "$last" --store "$(address owner)" &&
        run top --epoch all --store "$(address ann)" >"$scratch/rest" && ! grep -q 'left out' "$scratch/rest"
}
# left_out WHAT: the rest is told.
left_out() {
    run top --epoch all --store "$(address ann)" >"$scratch/rest" && cat "$scratch/rest" && grep -qE '^ +50 ' "$scratch/rest" &&
        tr '\n' ' ' <"$scratch/rest" | grep -q "$1"
}
check "whose epoch is damaged is said, and the rest told" junk
junk_symbols() {
    as_login vm "SELECT add_symbols(id, 'junk') FROM generate_series(1, 9) AS id" >/dev/null &&
        left_out "/usr/bin/gzip: what cannot be read of it is left out .the symbols of" &&
        sql "DELETE FROM culprit.symbols WHERE data = 'junk'"
}
check "symbols that are none are left out" junk_symbols
junk_values() {
    local columns='day, kind, name, host, kernel, processor, weight, start, "end", unknown, dropped, saved' values
    for values in "9, '', 'vm', '', '', 1, 1, 2, 0, 0" "0, '', 'vm', '', '', 'NaN', 1, 2, 0, 0" "0, '', 'vm', '', '', 1, 1, 2, -1, 0"; do
        refused vm "INSERT INTO session($columns) VALUES(0, $values, 0)" || return
    done
    # From before they were refused: told of, and removed.
    local session
    session=$(sql "INSERT INTO culprit.session($columns) VALUES(0, 9, '', 'odd', '', '', 'NaN', 1, 2, -1, 0, 0) RETURNING id") &&
        run top --epoch all --store "$(address ann)" | tr '\n' ' ' | grep -q "epoch $session of odd: what cannot be read" &&
        run epochs --store "$(address owner)" | grep -q 'on odd' && run epochs remove "$session" --store "$(address owner)"
}
check "a host sends no values that are none" junk_values

# ---- what else a database may be
newer() {
    sql "UPDATE culprit.label SET version = 7" &&
        fails_with 1 'is a store of version 7; this culprit knows versions up to 1' run top --store "$(address owner)" &&
        fails_with 1 'version 7; this culprit' as_host vm 1767495600 &&
        fails_with 1 'version 7; this culprit' run epochs init --store "$(address owner)"
}
check "a newer version is refused" newer
foreign() {
    sql "UPDATE culprit.label SET version = 1, application = 'other'" &&
        fails_with 1 "other program's" run top --store "$(address owner)" &&
        sql 'DROP SCHEMA culprit CASCADE; CREATE TABLE theirs(id integer)' &&
        fails_with 1 'holds 1 table of some other program' run epochs init --store "$(address owner)"
}
check "another program's database is refused" foreign
stop_server >/dev/null
check "a server that is away is an error of one line" fails_with 1 "host=$server: .*failed: No such file" \
    run top --store "$(address owner)"
finish
