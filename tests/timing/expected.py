"""What each kernel of x86_64.S and riscv64.S takes per iteration, worked by hand.

A test holds a formula over the machine's figures (`m`, see run.py: what `culprit machines show`
says, with the test's settings), so it stands when a machine file changes. Figures in the comments
are those of boom-tea, and after a slash those of zen4. Unless a test says otherwise, branches are
predicted right, instruction fetch and address translation always hit, and nothing is prefetched.

The pipeline, for the hand: what is fetched in cycle F is dispatched in F + frontend_depth (6/8),
issues dispatch_to_issue (1) later if its operands are there, completes after its latency and
commits complete_to_commit (3/1) after that. A taken branch ends its packet and costs taken_bubble
(1/0) more: m.taken is the sum (2/1). What commit frees serves dispatch in the same cycle. zen4
fuses the `sub; jnz` that ends each loop into one µop, boom-tea does not."""
from fractions import Fraction
from types import SimpleNamespace

TESTS = []
BOOM_X86 = [("x86_64", "boom-tea")]
BOOM_RISCV = [("riscv64", "boom-tea")]
BOOM = BOOM_X86 + BOOM_RISCV
ZEN = [("x86_64", "zen4")]
X86 = BOOM_X86 + ZEN
ALL = BOOM + ZEN


def test(name, kernel, on, cycles, settings="", iterations=(64, 128), counts=None):
    """cycles(m): per iteration, exactly. counts(statistics, n): what must hold besides of the
    counts of a run of n iterations."""
    for isa, machine in on:
        TESTS.append(SimpleNamespace(name=name, kernel=kernel, isa=isa, machine=machine,
                                     cycles=cycles, settings=settings.split(),
                                     iterations=iterations, counts=counts))


# ---- latency: chains, each operation waits for the one before

# 64 adds of one cycle. With a wakeup loop of two cycles, 128.
test("a chain of adds", "dependent_adds", ALL, lambda m: 64 * m.latency["int_alu"])
test("a chain of adds, wakeup of 2 cycles", "dependent_adds", ALL, lambda m: 64 * 2,
     "core.issue_wakeup=2")
# 16 × 3, 8 × 34/14.
test("a chain of multiplies", "dependent_multiplies", ALL, lambda m: 16 * m.latency["int_mul"])
test("a chain of divides", "dependent_divides", ALL, lambda m: 8 * m.latency["int_div"])
# 16 × 4/3, and 16 × 4 fused; 4 × 21/13; 4 × 29/21.
test("a chain of fp adds", "fp_adds", ALL, lambda m: 16 * m.latency["fp_add"])
test("a chain of fp multiplies", "fp_multiplies", ALL, lambda m: 16 * m.latency["fp_mul"])
test("a chain of fused multiply-adds", "fp_fused", ALL, lambda m: 16 * m.latency["fp_fma"])
test("a chain of fp divides", "fp_divides", ALL, lambda m: 4 * m.latency["fp_div"])
test("a chain of square roots", "fp_roots", ALL, lambda m: 4 * m.latency["fp_sqrt"])
# 16 copies and 16 adds in one chain: rename takes the copies away on zen4.
test("copies in a chain", "moves", ALL,
     lambda m: 16 * m.latency["int_alu"] * (1 if m.core.eliminate_moves == "yes" else 2))

# ---- throughput: nothing waits but for a place

# boom-tea: 64 instructions of 4 bytes, 62 adds and the loop's two, are 16 aligned blocks of 16
# bytes: one packet a cycle, one bubble: 17. Dispatch, issue and commit could do it in 16; without
# the bubble they do.
test("independent adds", "independent_adds", BOOM,
     lambda m: 16 + m.branch.taken_bubble)
test("independent adds, as wide as the core", "independent_adds", BOOM,
     lambda m: Fraction(64, m.core.dispatch_width), "branch.taken_bubble=0")
# zen4: 62 adds on 4 ALUs, 15.5 cycles; the fused branch has units of its own.
test("independent adds, limited by ALUs", "independent_adds", ZEN,
     lambda m: Fraction(62, m.units["int_alu"]))
