/* barrier [uneven|even] [THREADS] [PHASES]: rows are computed from those of the phase before.
 *
 * After each phase the threads wait for each other. Row r takes 32 (r + 1) rounds:
 *
 * uneven  thread t has the t-th block of rows: the last one has the longest, of two threads three
 *         quarters of the work, and the others wait for it
 * even    rows are dealt out by turns: the remedy */
#include "threaded.h"

static const char *const VARIANTS[] = {"uneven", "even", NULL};
enum { UNEVEN, EVEN, ROWS = 128, ROUNDS = 32 };

struct row {
    uint64_t value;
} __attribute__((aligned(LINE))); /* what one thread writes shares no line with another's */
static struct row rows[2][ROWS];
static pthread_barrier_t phase_ends;
static uint64_t phases;
static int chosen;

kernel uint64_t next_value(const struct row *old, uint64_t row) {
    return work_on(old[row].value + old[(row + 1) % ROWS].value, ROUNDS * (row + 1));
}

kernel void compute_phase(const struct row *old, struct row *new, const struct part *part) {
    if (chosen == UNEVEN)
        for (uint64_t row = part->begin; row < part->end; row++)
            new[row].value = next_value(old, row);
    else
        for (uint64_t row = part->number; row < ROWS; row += part->threads)
            new[row].value = next_value(old, row);
}

static void compute_part(const struct part *part) {
    for (uint64_t phase = 0; phase < phases; phase++) {
        compute_phase(rows[phase % 2], rows[(phase + 1) % 2], part);
        pthread_barrier_wait(&phase_ends);
    }
}

int main(int count, char **arguments) {
    chosen = variant(count, arguments, VARIANTS);
    const uint64_t threads = thread_count(count, arguments);
    phases = argument(count, arguments, 3, 4, "phases");
    for (uint64_t row = 0; row < ROWS; row++)
        rows[0][row].value = scatter(row);
    pthread_barrier_init(&phase_ends, NULL, (unsigned)threads);
    run_parts(threads, ROWS, compute_part);
    uint64_t sum = 0;
    for (uint64_t row = 0; row < ROWS; row++)
        sum += rows[phases % 2][row].value >> 8;
    printf("barrier %" PRIu64 "\n", sum);
    return 0;
}
