/* Works, and ends by a fault in the middle of a block. */
static volatile unsigned sum;

int main(void) {
    for (unsigned i = 0; i < 700000; i++)
        sum += i ^ sum >> 3;
    unsigned *nowhere = (unsigned *)(unsigned long)(sum & 8);
    *(volatile unsigned *)nowhere = sum;
    sum++;
    return (int)sum;
}
