/* Threads of this process: their numbers, beginnings and ends. */
#include "trace/qemu/plugin_thread.h"

#include <string.h>

enum { VCPUS = 1 << 14 };

THREAD_LOCAL struct thread_state self;

static pthread_key_t thread_key;
static _Atomic uint32_t ordinals;
static uint32_t ordinal_of_vcpu[VCPUS]; /* written before the vCPU's thread runs */
static uint32_t number_of_vcpu[VCPUS];  /* likewise: 0, or 1 more than the thread's number */

bool thread_is_wanted(unsigned vcpu) {
    int32_t wanted = plugin.control->thread;
    return plugin.slot != NO_SLOT &&
           (wanted < 0 || (vcpu < VCPUS && (uint32_t)wanted == ordinal_of_vcpu[vcpu]));
}

uint32_t thread_ordinal(unsigned vcpu) {
    return vcpu < VCPUS ? ordinal_of_vcpu[vcpu] : UINT32_MAX;
}

void thread_keep(void) {
    pthread_setspecific(thread_key, &self);
}

void thread_give_number(unsigned vcpu) {
    uint32_t given = vcpu < VCPUS ? number_of_vcpu[vcpu] : 0;
    self.number = given ? given - 1 : atomic_fetch_add(&plugin.control->threads, 1);
    self.numbered = true;
    self.ordinal = thread_ordinal(vcpu);
    thread_keep();
}

bool thread_number(unsigned vcpu, uint32_t *number) {
    if (!self.numbered && self.state == NEW && thread_is_wanted(vcpu))
        thread_give_number(vcpu);
    *number = self.number;
    return self.numbered && self.state != DROPPED;
}

static void on_thread_end(void *unused) {
    (void)unused;
    if (plugin.counting) {
        count_thread_ended();
        return;
    }
    pthread_mutex_lock(&thread_ownership);
    if (thread_is_capturing() && self.state == CAPTURED) {
        if (self.held)
            thread_close_block();
        if (self.numbered)
            marker_thread_ends(self.ordinal, self.number);
        if (self.numbered && (self.held || chunk_take()))
            chunk_hand_over(true);
    }
    self.state = DROPPED;
    chunk_leave();
    marker_forget();
    order_thread_ended();
    poll_thread_ended();
    wait_thread_ended();
    python_thread_ended();
    pthread_mutex_unlock(&thread_ownership);
}

uint32_t thread_created(unsigned vcpu) {
    uint32_t ordinal = atomic_fetch_add(&ordinals, 1);
    if (vcpu < VCPUS) {
        /* Threads are numbered in the order in which they are made, which repeats from run to run;
         * the order in which they begin to run may not. */
        bool runs_at_once = thread_is_capturing() || plugin.control->target_count;
        ordinal_of_vcpu[vcpu] = ordinal;
        uint32_t most = atomic_load(&plugin.control->most_threads);
        while (most <= ordinal &&
               !atomic_compare_exchange_weak(&plugin.control->most_threads, &most, ordinal + 1))
            ;
        number_of_vcpu[vcpu] = runs_at_once && thread_is_wanted(vcpu)
                                   ? atomic_fetch_add(&plugin.control->threads, 1) + 1
                                   : 0;
    }
    if (ordinal > 0) {
        plugin.threaded = true;
        chunk_share();
    }
    uint32_t given = vcpu < VCPUS ? number_of_vcpu[vcpu] : 0;
    event_created(vcpu, given != 0, given - 1);
    return ordinal;
}

void thread_start(void) {
    pthread_key_create(&thread_key, on_thread_end);
}

void thread_forked(void) {
    memset(&self, 0, sizeof self);
    chunk_forked();
    atomic_store(&ordinals, 1);
    memset(ordinal_of_vcpu, 0, sizeof ordinal_of_vcpu);
    memset(number_of_vcpu, 0, sizeof number_of_vcpu);
    marker_forked();
    birth_forked();
    count_forked();
    event_forked();
    order_forked();
    poll_forked();
    channel_forked();
    python_forked();
}