# All 64 µops of the loop need an ALU: two of them take 32 cycles.
test("independent adds on two ALUs", "independent_adds", BOOM, lambda m: 64 // 2,
     "pool.alu.units=2")
# zen4: 59 no-ops need no unit; with the fused branch 60 µops, 6 dispatched a cycle: 10.
test("no-ops, as wide as the core", "width", ZEN, lambda m: Fraction(60, m.core.dispatch_width))
# zen4: 20 comparisons with what they load and 39 no-ops; the 20 loads are one with them: 60 places.
# By themselves they make 80 µops.
test("loads that are operands", "operands", ZEN, lambda m: Fraction(60, m.core.dispatch_width))
test("loads that are operands, as two", "operands", ZEN,
     lambda m: Fraction(80, m.core.dispatch_width), "core.fuse_loads=no",
     iterations=(66, 132))
# zen4: 16 branches on 2 branch units: 8. The loop's branch is the youngest, so it goes last, and all
# of the next iteration wait for its flags: 1.
test("branches that are not taken", "never_taken", ZEN,
     lambda m: Fraction(16, m.units["branch"]) + m.latency["branch"])
# 16 multiplies on one pipelined multiplier: 16. 8 divides, one each 34/8 cycles.
test("independent multiplies", "independent_multiplies", ALL,
     lambda m: Fraction(16, m.units["int_mul"]))
test("independent divides", "independent_divides", ALL, lambda m: 8 * m.interval["int_div"])
# 16 on 2 units: 8. 4 × 21/5; 4 × 29/9.
test("independent fp adds", "independent_fp_adds", ALL, lambda m: Fraction(16, m.units["fp_add"]))
test("independent fp divides", "independent_fp_divides", ALL, lambda m: 4 * m.interval["fp_div"])
test("independent square roots", "independent_fp_roots", ALL,
     lambda m: 4 * m.interval["fp_sqrt"])
# 48 loads on 2/3 ports: 24/16. 16 stores into the cache, 1/2 a cycle: 16/8.
test("independent loads", "independent_loads", ALL, lambda m: Fraction(48, m.units["load"]))
test("stores", "stores", ALL, lambda m: Fraction(16, m.core.store_drain))
# 16 zero idioms, xor eax, eax, and the loop's two on one ALU: 18; where rename takes them away, 17
# µops (the branch is fused) are dispatched 6 a cycle.
test("zero idioms that take an ALU", "zero_idioms", BOOM_X86, lambda m: 18, "pool.alu.units=1")
test("zero idioms that rename takes away", "zero_idioms", ZEN,
     lambda m: Fraction(17, m.core.dispatch_width), "pool.alu.units=1", iterations=(66, 132))
# 64 additions of a constant, in a chain, and 62 lea that are such: where rename does them they wait
# for nothing, and 65 and 63 µops are dispatched 6 a cycle. The loop's own, sub, is in the branch.
test("a chain of adds that rename takes away", "dependent_adds", ZEN,
     lambda m: Fraction(65, m.core.dispatch_width), "core.eliminate_additions=yes pool.alu.units=1",
     iterations=(66, 132))
test("adds of an address that rename takes away", "independent_adds", ZEN,
     lambda m: Fraction(63, m.core.dispatch_width), "core.eliminate_additions=yes pool.alu.units=1",
     iterations=(66, 132))

# ---- the memory hierarchy

# Address generation and the L1: 16 × (1 + 3).
test("a chain of loads that hit the L1", "load_chain", ALL,
     lambda m: 16 * (m.latency["load"] + m.l1d.latency))
# A ring of 256 lines in order through an LRU cache that holds less misses each time: 1 + 44/13.
test("a chain of loads that hit the next level", "ring_chain", ALL, lambda m: m.next_hit,
     "l1d.size=4K", iterations=(512, 1024))
test("a chain of loads that hit the L2", "ring_chain", [("x86_64", "boom-tip")],
     lambda m: m.latency["load"] + m.l2.latency, "l1d.size=4K", iterations=(512, 1024))
