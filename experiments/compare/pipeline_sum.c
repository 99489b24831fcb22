/* The other file of pipeline.c. */
#include <stddef.h>
#include <stdint.h>

static uint32_t mix(uint32_t sum, uint32_t byte) {
    return (sum << 5 | sum >> 27) ^ byte; /* here CHANGE_LEVEL */
}

uint32_t sum_bytes(const unsigned char *bytes, size_t size);
uint32_t sum_bytes(const unsigned char *bytes, size_t size) {
    uint32_t one = 1, two = 2, three = 3, four = 4;
    for (int round = 0; round < 6; round++)
        for (size_t i = 0; i + 4 <= size; i += 4) { /* here CHANGE_LEVEL */
            one = mix(one, bytes[i]);               /* here CHANGE_LEVEL */
            two = mix(two, bytes[i + 1]);           /* here CHANGE_LEVEL */
            three = mix(three, bytes[i + 2]);       /* here CHANGE_LEVEL */
            four = mix(four, bytes[i + 3]);         /* here CHANGE_LEVEL */
        }
    return one ^ two ^ three ^ four;
}
