/* Any bytes as the result of a region, with checksums made right. */
#include <string.h>

#include "input.h"
#include "simulate/region_result.h"
#include "util/record_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size + 1);
    struct simulation simulation;
    struct region_code_extent extent;
    struct error error = {0};
    require(bytes != NULL);
    memcpy(bytes, data, size);
    seal_records(bytes, size, RECORD_PROLOGUE_BYTES);
    struct memory_file memory = memory_file(bytes, size);
    if (region_result_read(memory.path, &simulation, &extent, &error)) {
        uint64_t executed = 0, units = 0;
        for (uint32_t i = 0; i < simulation.execution_count; i++)
            executed += simulation.executions[i];
        for (uint64_t i = 0; i < simulation.cell_count; i++) {
            require(simulation.cells[i].insn < extent.insns);
            units += simulation.cells[i].units;
        }
        require(executed == simulation.instructions && units == simulation.cycles * CYCLE_UNITS);
    } else {
        require(error.message[0]);
    }
    simulation_free(&simulation);
    close(memory.fd);
    free(bytes);
    return 0;
}
