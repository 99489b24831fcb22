/* The records of jitdumps that tests make by hand. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

static inline void put(int file, const void *bytes, size_t size) {
    assert_int_equal(write(file, bytes, size), size);
}

static inline void put_header(int file, uint64_t flags) {
    const struct {
        uint32_t magic, version, size, machine, padding, pid;
        uint64_t time, flags;
    } header = {0x4a695444, 1, 40, 62, 0, 42, 1, flags};
    put(file, &header, sizeof header);
}

static inline void put_record(int file, uint32_t type, uint64_t time, const void *body,
                              size_t size) {
    const struct {
        uint32_t type, size;
        uint64_t time;
    } head = {type, (uint32_t)(16 + size), time};
    put(file, &head, sizeof head);
    put(file, body, size);
}

static inline void put_load(int file, uint64_t time, uint64_t address, uint64_t size,
                            uint64_t number, const char *name) {
    uint8_t body[1024] = {0};
    const uint64_t words[] = {42, address, address, size, number};
    memcpy(body, words, sizeof words);
    strcpy((char *)body + sizeof words, name);
    /* A few bytes of code follow, however large it is. */
    put_record(file, 0, time, body, sizeof words + strlen(name) + 1 + 4);
}

static inline void put_move(int file, uint64_t time, uint64_t from, uint64_t to, uint64_t size,
                            uint64_t number) {
    const uint64_t words[] = {42, to, from, to, size, number};
    put_record(file, 1, time, words, sizeof words);
}
