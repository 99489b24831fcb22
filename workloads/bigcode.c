/* bigcode [ROUNDS]: more code than the instruction cache holds.
 *
 * 4096 functions, each over 64 bytes (more than 256 KB together, against caches of 32 KB), called
 * directly, in an order that mixes the digits of their numbers: successive calls land far apart, so
 * that every call misses the L1 instruction cache and most miss its TLB (DR-L1, DR-TLB). Each
 * function does the same few multiplications with constants of its own; no data is touched. */
#include "workload.h"

/* Functions are numbered by six digits, 0 to 3. */
#define DIGITS(F, p) F(p##0) F(p##1) F(p##2) F(p##3)

/* Constants of at most 28 bits: riscv64 makes them in registers, where longer ones are loaded. */
#define FUNCTION(n)                                                                                \
    __attribute__((noinline)) static uint64_t function_##n(uint64_t x) {                           \
        x = (x ^ 0x##n##1) * 0x##n##9;                                                             \
        x ^= x >> 29;                                                                              \
        x = (x ^ 0x##n##7) * 0x##n##3;                                                             \
        x ^= x >> 32;                                                                              \
        x = (x ^ 0x##n##5) * 0x##n##b;                                                             \
        x ^= x >> 27;                                                                              \
        x = (x ^ 0x##n##d) * 0x##n##f;                                                             \
        x ^= x >> 30;                                                                              \
        x = (x ^ 0x##n##4) * 0x##n##1;                                                             \
        return x ^ x >> 31;                                                                        \
    }

#define DEFINE_5(p) DIGITS(FUNCTION, p)
#define DEFINE_4(p) DEFINE_5(p##0) DEFINE_5(p##1) DEFINE_5(p##2) DEFINE_5(p##3)
#define DEFINE_3(p) DEFINE_4(p##0) DEFINE_4(p##1) DEFINE_4(p##2) DEFINE_4(p##3)
#define DEFINE_2(p) DEFINE_3(p##0) DEFINE_3(p##1) DEFINE_3(p##2) DEFINE_3(p##3)
#define DEFINE_1(p) DEFINE_2(p##0) DEFINE_2(p##1) DEFINE_2(p##2) DEFINE_2(p##3)

DEFINE_1(0)
DEFINE_1(1)
DEFINE_1(2)
DEFINE_1(3)

/* The last digits vary slowest, and the first fastest: each call goes a quarter of the code on. */
#define CALL(a, b, c, d, e, f) x = function_##a##b##c##d##e##f(x);
#define CALL_1(b, c, d, e, f)                                                                      \
    CALL(2, b, c, d, e, f) CALL(0, b, c, d, e, f) CALL(3, b, c, d, e, f) CALL(1, b, c, d, e, f)
#define CALL_2(c, d, e, f)                                                                         \
    CALL_1(1, c, d, e, f) CALL_1(3, c, d, e, f) CALL_1(0, c, d, e, f) CALL_1(2, c, d, e, f)
#define CALL_3(d, e, f) CALL_2(3, d, e, f) CALL_2(0, d, e, f) CALL_2(2, d, e, f) CALL_2(1, d, e, f)
#define CALL_4(e, f)    CALL_3(0, e, f) CALL_3(2, e, f) CALL_3(1, e, f) CALL_3(3, e, f)
#define CALL_5(f)       CALL_4(2, f) CALL_4(1, f) CALL_4(3, f) CALL_4(0, f)

kernel uint64_t call_all(uint64_t x) {
    CALL_5(1)
    CALL_5(3)
    CALL_5(0)
    CALL_5(2)
    return x;
}

int main(int count, char **arguments) {
    uint64_t rounds = argument(count, arguments, 1, 1500, "rounds of 4096 calls");
    uint64_t x = 1;
    for (uint64_t i = 0; i < rounds; i++) {
        x = call_all(x);
        DIVIDE_IF(i % 4 == 0);
    }
    printf("bigcode %" PRIu64 "\n", x);
    return 0;
}
