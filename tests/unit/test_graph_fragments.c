/* Fragments of the graph: which pieces of it are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/fragments.h"

/* µops from .. to − 1, numbered by their static instruction, three at a time. */
static void pour(const struct graph_sink *sink, uint32_t from, uint32_t to, bool first) {
    struct error error = {0};
    while (from < to) {
        struct graph_uop uops[3];
        uint32_t count = to - from < 3 ? to - from : 3;
        for (uint32_t i = 0; i < count; i++)
            uops[i] = (struct graph_uop){.insn = from + i};
        assert_true(sink->take(sink->context, uops, NULL, count, first, &error));
        from += count;
        first = false;
    }
}

/* First µops of the fragments, which may be in any order: a bit for every fourth µop; checks that
 * what follows is in order. */
static uint64_t kept_pieces(const struct graph_fragments *fragments) {
    uint64_t kept = 0;
    for (uint32_t i = 0; i < graph_fragments_count(fragments); i++) {
        struct graph_fragment fragment = graph_fragments_get(fragments, i);
        assert_true(fragment.count >= 1 && fragment.count <= 4);
        for (uint32_t k = 1; k < fragment.count; k++)
            assert_int_equal(fragment.uops[k].insn, fragment.uops[0].insn + k);
        assert_int_equal(fragment.uops[0].insn % 4, 0);
        kept |= UINT64_C(1) << (fragment.uops[0].insn / 4);
    }
    return kept;
}

/* Pieces of 4 µops, room for 4 of them. 16 µops: all are kept. The 17th begins piece 4: every
 * second is given up, 0, 2 and 4 are left; then comes 6, and the next that would be kept, 8, leaves
 * 0, 4 and 8 of every fourth. */
static void fragments_are_thinned_out_evenly(void **state) {
    (void)state;
    struct error error = {0};
    struct graph_sink sink;
    struct graph_fragments *fragments = graph_fragments_new(4, 16);
    assert_non_null(fragments);
    assert_true(graph_fragments_sink(fragments, &sink, &error));
    pour(&sink, 0, 16, true);
    assert_int_equal(kept_pieces(fragments), 0xf);
    assert_int_equal(graph_fragments_kept(fragments), 16);
    pour(&sink, 16, 17, false);
    assert_int_equal(kept_pieces(fragments), 1 << 0 | 1 << 2 | 1 << 4);
    assert_int_equal(graph_fragments_kept(fragments), 4 + 4 + 1);
    pour(&sink, 17, 32, false);
    assert_int_equal(kept_pieces(fragments), 1 << 0 | 1 << 2 | 1 << 4 | 1 << 6);
    pour(&sink, 32, 200, false);
    /* 50 pieces: 0, 16, 32, 48 at a distance of 16 */
    assert_int_equal(kept_pieces(fragments),
                     UINT64_C(1) | UINT64_C(1) << 16 | UINT64_C(1) << 32 | UINT64_C(1) << 48);
    assert_int_equal(graph_fragments_seen(fragments), 200);
    graph_fragments_free(fragments);
}

/* Where the graph begins anew a fragment ends: 6 µops are 4 and 2, whatever follows. */
static void fragments_end_where_the_graph_does(void **state) {
    (void)state;
    struct error error = {0};
    struct graph_sink sink;
    struct graph_fragments *fragments = graph_fragments_new(4, 40);
    assert_true(graph_fragments_sink(fragments, &sink, &error));
    pour(&sink, 0, 6, true);
    pour(&sink, 100, 101, true);
    pour(&sink, 200, 204, true);
    pour(&sink, 300, 304, true);
    const uint32_t begins[] = {0, 4, 100, 200, 300}, counts[] = {4, 2, 1, 4, 4};
    assert_int_equal(graph_fragments_count(fragments), 5);
    for (uint32_t i = 0; i < 5; i++) {
        struct graph_fragment fragment = graph_fragments_get(fragments, i);
        assert_int_equal(fragment.uops[0].insn, begins[i]);
        assert_int_equal(fragment.count, counts[i]);
    }
    graph_fragments_free(fragments);
}

/* A thousand short threads do not need more room than one long; and what is kept does not depend on
 * how they take turns. */
static void fragments_of_many_threads(void **state) {
    (void)state;
    enum { THREADS = 1000 };
    uint32_t kept[2][4], counts[2];
    for (int turn = 0; turn < 2; turn++) {
        struct error error = {0};
        static struct graph_sink sinks[THREADS];
        struct graph_fragments *fragments = graph_fragments_new(4, 16);
        for (uint32_t i = 0; i < THREADS; i++)
            assert_true(graph_fragments_sink(fragments, &sinks[i], &error));
        if (turn)
            for (uint32_t k = 0; k < 8; k += 2)
                for (uint32_t i = THREADS; i-- > 0;)
                    pour(&sinks[i], 8 * i + k, 8 * i + k + 2, k == 0);
        else
            for (uint32_t i = 0; i < THREADS; i++)
                pour(&sinks[i], 8 * i, 8 * i + 8, true);
        counts[turn] = graph_fragments_count(fragments);
        assert_true(counts[turn] >= 2 && counts[turn] <= 4);
        for (uint32_t i = 0; i < counts[turn]; i++) {
            kept[turn][i] = graph_fragments_get(fragments, i).uops[0].insn;
            for (uint32_t k = i; k > 0 && kept[turn][k] < kept[turn][k - 1]; k--) {
                uint32_t swapped = kept[turn][k];
                kept[turn][k] = kept[turn][k - 1];
                kept[turn][k - 1] = swapped;
            }
        }
        graph_fragments_free(fragments);
    }
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(kept[0], kept[1], counts[0] * sizeof kept[0][0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_are_thinned_out_evenly),
        cmocka_unit_test(fragments_end_where_the_graph_does),
        cmocka_unit_test(fragments_of_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