test("a chain of loads that hit the LLC behind an L2", "ring_chain",
     [("riscv64", "boom-tip"), ("x86_64", "zen4")],
     lambda m: m.latency["load"] + m.llc.latency, "l1d.size=4K l2.size=8K", iterations=(512, 1024))
# DRAM of a fixed latency of 100: 1 + 44/47 + 100.
FIXED = "dram.banked=no dram.latency=100 dram.bandwidth=0 l1d.size=4K l2.size=0 llc.size=8K"
test("a chain of loads that miss the LLC", "ring_chain", ALL, lambda m: m.dram_load,
     FIXED, iterations=(512, 1024))
# Banks: the ring lies in two rows of two banks, which stay open. 1 + 44/47, tCL (14 clocks of 1 GHz
# are 45 core cycles; 40 of 2.6 GHz 77), the line over the bus (64 B at 16 GB/s: 13; at 83.2: 4),
# and what lies between (50/150).
test("a chain of loads that find their row open", "ring_chain", ALL,
     lambda m: m.latency["load"] + m.llc.latency + m.dram_cycles(m.dram.tcl) + m.transfer_up
     + m.dram.base_latency, "l1d.size=4K l2.size=0 llc.size=8K", iterations=(512, 1024))
# Two lines in two rows of one bank, and in one set of caches of one way: each access closes the
# other's row. As above, tRP and tRCD more.
test("a chain of loads that find another row open", "row_chain", ALL,
     lambda m: m.latency["load"] + m.llc.latency
     + m.dram_cycles(m.dram.trp + m.dram.trcd + m.dram.tcl) + m.transfer_up + m.dram.base_latency,
     "l1d.size=1K l1d.ways=1 l2.size=0 llc.size=1K llc.ways=1", iterations=(256, 512))
# 64 independent misses, 4 at a time: an L1 MSHR is held for 44 + 100. (With a longer load queue the
# next iteration's loads would come before the 16 lines that the cache holds have been replaced.)
TINY = FIXED + " l1d.size=1K l1d.ways=1 llc.size=1K llc.ways=1"
test("independent misses on 4 MSHRs", "line_loads", ALL,
     lambda m: Fraction(64 * (m.llc.latency + m.dram.latency), 4),
     TINY + " l1d.mshrs=4 core.load_queue=16")
# An MSHR of the last level is held from when it knows that it misses: for 100. Two of them.
test("independent misses on 2 MSHRs of the LLC", "line_loads", ALL,
     lambda m: Fraction(64 * m.dram.latency, 2), TINY + " l1d.mshrs=0 llc.mshrs=2")
# A line each 12.8/3.846 cycles. Iterations that the fraction divides.
WIDE = "l1d.mshrs=0 llc.mshrs=0 l1d.size=1K l1d.ways=1 l2.size=0 llc.size=1K llc.ways=1"
test("DRAM bandwidth", "line_loads", ALL, lambda m: 64 * m.transfer,
     WIDE + " dram.banked=no dram.latency=100", iterations=(65, 195))
test("DRAM bandwidth, one open row", "line_loads", ALL, lambda m: 64 * m.transfer,
     WIDE, iterations=(65, 195))
# Two loads of one line at once, the first misses, the second is a pending hit: it needs no MSHR of
# its own (there is one) and is ready with the line: 1 + 44/13 for both.
test("a pending hit", "pending", ALL, lambda m: m.next_hit, "l1d.size=4K l1d.mshrs=1",
     iterations=(512, 1024), counts=lambda s, n: s["l1d"]["pending_hits"] >= n - 1)
# Eight pages in turn, four translations: 4/7 for the second TLB, or 60/30 to walk.
test("first-level TLB misses", "page_chain", ALL,
     lambda m: m.latency["load"] + m.l2tlb.latency + m.l1d.latency, "dtlb.entries=4")
test("page walks", "page_chain", ALL,
     lambda m: m.latency["load"] + m.tlb.page_walk + m.l1d.latency,
     "dtlb.entries=4 l2tlb.entries=0 l2tlb.latency=0 l2tlb.ways=1",
     counts=lambda s, n: s["page_walks"] >= n)

# ---- stores and loads

