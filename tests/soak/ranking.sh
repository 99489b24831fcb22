# The same ranking of procedures as perf's, of one command that runs gzip, sqlite3, xz and perl.
. tests/e2e/lib.sh
export CULPRIT_STORE=$scratch/profiles.db

cat >"$scratch/mix" <<'MIX'
head -c 6000000 "$1" | gzip -9 -c >/dev/null
head -c 2000000 "$1" | xz -6 -T1 -c >/dev/null
sqlite3 :memory: "CREATE TABLE t(a INTEGER, b TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
    SELECT i + 1 FROM n WHERE i < 400000) INSERT INTO t SELECT i * 7919 % 100003, hex(i) FROM n;
    CREATE INDEX x ON t(b); SELECT count(*), sum(length(b)) FROM t GROUP BY a % 100;" >/dev/null
perl -e 'my %h; for my $i (1..3000000) { $h{$i % 1000} .= "x" if $i % 3; } print length(join ",", sort keys %h)' >/dev/null
MIX

ranked() {
    python3 tests/soak/ranking.py "$CULPRIT" "$CULPRIT_STORE" 3 -- sh "$scratch/mix" "$CULPRIT"
}
what="the ranking of procedures is perf's"
if ! run record -- true 2>"$scratch/why"; then
    skip "$what" "$(head -n 1 "$scratch/why")"
else
    skip_without perf "$what" || skip_without readelf "$what" || check "$what" ranked
fi
finish
