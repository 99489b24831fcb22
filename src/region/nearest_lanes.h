/* Included by nearest.c for each number of points that are searched for at once: WIDTH, and SEARCH,
 * the name of the function. */

typedef float SEARCH(_floats) __attribute__((vector_size(4 * WIDTH), may_alias, aligned(4)));
typedef int32_t SEARCH(_ints) __attribute__((vector_size(4 * WIDTH), may_alias, aligned(4)));

SEARCH_TARGET
static void SEARCH()(const struct nearest_query *query, struct nearest *found) {
    SEARCH(_floats) best = {0}, second;
    SEARCH(_ints) where = {0};
    best += FLT_MAX;
    second = best;
    const float *centroid = query->centroids;
    for (int32_t cluster = 0; cluster < (int32_t)query->count; cluster++) {
        SEARCH(_floats) sum = {0};
        for (uint32_t i = 0; i < query->dimensions; i++) {
            SEARCH(_floats)
            difference = *(const SEARCH(_floats) *)(query->points + i * WIDTH) - centroid[i];
            sum += difference * difference;
        }
        centroid += query->stride;
        SEARCH(_ints) nearer = sum < best;
        SEARCH(_ints) worse = ((SEARCH(_ints))best & nearer) | ((SEARCH(_ints))sum & ~nearer);
        SEARCH(_ints) between = (SEARCH(_floats))worse < second;
        second = (SEARCH(_floats))((worse & between) | ((SEARCH(_ints))second & ~between));
        best = (SEARCH(_floats))(((SEARCH(_ints))sum & nearer) | ((SEARCH(_ints))best & ~nearer));
        where = (cluster & nearer) | (where & ~nearer);
    }
    *(SEARCH(_ints) *)found->labels = where;
    *(SEARCH(_floats) *)found->nearest2 = best;
    *(SEARCH(_floats) *)found->other2 = second;
}
