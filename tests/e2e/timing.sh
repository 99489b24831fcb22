# Loops of real machine code whose cycles were worked out by hand, on both architectures.
exec python3 -B tests/timing/run.py "$CULPRIT"
