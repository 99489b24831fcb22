/* Any bytes as a list of regions. What is read keeps its promises, and comes back the same when it
 * is written. */
#include <math.h>
#include <string.h>

#include "input.h"
#include "region/regions.h"

static void check_marker(const struct region_list *list, const struct region_marker *marker) {
    require(marker->image == MARKER_NO_IMAGE || marker->image < list->image_count);
}

static void check_list(const struct region_list *list) {
    double sum = 0;
    require(list->command && list->method && list->region_count > 0);
    for (size_t i = 0; i < list->region_count; i++) {
        const struct region *region = &list->regions[i];
        require(region->id > (i ? region[-1].id : 0) && region->instructions > 0);
        require(region->slice < list->slice_count && region->trace_start <= region->trace_end);
        check_marker(list, &region->start);
        check_marker(list, &region->end);
        sum += region->weight;
    }
    require(fabs(sum - 1) <= 0.01);
}

static char *printed(const struct region_list *list, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    require(out != NULL);
    region_list_print(list, out);
    fclose(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct region_list list, again;
    struct memory_file file = memory_file(data, size);
    if (region_list_read(&list, file.path, &error)) {
        check_list(&list);
        size_t first_size, second_size;
        char *first = printed(&list, &first_size);
        FILE *out = fopen(file.path, "we");
        require(out != NULL);
        region_list_print(&list, out);
        require(fclose(out) == 0);
        require(region_list_read(&again, file.path, &error));
        char *second = printed(&again, &second_size);
        require(first_size == second_size && memcmp(first, second, first_size) == 0);
        free(first);
        free(second);
        region_list_free(&again);
    } else
        require(error.message[0] && !strchr(error.message, '\n'));
    region_list_free(&list);
    close(file.fd);
    return 0;
}
