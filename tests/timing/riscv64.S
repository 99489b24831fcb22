/* One loop per kernel of expected.py, riscv64; see x86_64.S. s11 counts down. */
        .option norvc
        .option norelax
        .text
        .globl _start
_start: lui s11, %hi(iterations)
        addi s11, s11, %lo(iterations)
        li a1, 1
        la a0, word
        fcvt.d.l fa1, a1
        j kernel
done:   li a7, 93
        li a0, 0
        ecall

.macro start name
        .globl \name
        .balign 64
\name:
.endm
.macro top
        .balign 64
1:
.endm
.macro again
        addi s11, s11, -1
        bnez s11, 1b
        j done
.endm
.macro repeated name, count, text:vararg
        start \name
        top
        .rept \count
        \text
        .endr
        again
.endm

        repeated dependent_adds, 64, addi a2, a2, 1
        repeated independent_adds, 62, addi a2, a1, 1
        repeated dependent_multiplies, 16, mul a2, a2, a1
        repeated independent_multiplies, 16, mul a2, a1, a1
        repeated dependent_divides, 8, div a2, a2, a1
        repeated independent_divides, 8, div a2, a1, a1
        repeated fp_adds, 16, fadd.d fa0, fa0, fa1
        repeated independent_fp_adds, 16, fadd.d fa0, fa1, fa1
        repeated fp_multiplies, 16, fmul.d fa0, fa0, fa1
        repeated fp_fused, 16, fmadd.d fa0, fa1, fa1, fa0
        repeated fp_divides, 4, fdiv.d fa0, fa0, fa1
        repeated independent_fp_divides, 4, fdiv.d fa0, fa1, fa1
        repeated fp_roots, 4, fsqrt.d fa0, fa0
        repeated independent_fp_roots, 4, fsqrt.d fa0, fa1
        repeated load_chain, 16, ld a0, 0(a0)
        repeated independent_loads, 48, ld a2, 8(a0)
        repeated stores, 16, sd a1, 8(a0)
        repeated flags_read, 1, frflags a2
        repeated flags_write, 1, fsflags a1
        repeated fence, 1, fence
        repeated atomic, 1, amoadd.d a2, a1, (a0)

        start moves
        top
        .rept 16
        mv a2, a3
        addi a3, a2, 1
        .endr
        again

        start forwarding
        top
        .rept 8
        sd a2, 8(a0)
        ld a2, 8(a0)
        .endr
        again

        start partial_forwarding
        top
        .rept 8
        sb a2, 8(a0)
        ld a2, 8(a0)
        .endr
        again

        start ring_chain
        la a2, ring
        top
        ld a2, 0(a2)
        again

        start pending
        la a2, ring
        top
        ld a3, 8(a2)
        ld a2, 0(a2)
        again

        start page_chain
        la a2, pages
        top
        ld a2, 0(a2)
        again

        start row_chain
        la a2, rows
        li a3, 0x100000
        add a3, a2, a3
        sd a2, 0(a3)
        sd a3, 0(a2)
        top
        ld a2, 0(a2)
        again

        start line_loads                /* 64 lines, as far as offsets reach */
        la a2, ring + 2048
        top
        .set line, -2048
        .rept 64
        ld a3, line(a2)
        .set line, line + 64
        .endr
        again

        start window
        la a2, rows
        li a3, 0x100000
        add a3, a2, a3
        top
        ld a4, 0(a2)
        .rept 95
        nop
        .endr
        ld a4, 0(a3)
        .rept 93
        nop
        .endr
        again

        start big_code                  /* 8 KB; a branch back does not reach over it */
        top
        .rept 2045
        nop
        .endr
        addi s11, s11, -1
        beqz s11, 2f
        j 1b
2:      j done

        start indirect
        la a2, 2f
        la a3, 3f
        xor a3, a3, a2
        top
        xor a2, a2, a3
        jr a2
        .balign 64
2:      again
        .balign 64
3:      again

        start inner_loop
        top
        li a2, 8
        nop
4:      addi a2, a2, -1
        bnez a2, 4b
        again

        start call_return
        top
        jal ra, 5f
        again
        .balign 64
5:      ret

        start nested_return             /* t0 is a link register too */
        top
        jal ra, 6f
        again
        .balign 64
6:      jal t0, 7f
        ret
        .balign 64
7:      jr t0

        start ordering
        top
        mul a2, a0, a1
        sd a0, 0(a2)
        ld a3, 0(a0)
        again

        .data
        .balign 16384
ring:   .rept 255
        .quad . + 64
        .skip 56
        .endr
        .quad ring
        .skip 56
        .balign 4096
pages:  .rept 7
        .quad . + 4096 + 64
        .skip 4096 + 56
        .endr
        .quad pages
        .balign 64
word:   .quad word
        .skip 56
        .bss
        .balign 0x100000
rows:   .skip 0x100000 + 64
