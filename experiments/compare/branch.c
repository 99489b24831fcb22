/* The same loop over data that are not in order: its branch can no longer be predicted. */
unsigned data[20000], large, others;
__attribute__((noinline)) void count(unsigned limit) {
    for (int i = 0; i < 20000; i++)
        if (data[i] >= limit) /* here */
            large += data[i];
        else
            others ^= 3;
}
int main(void) {
    unsigned random = 1;
    for (unsigned i = 0; i < 20000; i++) {
        random = random * 1664525 + 1013904223;
#ifdef CHANGE
        data[i] = random >> 16;
#else
        data[i] = (random >> 16) * 0 + i * 3;
#endif
    }
    for (int k = 0; k < 12; k++)
        count(32768);
    return large == 7;
}
