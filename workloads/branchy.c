/* branchy [ELEMENTS] [SEARCHES]: sort and binary search, ruled by branches that depend on data.
 *
 * Quicksort of random numbers, then binary searches for random ones. Nearly every comparison is a
 * coin toss: the time is mispredicted branches (FL-MB), and each comparison's load feeds one. */
#include "workload.h"

enum { INSERTION = 16 };

kernel void insertion_sort(int32_t *items, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        int32_t item = items[i];
        int64_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Hoare's partition around the middle item. */
kernel int64_t partition(int32_t *items, int64_t count) {
    int32_t pivot = items[count / 2];
    int64_t low = -1, high = count;
    for (;;) {
        do
            low++;
        while (items[low] < pivot);
        do
            high--;
        while (items[high] > pivot);
        if (low >= high)
            return high + 1;
        int32_t swapped = items[low];
        items[low] = items[high];
        items[high] = swapped;
    }
}

kernel void quicksort(int32_t *items, int64_t count) {
    while (count > INSERTION) {
        int64_t middle = partition(items, count);
        DIVIDE_IF(count >= 1024 && count < 4096);
        if (middle == count) /* the pivot was the only greatest, at the end */
            middle--;
        quicksort(items, middle);
        items += middle;
        count -= middle;
    }
    insertion_sort(items, count);
}

kernel int64_t search(const int32_t *items, int64_t count, int32_t wanted) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (items[middle] == wanted)
            return middle;
        if (items[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int main(int count, char **arguments) {
    int64_t size = (int64_t)argument(count, arguments, 1, 400000, "elements to sort");
    uint64_t searches = argument(count, arguments, 2, 500000, "searches");
    int32_t *items = allocate((uint64_t)size, sizeof *items);
    uint64_t seed = 123456789;
    for (int64_t i = 0; i < size; i++)
        items[i] = (int32_t)(random_next(&seed) >> 33);
    quicksort(items, size);
    uint64_t sum = 0;
    for (int64_t i = 1; i < size; i++)
        sum += items[i - 1] <= items[i];
    if (sum != (uint64_t)size - 1) {
        fprintf(stderr, "branchy: not sorted\n");
        return 1;
    }
    for (uint64_t i = 0; i < searches; i++) {
        sum += (uint64_t)search(items, size, (int32_t)(random_next(&seed) >> 33));
        DIVIDE_IF(i % 1024 == 0);
    }
    printf("branchy %" PRIu64 "\n", sum);
    free(items);
    return 0;
}
