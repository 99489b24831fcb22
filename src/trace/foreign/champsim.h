/* The trace of ChampSim as its reader and its writer here share it: one record of 64 bytes for each
 * instruction, in the order of execution, without any header (ChampSim, inc/trace_instruction.h).
 * Inside of this room.
 *
 *     u64  address            u8 is a branch      u8 was taken
 *     2×u8 registers written  4×u8 registers read
 *     2×u64 addresses stored  4×u64 addresses loaded       0: none, in all of these
 *
 * The kind of a branch follows from three registers: inc/instruction.h of ChampSim has the rule. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

enum {
    CHAMPSIM_RECORD_BYTES = 64,
    CHAMPSIM_WRITTEN = 2,
    CHAMPSIM_READ = 4,
    CHAMPSIM_STORES = 2,
    CHAMPSIM_LOADS = 4,
    /* Registers that have a meaning. */
    CHAMPSIM_STACK = 6,
    CHAMPSIM_FLAGS = 25,
    CHAMPSIM_IP = 26,
    /* Those of ours, from here on, that its tracer has no number for. */
    CHAMPSIM_OTHERS = 96
};

struct champsim_record {
    uint64_t address;
    bool branch, taken;
    uint8_t written[CHAMPSIM_WRITTEN], read[CHAMPSIM_READ];
    uint64_t stores[CHAMPSIM_STORES], loads[CHAMPSIM_LOADS];
};

void champsim_encode(const struct champsim_record *record, uint8_t bytes[CHAMPSIM_RECORD_BYTES]);
void champsim_decode(const uint8_t bytes[CHAMPSIM_RECORD_BYTES], struct champsim_record *record);

/* By its registers. BRANCH_NONE also for what is marked as a branch and does not write the
 * instruction pointer; BRANCH_INDIRECT for what fits none of ChampSim's rules. */
enum branch_kind champsim_branch(const struct champsim_record *record);

/* The general registers of x86-64 (0-15 as insn.h numbers them) as Pin numbers them, whose numbers
 * ChampSim's tracer records, and back; 255: none. */
uint8_t champsim_general(uint8_t reg);
uint8_t champsim_general_of(uint8_t number);
