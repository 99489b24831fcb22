/* A field is added to the struct of an array that is looked through. */
struct row {
    long key, price;
#ifdef CHANGE
    long seen[5];
#endif
};
struct row rows[20000];
__attribute__((noinline)) long find(long key) {
    long at = -1;
    for (long i = 0; i < 20000; i++)
        if (rows[i].key == key) /* here */
            at = i;
    return at;
}
int main(void) {
    long sum = 0;
    for (long k = 1; k < 40; k++) {
        sum += find(k);
        __asm__ volatile("" ::: "memory"); /* it is called each time */
    }
    return sum == 7;
}
