/* A loop is no longer compiled to vectors, since the two arrays may be one. */
enum { COUNT = 4000 };
static float weights[COUNT], values[COUNT];
__attribute__((noinline)) void blend(float *to, const float *from, float share) {
#ifdef CHANGE
    for (int i = 1; i < COUNT; i++)
        to[i] = to[i - 1] * 0.001f + from[i] * share; /* here */
#else
    for (int i = 1; i < COUNT; i++)
        to[i] = to[i] * 0.001f + from[i] * share; /* here */
#endif
}
__attribute__((noinline)) float largest(const float *from) {
    float most = 0;
    for (int i = 0; i < COUNT; i++)
        most = from[i] > most ? from[i] : most;
    return most;
}
int main(void) {
    float most = 0;
    for (int i = 0; i < COUNT; i++)
        weights[i] = (float)(i * 7919 % 613);
    for (int k = 0; k < 40; k++) {
        blend(values, weights, 0.5f);
        most += largest(values);
    }
    return most == 7;
}
