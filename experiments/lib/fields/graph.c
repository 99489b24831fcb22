/* Breadth-first search over vertices of an array; only `mark`, `first` and `count` of each count
 * for it. -DREMEDY: they have an array of their own. */
#include <stdlib.h>

enum { COUNT = 40000, DEGREE = 6, ROUNDS = 2 };

#ifdef REMEDY
struct vertex {
    int mark, first, count;
};
struct label {
    char name[48];
    double x, y;
};
struct label labels[COUNT];
#define X(i) labels[i].x
#else
struct vertex {
    int mark;
    char name[48];
    double x, y;
    int first, count;
};
#define X(i) vertices[i].x
#endif
struct vertex vertices[COUNT];
int edges[COUNT * DEGREE], queue[COUNT];

__attribute__((noinline)) static int search(struct vertex *all, int from, int mark) {
    int head = 0, tail = 0;
    queue[tail++] = from;
    all[from].mark = mark;
    while (head < tail) {
        const struct vertex *vertex = &all[queue[head++]];
        for (int i = 0; i < vertex->count; i++) {
            const int to = edges[vertex->first + i];
            if (all[to].mark == mark)
                continue;
            all[to].mark = mark;
            queue[tail++] = to;
        }
    }
    return tail;
}

int main(void) {
    unsigned long random = 5;
    int reached = 0;
    for (int i = 0; i < COUNT; i++) {
        vertices[i].first = i * DEGREE;
        vertices[i].count = DEGREE;
        X(i) = i;
        for (int k = 0; k < DEGREE; k++) {
            random = random * 6364136223846793005 + 1442695040888963407;
            edges[i * DEGREE + k] = (int)((random >> 33) % COUNT);
        }
    }
    for (int round = 1; round <= ROUNDS; round++)
        reached += search(vertices, round, round);
    return reached < 0;
}
