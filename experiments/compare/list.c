/* Numbers that lay in an array are in a list whose nodes are spread over memory. */
struct node {
    struct node *next;
    long value;
    long more[6];
};
struct node nodes[8192];
__attribute__((noinline)) long sum_up(void) {
    long sum = 0;
#ifdef CHANGE
    for (const struct node *node = nodes; node; node = node->next) /* here */
        sum += node->value;                                        /* here */
#else
    for (int i = 0; i < 8192; i++) /* here */
        sum += nodes[i].value;     /* here */
#endif
    return sum;
}
int main(void) {
    long sum = 0;
    for (unsigned i = 0; i < 8191; i++)
        nodes[i * 2731 % 8192].next = &nodes[(i + 1) * 2731 % 8192];
    for (int k = 0; k < 10; k++) {
        sum += sum_up();
        __asm__ volatile("" ::: "memory"); /* it is called each time */
    }
    return sum == 7;
}
