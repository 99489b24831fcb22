#include "trace/foreign/champsim.h"

#include <string.h>

#include "util/array.h"
#include "util/little_endian.h"

enum { AT_BRANCH = 8, AT_TAKEN = 9, AT_WRITTEN = 10, AT_READ = 12, AT_STORES = 16, AT_LOADS = 32 };

void champsim_encode(const struct champsim_record *record, uint8_t bytes[CHAMPSIM_RECORD_BYTES]) {
    put_u64(bytes, record->address);
    bytes[AT_BRANCH] = record->branch;
    bytes[AT_TAKEN] = record->taken;
    memcpy(bytes + AT_WRITTEN, record->written, CHAMPSIM_WRITTEN);
    memcpy(bytes + AT_READ, record->read, CHAMPSIM_READ);
    for (int i = 0; i < CHAMPSIM_STORES; i++)
        put_u64(bytes + AT_STORES + 8 * i, record->stores[i]);
    for (int i = 0; i < CHAMPSIM_LOADS; i++)
        put_u64(bytes + AT_LOADS + 8 * i, record->loads[i]);
}

void champsim_decode(const uint8_t bytes[CHAMPSIM_RECORD_BYTES], struct champsim_record *record) {
    record->address = get_u64(bytes);
    record->branch = bytes[AT_BRANCH];
    record->taken = bytes[AT_TAKEN];
    memcpy(record->written, bytes + AT_WRITTEN, CHAMPSIM_WRITTEN);
    memcpy(record->read, bytes + AT_READ, CHAMPSIM_READ);
    for (int i = 0; i < CHAMPSIM_STORES; i++)
        record->stores[i] = get_u64(bytes + AT_STORES + 8 * i);
    for (int i = 0; i < CHAMPSIM_LOADS; i++)
        record->loads[i] = get_u64(bytes + AT_LOADS + 8 * i);
}

static bool is_other(uint8_t reg) {
    return reg && reg != CHAMPSIM_STACK && reg != CHAMPSIM_FLAGS && reg != CHAMPSIM_IP;
}

enum branch_kind champsim_branch(const struct champsim_record *record) {
    const bool writes_ip = memchr(record->written, CHAMPSIM_IP, CHAMPSIM_WRITTEN);
    const bool writes_stack = memchr(record->written, CHAMPSIM_STACK, CHAMPSIM_WRITTEN);
    const bool reads_ip = memchr(record->read, CHAMPSIM_IP, CHAMPSIM_READ);
    const bool reads_stack = memchr(record->read, CHAMPSIM_STACK, CHAMPSIM_READ);
    const bool reads_flags = memchr(record->read, CHAMPSIM_FLAGS, CHAMPSIM_READ);
    const bool reads_other = any_where(i, CHAMPSIM_READ, is_other(record->read[i]));
    if (!writes_ip)
        return BRANCH_NONE;
    if (!reads_stack && !reads_flags && !reads_other)
        return BRANCH_JUMP;
    if (!reads_stack && !reads_ip && !reads_flags)
        return BRANCH_INDIRECT;
    if (!reads_stack && reads_ip && !writes_stack)
        return BRANCH_CONDITIONAL;
    if (reads_stack && reads_ip && writes_stack && !reads_flags)
        return reads_other ? BRANCH_INDIRECT_CALL : BRANCH_CALL;
    return reads_stack && !reads_ip && writes_stack ? BRANCH_RETURN : BRANCH_INDIRECT;
}

/* Pin's order: rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax, r8 to r15, from 3 on. */
static const uint8_t GENERAL[] = {7, 6, 5, 4, 3, 2, 1, 0, 8, 9, 10, 11, 12, 13, 14, 15};
enum { FIRST_GENERAL = 3, GENERALS = sizeof GENERAL };

uint8_t champsim_general(uint8_t reg) {
    const size_t i = index_where(k, GENERALS, GENERAL[k] == reg);
    return i < GENERALS ? (uint8_t)(FIRST_GENERAL + i) : REG_NONE;
}

uint8_t champsim_general_of(uint8_t number) {
    return number >= FIRST_GENERAL && number < FIRST_GENERAL + GENERALS
               ? GENERAL[number - FIRST_GENERAL]
               : REG_NONE;
}
