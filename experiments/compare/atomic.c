/* A counter that is for several threads now. */
enum { COUNT = 20000 };
static unsigned seen[64], data[COUNT];
__attribute__((noinline)) void fill(void) {
    unsigned state = 1;
    for (int i = 0; i < COUNT; i++)
        data[i] = (state = state * 69069 + 5) >> 26;
}
__attribute__((noinline)) void count(void) {
    for (int i = 0; i < COUNT; i++)
#ifdef CHANGE
        __atomic_fetch_add(&seen[data[i]], 1, __ATOMIC_SEQ_CST); /* here */
#else
        seen[data[i]]++; /* here */
#endif
}
int main(void) {
    fill();
    for (int k = 0; k < 6; k++)
        count();
    return seen[3] == 7;
}
