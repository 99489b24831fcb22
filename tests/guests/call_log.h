/* A program's own log of its calls: compiled with -finstrument-functions it keeps a tree of them,
 * and prints it when main is done, a line for each chain of callers: addresses and how often it was
 * entered. What leaves functions otherwise than by returning says so:
 *
 *     struct log_node *here = log_now;
 *     if (setjmp(buffer)) log_now = here; */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
#define UNLOGGED __attribute__((no_instrument_function))

struct log_node {
    void *function;
    struct log_node *parent, *child, *next;
    unsigned long entered;
};
static struct log_node log_root, *log_now = &log_root;

UNLOGGED void __cyg_profile_func_enter(void *function, void *site);
UNLOGGED void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site) {
    struct log_node *node = log_now->child;
    (void)site;
    while (node && node->function != function)
        node = node->next;
    if (!node) {
        node = (struct log_node *)calloc(1, sizeof *node);
        node->function = function;
        node->parent = log_now;
        node->next = log_now->child;
        log_now->child = node;
    }
    node->entered++;
    log_now = node;
}

void __cyg_profile_func_exit(void *function, void *site) {
    (void)function, (void)site;
    log_now = log_now->parent;
}

UNLOGGED static void log_chain(const struct log_node *node) {
    if (node->parent != &log_root) {
        log_chain(node->parent);
        putchar(';');
    }
    printf("%lx", (unsigned long)node->function);
}

UNLOGGED static void log_print(const struct log_node *node) {
    for (const struct log_node *child = node->child; child; child = child->next) {
        log_chain(child);
        printf(" %lu\n", child->entered);
        log_print(child);
    }
}

UNLOGGED __attribute__((destructor)) static void log_end(void) {
    log_print(&log_root);
}
#ifdef __cplusplus
}
#endif
