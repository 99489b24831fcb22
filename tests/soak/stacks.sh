# The daemon with stacks at 997 samples per second under 10,000 short processes a minute, MINUTES (60):
# nothing is lost uncounted, memory stays flat, the store is whole.
. tests/e2e/lib.sh
. tests/live.sh

if [ -n "$live" ]; then
    skip "a storm of processes" "$live"
    finish
fi
check "a storm of processes" python3 -B experiments/live-soak.py --minutes "${MINUTES:-60}" --print
finish
