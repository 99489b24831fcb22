/* A trace in ChampSim's format: instructions of four bytes in a row, without accesses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { STRAIGHT_INSNS = 12, STRAIGHT_RECORD_BYTES = 64 };

static inline bool straight_trace_write(const char *path) {
    uint8_t records[STRAIGHT_INSNS][STRAIGHT_RECORD_BYTES] = {{0}};
    for (uint64_t i = 0; i < STRAIGHT_INSNS; i++) {
        const uint64_t address = 0x401000 + 4 * i; /* the rest is 0: no branch, no register */
        memcpy(records[i], &address, sizeof address);
    }
    FILE *file = fopen(path, "w");
    const bool good =
        file && fwrite(records, STRAIGHT_RECORD_BYTES, STRAIGHT_INSNS, file) == STRAIGHT_INSNS;
    return file && fclose(file) == 0 && good;
}
