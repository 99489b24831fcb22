/* String instructions: elements up and down, none at all, stopped by a comparison. */
#include "bare.h"

static uint8_t from[4096], to[4096];

static void move_bytes(uint8_t *to_at, const uint8_t *from_at, size_t count) {
    __asm__ volatile("rep movsb" : "+D"(to_at), "+S"(from_at), "+c"(count)::"memory");
}

static void move_bytes_down(uint8_t *to_at, const uint8_t *from_at, size_t count) {
    __asm__ volatile("std\n rep movsb\n cld" : "+D"(to_at), "+S"(from_at), "+c"(count)::"memory");
}

static void fill(uint64_t *at, uint64_t value, size_t count) {
    __asm__ volatile("rep stosq" : "+D"(at), "+c"(count) : "a"(value) : "memory");
}

static size_t find_zero(const uint8_t *at, size_t count) {
    __asm__ volatile("repne scasb" : "+D"(at), "+c"(count) : "a"(0) : "memory", "cc");
    return count;
}

static size_t compare(const uint8_t *a, const uint8_t *b, size_t count) {
    __asm__ volatile("repe cmpsb" : "+S"(a), "+D"(b), "+c"(count)::"memory", "cc");
    return count;
}

void run(void) {
    size_t left = 0;
    fill((uint64_t *)from, 0x0101010101010101, sizeof from / 8);
    move_bytes(to, from, 1000);
    move_bytes(to, from, 0);
    move_bytes(to, from, 1);
    move_bytes_down(to + 299, from + 299, 300);
    left += find_zero(to, sizeof to);
    left += compare(from, to, sizeof to);
    for (int i = 0; i < 10; i++)
        fill((uint64_t *)to, 0, 4);
    /* filled 512; moved 1000, 0, 1, 300; scanned 1001; compared 1001; filled 10 times 4 */
    leave(left == 2 * (4096 - 1001) ? 0 : 1);
}
