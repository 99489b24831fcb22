# Debug files and programs from debuginfod servers.
. tests/e2e/lib.sh
export CULPRIT_STORE=$scratch/store XDG_CACHE_HOME=$scratch/cache
unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH DEBUGINFOD_TIMEOUT
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT

# answers PORT FILE: the server there has the file.
answers() {
    python3 -S -c 'import sys, urllib.request; urllib.request.urlopen("http://127.0.0.1:%s/buildid/%s" % tuple(sys.argv[1:]), timeout=20)' "$@" 2>/dev/null
}
# serve FOLDER FILE: starts Debian's server for what is in a folder, and waits until it has the file;
# sets $url. Another may take a port that was free: then the next is tried.
serve() {
    local port try
    for try in 1 2 3 4 5; do
        port=$(python3 -S -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
        env -u DEBUGINFOD_URLS debuginfod -p "$port" -d :memory: -t 0 -c 1 -F "$1" >"$scratch/server.$try" 2>&1 &
        servers+=($!)
        if until_true $! answers "$port" "$2"; then
            url=http://127.0.0.1:$port
            return
        fi
        cat "$scratch/server.$try"
    done
    return 1
}
# misbehave HOW: starts a server that does not do what it should; sets $url.
misbehave() {
    rm -f "$scratch/port"; : >"$scratch/asked"
    python3 tests/guests/debug_server.py "$1" >"$scratch/port" 2>"$scratch/asked" &
    servers+=($!)
    until_true $! test -s "$scratch/port" || return 1
    url=http://127.0.0.1:$(cat "$scratch/port")
}
build_id() {
    readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

needed=x86_64-workloads
if ! has $needed || ! has debuginfod; then
    skip "debuginfod" "no debuginfod or no workloads for x86-64 here"
    finish
fi

# A stripped program, whose debug file is on the server alone, and so is a copy of the program.
folder=$scratch/folder
mkdir -p "$folder" "$scratch/bin"
objcopy --only-keep-debug "$WORKLOADS/x86_64/branchy" "$folder/branchy.debug"
strip -o "$scratch/bin/naked" "$WORKLOADS/x86_64/branchy"
cp "$scratch/bin/naked" "$folder/branchy"
id=$(build_id "$scratch/bin/naked")

recorded() {
    run record --output "$scratch/text" -- "$scratch/bin/naked" &&
        run top --output "$scratch/text" && grep -q 'in stripped files: naked' "$scratch/text" &&
        [ ! -e "$XDG_CACHE_HOME" ]
}
check "no server is asked unless one is set" recorded

names() {
    local verb
    local -x DEBUGINFOD_URLS=$url
    run top --json --output "$scratch/json" 2>"$scratch/said" &&
        report=$scratch/json told 'any(w["procedure"] == "search" for w in r["rows"])' || return 1
    run annotate search --source >"$scratch/text" 2>>"$scratch/said" &&
        grep -q 'branchy.c' "$scratch/text" || { cat "$scratch/text"; return 1; }
    run top --by line 2>>"$scratch/said" | grep -q 'branchy.c:' || return 1
    run record --store "$scratch/other" --output "$scratch/text" -- "$scratch/bin/naked" 2>>"$scratch/said" &&
        grep -qw search "$scratch/text" || { cat "$scratch/text"; return 1; }
    run explain --machine alpha21164 --limit 500K --output "$scratch/text" -- "$scratch/bin/naked" >/dev/null 2>>"$scratch/said" &&
        grep -qw main "$scratch/text" && ! grep -q "without names.*naked" "$scratch/text" || { cat "$scratch/text"; return 1; }
    run epochs export --format pprof "$scratch/p.gz" 2>>"$scratch/said" >/dev/null &&
        zcat "$scratch/p.gz" | grep -qa insertion_sort && ! grep -q debuginfod "$scratch/said"
}
# The next run finds what was fetched, with no server at all.
kept() {
    DEBUGINFOD_URLS= run top | grep -q partition
}
served() {
    serve "$folder" "$id/debuginfo" || return 1
    names
}
check "a server has names and lines of a stripped program" served
check "what was fetched is kept" kept

# The program is gone, or another is in its place: the server's copy has its code.
gone() {
    mv "$scratch/bin/naked" "$scratch/bin/away" || return 1
    DEBUGINFOD_URLS=$url run annotate search --output "$scratch/text" &&
        grep -qE '^[│ ]+[0-9a-f]+  [a-z]+ .* [0-9.]+ %' "$scratch/text" && cp /bin/true "$scratch/bin/naked" || return 1
    DEBUGINFOD_URLS=$url run annotate search --output "$scratch/again" &&
        same_file "$scratch/text" "$scratch/again"
}
check "a server has the code of a program that is gone" gone
mv "$scratch/bin/away" "$scratch/bin/naked"

# A server that is not there, and one that says nothing: one line, one question.
dead() {
    rm -rf "$XDG_CACHE_HOME"
    DEBUGINFOD_URLS=http://127.0.0.1:1 run top --output "$scratch/text" 2>"$scratch/said" &&
        grep -q 'in stripped files: naked' "$scratch/text" || return 1
    [ "$(wc -l <"$scratch/said")" = 1 ] &&
        grep -q '^culprit: DEBUGINFOD_URLS (http://127.0.0.1:1): Connection refused; no more' "$scratch/said" ||
        { cat "$scratch/said"; return 1; }
}
check "a server that is not there" dead
silent() {
    rm -rf "$XDG_CACHE_HOME"
    misbehave silent || return 1
    for _ in 1 2; do # the second run asks again: what did not come is not taken for an answer
        DEBUGINFOD_RETRY_LIMIT=0 DEBUGINFOD_TIMEOUT=1 DEBUGINFOD_URLS=$url run top --output "$scratch/text" 2>"$scratch/said" &&
            grep -q 'in stripped files: naked' "$scratch/text" || return 1
        [ "$(wc -l <"$scratch/said")" = 1 ] && grep -q "($url): no answer; no more" "$scratch/said" ||
            { cat "$scratch/said"; return 1; }
    done
    [ "$(wc -l <"$scratch/asked")" = 2 ] || { cat "$scratch/asked"; return 1; }
}
check "a server that does not answer" silent

# What a server gives is not believed.
hostile() {
    rm -rf "$XDG_CACHE_HOME"
    misbehave "$1" || return 1
    DEBUGINFOD_URLS=$url run top --output "$scratch/text" 2>"$scratch/said" &&
        grep -q 'in stripped files: naked' "$scratch/text" && grep -q "$id/debuginfo" "$scratch/asked" || return 1
    [ "$(wc -l <"$scratch/said")" = 1 ] && grep -q "refused: .*$2" "$scratch/said" &&
        ! compgen -G "$XDG_CACHE_HOME/debuginfod_client/*/debuginfo" || { cat "$scratch/said"; return 1; }
}
check "a file of another program is refused" hostile "$WORKLOADS/x86_64/stream" 'another build id'
check "what is no program is refused" hostile tests/e2e/lib.sh 'not an ELF file'
head -c 5000 "$folder/branchy.debug" >"$scratch/cut"
cut_off() {
    rm -rf "$XDG_CACHE_HOME"
    misbehave "$scratch/cut" || return 1
    DEBUGINFOD_URLS=$url run top --output "$scratch/text" 2>"$scratch/said" &&
        grep -q naked "$scratch/text"
}
check "a file that was cut off" cut_off
finish
