/* A result is kept in memory, by a pointer that may point at what is read, not in a register. */
enum { COUNT = 6000 };
static long data[COUNT], result;
__attribute__((noipa)) void add_up(const long *from, long *to) {
#ifdef CHANGE
    for (int i = 0; i < COUNT; i++)
        *to += from[i]; /* here */
#else
    long sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += from[i]; /* here */
    *to = sum;
#endif
}
__attribute__((noinline)) void step(long *to) {
    for (int i = 0; i < COUNT; i++)
        to[i] = to[i] * 5 + i;
}
int main(void) {
    for (int k = 0; k < 30; k++) {
        step(data);
        add_up(data, &result);
    }
    return result == 7;
}
