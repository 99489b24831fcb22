/* What does not change in a loop is asked in it, in place of around it. */
int data[20000], out[20000], mode = 1, other = 4, third = 5;
__attribute__((noinline)) void blend(int *to) {
#ifdef CHANGE
    for (int i = 0; i < 20000; i++)
        if (mode == 1 && other != 3 && third != 7) /* here */
            to[i] = data[i] + i;                   /* here */
        else
            to[i] = data[i] - i;
#else
    if (mode == 1 && other != 3 && third != 7)
        for (int i = 0; i < 20000; i++) /* here */
            to[i] = data[i] + i;        /* here */
    else
        for (int i = 0; i < 20000; i++)
            to[i] = data[i] - i;
#endif
}
int main(void) {
    for (int k = 0; k < 40; k++)
        blend(out);
    return out[3] == 7;
}
