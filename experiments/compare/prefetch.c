/* A prefetch is removed. */
long data[1 << 20];
unsigned places[30000];
__attribute__((noinline)) long gather(void) {
    long sum = 0;
    for (int i = 0; i < 30000 - 16; i++) {
#ifndef CHANGE
        __builtin_prefetch(&data[places[i + 16]]);
#endif
        const long value = data[places[i]]; /* here */
        for (int k = 0; k < 63; k++)
            sum += value >> k ^ k; /* here */
    }
    return sum;
}
int main(void) {
    unsigned random = 1;
    for (int i = 0; i < 30000; i++) {
        random = random * 1664525 + 1013904223;
        places[i] = random >> 12;
    }
    return gather() == 7;
}
