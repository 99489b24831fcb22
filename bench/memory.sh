# Nanoseconds on the host per access to the simulated memory system.
echo "memory room, host time per access"
"$BENCHMARKS/memory"
