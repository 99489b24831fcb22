# Ten minutes of signals, a thousand a second, x86-64 and riscv64, with addresses and without: the count of
# instructions is the program's own. SIGNALS=N: of each.
. tests/e2e/lib.sh

check "instructions under ${SIGNALS:-150000} signals, four times" \
    "$CULPRIT_BUILD/tests/test_capture" "${SIGNALS:-150000}"

finish
