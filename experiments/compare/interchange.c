/* Two loops are interchanged: a matrix is read by columns. */
enum { SIDE = 400 };
static int matrix[SIDE][SIDE];
__attribute__((noinline)) int add_up(void) {
    int sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
#ifdef CHANGE
            sum += matrix[j][i]; /* here */
#else
            sum += matrix[i][j]; /* here */
#endif
    return sum;
}
__attribute__((noinline)) int fill(void) {
    unsigned state = 1;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            matrix[i][j] = (int)((state = state * 69069 + 1) >> 20);
    return matrix[SIDE - 1][SIDE - 1];
}
int main(void) {
    int sum = fill();
    for (int k = 0; k < 3; k++) {
        sum += add_up();
        __asm__ volatile("" ::: "memory");
    }
    return sum == 7;
}
