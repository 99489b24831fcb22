/* Speed of a chip: traces go round over the hardware threads of a machine until each has run once.
 * Million instructions per second of processor time, of all that the chip did; and its throughput.
 * usage: sharing MACHINE TRACE... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "simulate/sharing.h"

static long peak_megabytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_maxrss / 1024;
}

int main(int argc, char **argv) {
    struct error error;
    struct machine machine;
    struct sharing_result result = {0};
    if (argc < 3 || !machine_load(argv[1], &machine, &error)) {
        fprintf(stderr, "usage: sharing MACHINE TRACE...\n");
        return 2;
    }
    uint32_t threads = machine.chip.cores * machine.chip.threads;
    const char **traces = calloc(threads, sizeof *traces);
    for (uint32_t i = 0; traces && i < threads; i++)
        traces[i] = argv[2 + i % (uint32_t)(argc - 2)];
    struct sharing_options options = {
        .machine = &machine, .traces = traces, .selection = {.thread = -1}};
    bool good = traces && sharing_run(&options, &result, &error);
    if (good) {
        uint64_t instructions = 0, first = 0;
        for (uint32_t i = 0; i < threads; i++) {
            instructions += result.all[i].instructions;
            first += result.first[i].instructions;
        }
        printf("%2u threads %12" PRIu64 " instructions (%3.0f %% first runs)  IPC %.3f per core "
               "%7.2f M instr/s, peak %ld MB\n",
               threads, instructions, 100.0 * (double)first / (double)instructions,
               (double)instructions / (double)result.cycles / machine.chip.cores,
               (double)instructions / result.seconds / 1e6, peak_megabytes());
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    sharing_free(&result);
    free(traces);
    return !good;
}
