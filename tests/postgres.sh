# Sourced, after tests/e2e/lib.sh: a server of PostgreSQL of a test's own, on a socket in its scratch
# folder and no other address. `$no_server` is why it cannot run here, or empty.

server_programs=$(find /usr/lib/postgresql/*/bin /usr/pgsql-*/bin -name initdb 2>/dev/null | sort -V | tail -n 1)
server_programs=${server_programs%/initdb}
server=$scratch/server
no_server=
[ -n "$server_programs" ] && has psql || no_server="no server of PostgreSQL here"
# The server does not run as root.
server_user=
if [ "$(id -u)" = 0 ]; then
    for server_user in postgres nobody ''; do
        id -u "$server_user" >/dev/null 2>&1 && break
    done
    [ -n "$server_user" ] && has runuser || no_server=${no_server:-no user to run a server as}
fi
as_server() {
    # Not in the folder of the test, which its user may not be let into.
    (cd / && ${server_user:+runuser -u "$server_user" --} "$@")
}

trap 'stop_server immediate >/dev/null 2>&1; rm -rf "$scratch"' EXIT

# make_server: with a login "owner" that may do everything; start_server [SETTING...].
make_server() {
    chmod 755 "$scratch"
    mkdir -p "$server" && { [ -z "$server_user" ] || chown "$server_user" "$server"; } &&
        as_server "$server_programs/initdb" -D "$server/data" -U owner -A trust -E UTF8 --locale=C \
            --no-sync >"$server.log" 2>&1 || { cat "$server.log"; return 1; }
    start_server
}
start_server() {
    local settings="-k $server -c listen_addresses='' -c fsync=off -c shared_buffers=16MB"
    for setting; do settings+=" -c $setting"; done
    as_server "$server_programs/pg_ctl" -D "$server/data" -w -l "$server/log" -o "$settings" start \
        >"$server.log" 2>&1 || { cat "$server.log" "$server/log"; return 1; }
}
# stop_server [fast|immediate]
stop_server() {
    [ -e "$server/data/postmaster.pid" ] || return 0
    as_server "$server_programs/pg_ctl" -D "$server/data" -w -m "${1:-fast}" stop
}

# address LOGIN [DATABASE]
address() {
    echo "postgresql://$1@/${2:-fleet}?host=$server"
}
# sql COMMAND...: as the owner, rows alone, columns between '|'.
sql() {
    PGOPTIONS='-c search_path=culprit,public' psql -X -h "$server" -U owner -d "${database:-fleet}" -v ON_ERROR_STOP=1 -qAt -c "$1"
}
# new_fleet: a database with tables of today.
new_fleet() {
    database=postgres sql 'DROP DATABASE IF EXISTS fleet WITH (FORCE)' &&
        database=postgres sql 'CREATE DATABASE fleet' && run epochs init --store "$(address owner)"
}

# same_on_server STORE ARGUMENTS...: culprit says of a store and of what was sent of it the same, but for its
# address and its size; the status of both is 0. same_status_on_server STATUS STORE ARGUMENTS...: it is that.
same_on_server() {
    same_status_on_server 0 "$@"
}
same_status_on_server() {
    local status=$1 store=$2
    shift 2
    run "$@" --store "$store" >"$scratch/of_file" 2>&1 </dev/null
    [ $? = "$status" ] || { cat "$scratch/of_file"; return 1; }
    run "$@" --store "$(address owner)" >"$scratch/of_server" 2>&1 </dev/null
    [ $? = "$status" ] || { cat "$scratch/of_file" "$scratch/of_server"; return 1; }
    normal_address "$store" <"$scratch/of_file" >"$scratch/file"
    normal_address "$(address owner)" <"$scratch/of_server" >"$scratch/server_file"
    diff "$scratch/file" "$scratch/server_file"
}
# The command that is to come next may be in two lines.
normal_address() {
    sed -z 's/ \\\n */ /g' | sed "s#'$1'#STORE#g; s#$1#STORE#g; s#^STORE: .*#STORE#; /\"bytes\"/d"
}
