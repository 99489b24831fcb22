# Workloads of one known behaviour: the report blames the right instruction for the right reason.
. tests/e2e/lib.sh

report=$scratch/report.json
checked() {
    python3 tests/e2e/check_report.py "$report" "$@"
}

# 64 MiB of lines in random order, one chain: the load of the next address misses every cache.
chase() {
    run sim --from chase_one --limit 1M --top 0 --json --output "$report" -- "$WORKLOADS/x86_64/chase" >/dev/null &&
        checked 'r["hot_instructions"][0]["function"] == "chase_one"' \
            'r["hot_instructions"][0]["share"] > 0.9' \
            'r["hot_instructions"][0]["file"].endswith("chase.c") and r["hot_instructions"][0]["line"] > 0' \
            '"qword ptr [" in r["hot_instructions"][0]["text"]' \
            'r["hot_instructions"][0]["components"]["llc_miss"] > 0.85 * r["cycles"]' \
            'r["commit_states"]["stalled"] > 0.9 * r["cycles"]'
}
skip_without x86_64-workloads "pointer chase" ||
    check "a pointer chase: one load carries ST-LLC and nearly all time" chase

# ceil and floor of glibc wrap their work in frflags and fsflags, which flush BOOM's pipeline.
ceil() {
    run sim --limit 2M --top 0 --json --output "$report" -- "$WORKLOADS/riscv64/ceil" 200000 >/dev/null &&
        checked 'all(h["text"].split()[0] in ("frflags", "fsflags") for h in r["hot_instructions"][:4])' \
            'all(h["stack"]["FL-EX"] > 0.95 * h["cycles"] for h in r["hot_instructions"][:4])' \
            '{h["function"] for h in r["hot_instructions"][:4]} == {"ceil", "floor"}' \
            'r["components"]["flush"] > 0.3 * r["cycles"]' \
            'r["commit_states"]["flushed"] > 0.2 * r["cycles"]'
}
skip_without riscv64-workloads "ceil" ||
    check "a loop of ceil and floor: frflags and fsflags carry the flushes" ceil

finish
