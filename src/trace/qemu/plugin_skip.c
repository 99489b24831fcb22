/* What a thread executes while nothing is captured: counted by itself, and told to all threads now
 * and then, so that they skip what is to be skipped together. */
#include "trace/qemu/plugin_thread.h"

#include <errno.h>

enum { PAUSE_INSNS = 1 << 20 /* after which threads look whether a pause is over */ };

int64_t skip_report(void) {
    int64_t more = (int64_t)(self.insns_before - self.skipped);
    self.skipped = self.insns_before;
    return atomic_fetch_sub(&plugin.control->skip, more) - more;
}

/* False: the pause ends with the current thread. */
static bool stay_paused(void) {
    struct ring_control *control = plugin.control;
    plugin_follow_phase();
    bool ends_it = self.numbered && self.number == atomic_load(&control->paused_thread);
    self.skip_until =
        ends_it ? atomic_load(&control->paused_until) : self.insns_before + PAUSE_INSNS;
    return self.skip_until > self.insns_before;
}

/* False: all threads together have skipped what was to be skipped. One thread skips exactly that
 * much; several may have executed a little more: each what it did since it last reported. */
static bool skip_more(void) {
    int64_t left = skip_report();
    if (plugin.control->awaited) {
        self.skip_until = self.insns_before + PAUSE_INSNS;
        plugin_follow_phase();
        return true;
    }
    self.skip_until = self.insns_before + thread_share(left);
    return left > 0;
}

void skip_look(unsigned vcpu) {
    int saved = errno;
    uint32_t number, phase = atomic_load(&plugin.phase);
    if (plugin.control->target_count)
        thread_number(vcpu, &number); /* in the order of the run, wherever capture begins */
    if (!(ring_activity(phase) == RING_PAUSE ? stay_paused() : skip_more())) {
        atomic_compare_exchange_strong(&plugin.control->phase, &phase, phase + 1);
        plugin_follow_phase();
    }
    errno = saved;
}

void thread_skip(unsigned vcpu, uint32_t insn_count) {
    self.insns_before += insn_count;
    if (__builtin_expect(self.insns_before >= self.skip_until, 0))
        skip_look(vcpu);
}

void thread_skip_rep(unsigned vcpu, const struct rep_block *block) {
    self.rep_continues = block->insn_count == 1 && rep_runs_skipped(block->address);
    if (self.rep_continues)
        return; /* the next element of the same instruction */
    thread_skip(vcpu, block->insn_count);
    rep_skipped(&self, block->address);
}

/* The call before has reported what was skipped and given back what was taken of a limit. */
struct thread_unused thread_before_exec(void) {
    return plugin.counting ? count_before_exec() : (struct thread_unused){0};
}

void thread_exec_failed(const struct thread_unused *unused) {
    atomic_fetch_sub(&plugin.control->skip, unused->skip);
    atomic_fetch_sub(&plugin.control->left, unused->left);
}
