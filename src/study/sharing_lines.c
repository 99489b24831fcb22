/* Padding gives each byte of a line to the thread whose instructions write it most. */
#include "study/sharing_lines.h"

#include "util/array.h"

double sharing_false_share(const struct moved_line *line) {
    const uint64_t known = line->false_cycles + line->true_cycles;
    return known ? (double)line->false_cycles / (double)known : -1;
}

enum line_sharing sharing_of(const struct moved_line *line) {
    const double share = sharing_false_share(line);
    return share < 0                     ? SHARING_UNKNOWN
           : share >= SHARING_MOSTLY     ? SHARING_FALSE
           : share <= 1 - SHARING_MOSTLY ? SHARING_TRUE
                                         : SHARING_MIXED;
}

bool sharing_fits(const struct moved_line *line, bool copies) {
    const enum line_sharing sharing = sharing_of(line);
    return sharing != SHARING_UNKNOWN && copies == (sharing == SHARING_TRUE);
}

static void find_owners(const struct moved_line *line, uint32_t owner[REMEDY_PARTS]) {
    for (unsigned part = 0; part < REMEDY_PARTS; part++) {
        uint64_t most = 0;
        owner[part] = UINT32_MAX;
        for (size_t i = 0; i < line->thread_count; i++) {
            const uint32_t thread = line->threads[i].thread;
            const uint64_t writes =
                sum_over(uint64_t, k, line->side_count,
                         line->sides[k].thread == thread && line->sides[k].written >> part & 1
                             ? line->sides[k].writes
                             : 0);
            if (writes > most) {
                most = writes;
                owner[part] = thread;
            }
        }
    }
}

void sharing_add_line(struct line_remedies *remedies, const struct moved_line *line, bool copies) {
    struct line_remedy *item = &remedies->items[remedies->count++];
    *item =
        (struct line_remedy){.address = line->address, .process = line->process, .copies = copies};
    if (!copies)
        find_owners(line, item->owner);
}
