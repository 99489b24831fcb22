/* records fields before|after: one number of each record of 64 bytes, over the end of a cache line
 * or within one. Both do the same work and print the same number. See experiments/advice.py. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noipa))

enum { RECORD = 64, PACKED = 256, FIELD = RECORD - 8, FIELD_ROUNDS = 2000 };

static inline uint64_t field_of(const unsigned char *record) {
    uint64_t field;
    memcpy(&field, record + FIELD, sizeof field);
    return field;
}
static inline uint64_t sum_fields(const unsigned char *records) {
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (int k = 0; k < FIELD_ROUNDS; k++)
        for (const unsigned char *at = records; at < records + PACKED * RECORD; at += 8 * RECORD) {
            a += field_of(at) ^ field_of(at + 4 * RECORD);
            b += field_of(at + RECORD) ^ field_of(at + 5 * RECORD);
            c += field_of(at + 2 * RECORD) ^ field_of(at + 6 * RECORD);
            d += field_of(at + 3 * RECORD) ^ field_of(at + 7 * RECORD);
        }
    return a + b + c + d;
}
KERNEL uint64_t kernel_fields(const unsigned char *records) {
    return sum_fields(records);
}
KERNEL uint64_t kernel_fields_apart(const unsigned char *records) {
    return sum_fields(records);
}
static uint64_t fields(bool after) {
    static unsigned char room[RECORD * (PACKED + 1)] __attribute__((aligned(RECORD)));
    unsigned char *records = room + (after ? 0 : 4);
    for (int i = 0; i < PACKED; i++) {
        const uint64_t field = (uint64_t)i * 77 % 1000;
        memcpy(records + RECORD * i + FIELD, &field, sizeof field);
    }
    return (after ? kernel_fields_apart : kernel_fields)(records);
}

int main(int count, char **words) {
    if (count != 3 || strcmp(words[1], "fields")) {
        fprintf(stderr, "records fields before|after\n");
        return 2;
    }
    printf("%llu\n", (unsigned long long)fields(!strcmp(words[2], "after")));
    return 0;
}