# The load waits for the store's data, which is there when the load before completes; its address is
# known by then. 8 × 3/6.
test("store to load forwarding", "forwarding", ALL, lambda m: 8 * m.core.store_forward,
     counts=lambda s, n: s["forwarded_loads"] >= 8 * n)
# A store of one byte does not cover the load of eight. Its data is there, and it is complete, in
# cycle T; it commits in T + 3/1 and is in the cache in the next cycle, in which the load issues:
# 8 × (3 + 1 + 4), 8 × (1 + 1 + 4).
test("a load that a store covers in part", "partial_forwarding", ALL,
     lambda m: 8 * (m.core.complete_to_commit + 1 + m.latency["load"] + m.l1d.latency))
# The multiply that gives the store's address is fetched in F, issues in F + 7; the store F + 10. The
# load, of the same packet, has read the cache in F + 7. The store's address is known in F + 11, it
# commits in F + 14; in F + 15, at the head, the load flushes itself and all behind it, to be
# fetched 2 later, F + 17. It is fetched with the decrement, the branch in the packet after; F + 20
# is the next iteration's F.
test("an ordering violation each time", "ordering", BOOM,
     lambda m: m.core.frontend_depth + m.core.dispatch_to_issue + m.latency["int_mul"]
     + m.latency["store"] + m.core.complete_to_commit + 1 + m.core.violation_penalty
     + 1 + m.taken, counts=lambda s, n: s["ordering_violations"] == n)
# zen4 predicts, for a while (16K to 32K cycles), that a load waits that was caught once: it
# forwards. How often it is caught again depends on the clock, hence a bound.
test("an ordering violation, learnt", "ordering", ZEN, lambda m: None,
     counts=lambda s, n: 1 <= s["ordering_violations"] <= 3)

# ---- fetch and branches

# An xor and an indirect jump, which always goes where it did not go last, are fetched in F. The jump
# issues in F + 6 + 1 + 1, has executed in F + 9, and the right path is fetched in F + 13: one packet
# with the loop's branch. F + 15 is the next F. zen4: 8 + 1 + 1 + 1 + 3 + 1. Its history would learn
# to alternate, so it is taken away.
test("a mispredicted indirect jump", "indirect", ALL,
     lambda m: m.core.frontend_depth + m.core.dispatch_to_issue + m.latency["int_alu"]
     + m.latency["branch"] + m.core.redirect + m.taken,
     "branch.direction=bimodal branch.indirect_entries=0",
     counts=lambda s, n: s["branches"]["indirect_mispredicted"] >= n - 1)


def eighth_wrong(m):
    turns = 7 * m.taken  # fetch of the eighth turn's branch
    # It executes when it has come through the front end, or when the count has come down to it:
    # the constant, then eight times (boom-tea's two µops overlap with those of the next turn).
    front = turns + m.core.frontend_depth + m.core.dispatch_to_issue + m.count_down
    chain = (m.core.frontend_depth + m.core.dispatch_to_issue + m.latency["int_alu"]
             + 7 * (m.latency["branch"] if m.fuses else m.latency["int_alu"]) + m.count_down)
    return max(front, chain) + m.core.redirect + m.taken


# An inner loop of eight turns; two-bit counters mispredict its end, one branch in nine. A turn is
# fetched each 2/1 cycles, so the last in F + 14; it dispatches in F + 20, the decrement issues in
# F + 21, the branch has executed in F + 23; F + 27 fetches the outer loop's branch, F + 29 is the
# next F. zen4: the constant issues in F + 9, the turns from F + 10 to F + 17; F + 18, F + 21, F + 22.
test("a branch mispredicted once in nine", "inner_loop", ALL, eighth_wrong,
     "branch.direction=bimodal",
     counts=lambda s, n: n <= s["branches"]["conditional_mispredicted"] <= n + 4)
# Call, return and loop are three packets, each ended by a taken branch: 3 × 2/1. The return stack
# predicts the return.
test("call and return", "call_return", ALL, lambda m: 3 * m.taken, "branch.direction=bimodal",
     iterations=(256, 512),
     counts=lambda s, n: s["branches"]["returns_mispredicted"] == 0)


