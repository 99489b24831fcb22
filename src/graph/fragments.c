/* A fragment is a block of memory of `length` µops; blocks of fragments that were given up are used
 * again. A piece's number is its position in its core's graph plus the core's number, so that the
 * first pieces of many short threads are thinned out as well. */
#include "graph/fragments.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

struct stream {
    struct graph_fragments *fragments;
    struct stream *next;
    uint64_t piece;      /* number of the present one */
    uint32_t at;         /* µops of it so far */
    struct block *block; /* where it is kept; NULL: it is not kept */
};

struct block {
    uint64_t piece;
    struct stream *stream; /* the one that fills it; NULL: none does any more */
    uint32_t count;
    struct graph_uop *uops;
};

struct graph_fragments {
    uint32_t length, room; /* µops of a piece; blocks */
    uint64_t distance, seen;
    struct stream *streams;
    uint32_t stream_count;
    uint32_t used, made;    /* blocks[0 .. used-1] are fragments, those up to `made` have memory */
    struct block *blocks[]; /* pointers: streams hold on to theirs */
};

struct graph_fragments *graph_fragments_new(uint32_t length, uint32_t most) {
    uint32_t room = most / length;
    struct graph_fragments *fragments =
        calloc(1, sizeof *fragments + room * sizeof *fragments->blocks);
    if (fragments) {
        fragments->length = length;
        fragments->room = room;
        fragments->distance = 1;
    }
    return fragments;
}

void graph_fragments_free(struct graph_fragments *fragments) {
    if (!fragments)
        return;
    for (uint32_t i = 0; i < fragments->made; i++) {
        free(fragments->blocks[i]->uops);
        free(fragments->blocks[i]);
    }
    for (struct stream *stream = fragments->streams, *next; stream; stream = next) {
        next = stream->next;
        free(stream);
    }
    free(fragments);
}

static void give_up(struct graph_fragments *fragments, uint32_t number) {
    struct block *block = fragments->blocks[number];
    if (block->stream)
        block->stream->block = NULL;
    fragments->blocks[number] = fragments->blocks[--fragments->used];
    fragments->blocks[fragments->used] = block;
}

static void thin_out(struct graph_fragments *fragments) {
    fragments->distance *= 2;
    for (uint32_t i = fragments->used; i-- > 0;)
        if (fragments->blocks[i]->piece % fragments->distance)
            give_up(fragments, i);
}

static bool make_block(struct graph_fragments *fragments) {
    struct block *block = calloc(1, sizeof *block);
    if (!block || !(block->uops = malloc(fragments->length * sizeof *block->uops))) {
        free(block);
        return false;
    }
    fragments->blocks[fragments->made++] = block;
    return true;
}

static bool begin_piece(struct stream *stream, struct error *error) {
    struct graph_fragments *fragments = stream->fragments;
    while (stream->piece % fragments->distance == 0 && fragments->used == fragments->room)
        thin_out(fragments);
    if (stream->piece % fragments->distance)
        return true;
    if (fragments->used == fragments->made && !make_block(fragments))
        return error_set(error, "out of memory for %u µops of the dependence graph",
                         fragments->length);
    stream->block = fragments->blocks[fragments->used++];
    stream->block->piece = stream->piece;
    stream->block->stream = stream;
    stream->block->count = 0;
    return true;
}

static void end_piece(struct stream *stream) {
    if (stream->block)
        stream->block->stream = NULL;
    stream->block = NULL;
    stream->piece++;
    stream->at = 0;
}

static bool take(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error) {
    struct stream *stream = context;
    struct graph_fragments *fragments = stream->fragments;
    (void)lives;
    if (first && stream->at)
        end_piece(stream);
    for (uint32_t from = 0, part; from < count; from += part) {
        uint32_t room = fragments->length - stream->at;
        part = count - from < room ? count - from : room;
        if (stream->at == 0 && !begin_piece(stream, error))
            return false;
        if (stream->block) {
            memcpy(stream->block->uops + stream->at, uops + from, part * sizeof *uops);
            stream->block->count += part;
        }
        stream->at += part;
        if (stream->at == fragments->length)
            end_piece(stream);
    }
    fragments->seen += count;
    return true;
}

bool graph_fragments_sink(struct graph_fragments *fragments, struct graph_sink *sink,
                          struct error *error) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return error_set(error, "out of memory for the dependence graph");
    *stream = (struct stream){
        .fragments = fragments, .next = fragments->streams, .piece = fragments->stream_count++};
    fragments->streams = stream;
    *sink = (struct graph_sink){.take = take, .context = stream};
    return true;
}

uint32_t graph_fragments_count(const struct graph_fragments *fragments) {
    return fragments->used;
}

struct graph_fragment graph_fragments_get(const struct graph_fragments *fragments,
                                          uint32_t number) {
    const struct block *block = fragments->blocks[number];
    return (struct graph_fragment){.uops = block->uops, .count = block->count};
}

uint64_t graph_fragments_seen(const struct graph_fragments *fragments) {
    return fragments->seen;
}

uint64_t graph_fragments_kept(const struct graph_fragments *fragments) {
    return sum_over(uint64_t, i, fragments->used, fragments->blocks[i]->count);
}
