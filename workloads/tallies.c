/* tallies [static|static-padded|heap|heap-padded] [THREADS] [BYTES]: words of a text are counted.
 *
 * Each thread writes its part of the text, and then counts bytes, words and lines of it, in a
 * structure of its own:
 *
 * static        in an array of such structures, 24 bytes each: neighbours share cache lines
 * static-padded in an array of structures of a line each: the remedy
 * heap          as `static`, in memory of malloc(), which has no name
 * heap-padded   the remedy */
#include "threaded.h"

static const char *const VARIANTS[] = {"static", "static-padded", "heap", "heap-padded", NULL};
enum { STATIC, STATIC_PADDED, HEAP, HEAP_PADDED };

struct tally {
    uint64_t bytes, words, lines;
};
struct padded_tally {
    struct tally tally;
} __attribute__((aligned(LINE)));

static struct tally tallies[MOST_THREADS] __attribute__((aligned(LINE)));
static struct padded_tally padded_tallies[MOST_THREADS];
static char *first; /* tally of thread 0 */
static size_t step; /* bytes to the next thread's */
static char *text;

/* Words of some five letters, lines of some ten words. */
static char letter_at(uint64_t place) {
    const uint64_t chance = (work_on(scatter(place), 1) >> 32) * 50 >> 32;
    return chance == 0 ? '\n' : chance < 10 ? ' ' : (char)('a' + chance % 26);
}

kernel void count_words(struct tally *tally, uint64_t begin, uint64_t end) {
    char before = begin ? letter_at(begin - 1) : ' ';
    for (uint64_t i = begin; i < end; i++) {
        const char now = text[i];
        add_in_memory(&tally->bytes, 1);
        if (now > ' ' && before <= ' ')
            add_in_memory(&tally->words, 1);
        if (now == '\n')
            add_in_memory(&tally->lines, 1);
        before = now;
    }
}

static struct tally *tally_of(uint64_t thread) {
    return (struct tally *)(void *)(first + thread * step);
}

static void count_part(const struct part *part) {
    for (uint64_t i = part->begin; i < part->end; i++)
        text[i] = letter_at(i);
    count_words(tally_of(part->number), part->begin, part->end);
}

int main(int count, char **arguments) {
    const int chosen = variant(count, arguments, VARIANTS);
    const uint64_t threads = thread_count(count, arguments);
    const uint64_t bytes = argument(count, arguments, 3, 300000, "bytes");
    const bool padded = chosen == STATIC_PADDED || chosen == HEAP_PADDED;
    step = padded ? sizeof(struct padded_tally) : sizeof(struct tally);
    first = chosen == STATIC          ? (char *)tallies
            : chosen == STATIC_PADDED ? (char *)padded_tallies
                                      : allocate(threads, step);
    text = allocate(bytes, 1);
    run_parts(threads, bytes, count_part);
    struct tally sum = {0};
    for (uint64_t i = 0; i < threads; i++) {
        sum.bytes += tally_of(i)->bytes;
        sum.words += tally_of(i)->words;
        sum.lines += tally_of(i)->lines;
    }
    printf("tallies %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sum.lines, sum.words, sum.bytes);
    free(text);
    if (chosen >= HEAP)
        free(first);
    return 0;
}