def outer_return_wrong(m, load):
    return (3 * m.taken + m.core.frontend_depth + m.core.dispatch_to_issue + load
            + m.latency["branch"] + m.core.redirect + m.taken)


# Two calls deep, a return stack of one: the inner return is right, the outer one, fetched in F + 6,
# wrong. It issues in F + 13, has executed in F + 14, F + 18 fetches the loop's branch: 20. On x86-64
# the return loads its target, 4 cycles more, out of the cache or of the call's store.
test("a return stack that is too short", "nested_return", BOOM_RISCV,
     lambda m: outer_return_wrong(m, 0), "branch.direction=bimodal branch.ras_entries=1",
     counts=lambda s, n: s["branches"]["returns_mispredicted"] == n)
test("a return stack that is too short", "nested_return", BOOM_X86,
     lambda m: outer_return_wrong(m, m.latency["load"] + m.core.store_forward),
     "branch.direction=bimodal branch.ras_entries=1 core.store_forward=3 l1d.latency=3",
     counts=lambda s, n: s["branches"]["returns_mispredicted"] == n)
# 8 KB of code through an instruction cache of 4 KB: each of the 128 lines waits for the next level,
# 44/13 less the cycle of a hit, and is fetched in 4/2 packets. The loop's branch ends it.
test("instruction cache misses", "big_code", ALL,
     lambda m: 128 * (m.next_hit - m.latency["load"] - m.l1i.latency + m.packets_of_line)
     + m.branch.taken_bubble, "l1i.size=4K", iterations=(8, 16))

# ---- the window, and what empties it

# 192 instructions with two misses, the second in the middle: the window holds both but not the next
# iteration's first. That enters when the first leaves (cycle 0), issues in 1, has its data after
# 145 and commits 3 later: two misses in 149 cycles. On zen4 an iteration is 191 µops, and so is its
# window made: 1 + 148 + 1.
for machines, window in (BOOM, 192), (ZEN, 191):
    test("a window that holds two misses", "window", machines,
         lambda m: m.core.dispatch_to_issue + m.dram_load + m.core.complete_to_commit,
         f"{TINY} core.rob={window}", iterations=(32, 64))
# cpuid enters an empty window (D), issues in D + 1, takes 1/20 and commits, D + 5/D + 22; only then
# do the loop's µops enter; the branch has executed 3/2 later and commits, and cpuid enters again.
test("a serialising instruction", "serialising", X86,
     lambda m: m.latency["system"] + m.count_down
     + 2 * (m.core.dispatch_to_issue + m.core.complete_to_commit))
# A locked add holds back the next one's load until it has committed (cycle 0, in which its store is
# also written). In cycle 1 the load is at the head but the store leaves its queue only then; in 2
# it issues; 6, the add; 7, the store is complete; it commits 3/1 later.
test("locked adds", "locked", X86,
     lambda m: 2 + m.latency["load"] + m.l1d.latency + m.latency["int_alu"]
     + m.core.complete_to_commit)


def flush(m, work):
    return (m.core.flush_penalty + m.core.frontend_depth + m.core.dispatch_to_issue + m.count_down
            + m.core.complete_to_commit + m.core.dispatch_to_issue + work
            + m.core.complete_to_commit)


# frflags commits (cycle 0) and flushes: the loop's branch is fetched in 2, dispatched in 8, has
# executed in 11 and commits in 14. BOOM runs a CSR instruction alone: it enters only now, issues in
# 15, takes a cycle and commits in 19. So does a fence, with no store to wait for.
for name in "flags_read", "flags_write", "fence":
    test("flush by " + name, name, BOOM_RISCV, lambda m: flush(m, m.latency["system"]),
         counts=lambda s, n: s["flushes"] >= n)
# An atomic add, likewise alone and flushing, loads (4), adds (1), and completes its store with that.
test("flush by an atomic", "atomic", BOOM_RISCV,
     lambda m: flush(m, m.latency["load"] + m.l1d.latency + m.latency["int_alu"]),
     counts=lambda s, n: s["flushes"] >= n)
