# Questions about many hosts are answered by a server as by a file, from epochs and from sums of days.
. tests/e2e/lib.sh
. tests/postgres.sh
if [ -n "$no_server" ]; then
    skip "questions about hosts" "$no_server"
    finish
fi
export CULPRIT_RUN=$scratch/run
fleet=$scratch/fleet.db
check "a server starts" make_server
sent() {
    python3 -S -B tests/e2e/store.py fleet "$fleet" hosts=5 days=3 epochs=4 swap=2 odd=1 &&
        new_fleet && run epochs export --push "$(address owner)" --epoch all --store "$fleet"
}
check "epochs of five hosts are sent" sent
ask_all() {
    local arguments
    for arguments in "top --host *" "top --by host" "top --by build --host web-0[12]" "top --build app@b2b2 --by image" \
        "top --since 2026-01-01T07:00Z --until 2026-01-03T20:00Z --by image" "top --outliers" "variance --hosts" \
        "diff --build a1a1 --build b2b2 --compare rate" "epochs --host web-03 --since 2026-01-02Z"; do
        set -f
        # shellcheck disable=SC2086
        run $arguments --store "$fleet" >/dev/null && same_on_server "$fleet" $arguments || { echo "$arguments"; return 1; }
        set +f
    done
}
check "from epochs" ask_all
summed() {
    run epochs sum --store "$fleet" >"$scratch/of_file" && run epochs sum --store "$(address owner)" >"$scratch/of_server" &&
        diff "$scratch/of_file" "$scratch/of_server" && grep -q 'made 24 sums' "$scratch/of_server" &&
        run epochs sum --store "$(address owner)" | grep -q '^made 0 sums.*; 24 were there' &&
        run epochs check --store "$(address owner)"
}
check "logins" sql 'CREATE ROLE ann LOGIN IN ROLE culprit_reader; CREATE ROLE "web-02" LOGIN IN ROLE culprit_host'
for login in ann web-02; do
    check "$login makes no sums" fails_with 1 'permission|may not|denied' run epochs sum --store "$(address $login)"
done
check "sums of days are made" summed
check "from sums" ask_all
# An epoch that is written again makes the sums of its days void.
late() {
    sqlite3 "$fleet" "UPDATE session SET saved = saved + 5000000 WHERE id = 27" &&
        sql "UPDATE culprit.session SET saved = saved + 5000000 WHERE host = 'web-02' AND kind = 0 AND start =
            $(sqlite3 "$fleet" 'SELECT start FROM session WHERE id = 27')" && ask_all &&
        run epochs sum --store "$(address owner)" | grep -qE '^made [24] sums.*, [24] removed' &&
        run epochs sum --store "$fleet" && ask_all
}
check "what changes is read anew" late
finish
