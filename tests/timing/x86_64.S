/* One loop per kernel of expected.py, x86-64. The linker gives `kernel`, which runs, and
 * `iterations`. A loop begins on a cache line; what fetch sees of it (bytes, taken branches) is part of the
 * timing, so instructions are 4 bytes long where it matters. r15 counts down; rax to rdi, r8 to r11
 * and the vector registers are the kernels'. */
        .text
        .globl _start
_start: mov $iterations, %r15d
        xor %eax, %eax
        xor %edx, %edx
        mov $1, %r8d
        lea word(%rip), %rdi
        jmp kernel
done:   mov $60, %eax
        xor %edi, %edi
        syscall

.macro start name
        .globl \name
        .balign 64
\name:
.endm
.macro top                      /* of the loop */
        .balign 64
1:
.endm
.macro again                    /* 4 bytes and 2 or 6 */
        sub $1, %r15
        jnz 1b
        jmp done
.endm
.macro nop4
        .byte 0x0f, 0x1f, 0x40, 0x00
.endm
.macro repeated name, count, text:vararg
        start \name
        top
        .rept \count
        \text
        .endr
        again
.endm

        repeated dependent_adds, 64, add $1, %rax
        repeated width, 59, nop4
        start operands
        top
        .rept 20
        cmp 8(%rdi), %r8
        .endr
        .rept 39
        nop4
        .endr
        again
        repeated dependent_multiplies, 16, imul %r8, %rax
        repeated dependent_divides, 8, div %r8
        repeated zero_idioms, 16, xor %eax, %eax
        repeated fp_adds, 16, addsd %xmm1, %xmm0
        repeated independent_fp_adds, 16, vaddpd %xmm1, %xmm1, %xmm0
        repeated fp_multiplies, 16, mulsd %xmm1, %xmm0
        repeated fp_fused, 16, vfmadd231sd %xmm1, %xmm1, %xmm0
        repeated fp_divides, 4, divsd %xmm1, %xmm0
        repeated independent_fp_divides, 4, vdivpd %xmm1, %xmm1, %xmm0
        repeated fp_roots, 4, sqrtsd %xmm0, %xmm0
        repeated independent_fp_roots, 4, sqrtpd %xmm1, %xmm0
        repeated load_chain, 16, mov (%rdi), %rdi
        repeated serialising, 1, cpuid
        repeated locked, 1, lock addq $1, 8(%rdi)

        start independent_adds
        top
        .rept 31
        lea 1(%r8), %rax
        lea 1(%r8), %rbx
        .endr
        again

        start independent_multiplies
        top
        .rept 8
        imul $3, %r8, %rax
        imul $3, %r8, %rbx
        .endr
        again

        start independent_divides
        top
        .rept 8
        xor %eax, %eax
        xor %edx, %edx
        div %r8
        .endr
        again

        start moves
        top
        .rept 16
        mov %rax, %rbx
        lea 1(%rbx), %rax
        .endr
        again

        start independent_loads
        top
        .rept 24
        mov 8(%rdi), %rax
        mov 16(%rdi), %rbx
        .endr
        again

        start stores
        top
        .rept 8
        mov %rax, 8(%rdi)
        mov %rax, 16(%rdi)
        .endr
        again

        start forwarding
        top
        .rept 8
        mov %rax, 8(%rdi)
        mov 8(%rdi), %rax
        .endr
        again

        start partial_forwarding
        top
        .rept 8
        mov %al, 8(%rdi)
        mov 8(%rdi), %rax
        .endr
        again

        start never_taken
        test %r8, %r8
        top
        .rept 16
        jz done
        .endr
        again

        start ring_chain
        lea ring(%rip), %rax
        top
        mov (%rax), %rax
        again

        start pending
        lea ring(%rip), %rax
        top
        mov 8(%rax), %rbx
        mov (%rax), %rax
        again

        start page_chain
        lea pages(%rip), %rax
        top
        mov (%rax), %rax
        again

        start row_chain                 /* two lines a megabyte apart */
        lea rows(%rip), %rax
        lea 0x100000(%rax), %rbx
        mov %rax, (%rbx)
        mov %rbx, (%rax)
        top
        mov (%rax), %rax
        again

        start line_loads                /* 64 lines */
        lea ring(%rip), %rsi
        top
        .set line, 0
        .rept 64
        mov line(%rsi), %rax
        .set line, line + 64
        .endr
        again

        start window                    /* 192 instructions, two lines that evict each other */
        lea rows(%rip), %rsi
        lea 0x100000(%rsi), %rdi
        top
        mov (%rsi), %rax
        .rept 95
        nop4
        .endr
        mov (%rdi), %rax
        .rept 93
        nop4
        .endr
        again

        start big_code                  /* 8 KB */
        top
        .rept 2045
        nop4
        .endr
        again

        start indirect                  /* to two places in turn */
        lea 2f(%rip), %rax
        lea 3f(%rip), %rbx
        xor %rax, %rbx
        top
        xor %rbx, %rax
        jmp *%rax
        .balign 64
2:      again
        .balign 64
3:      again

        start inner_loop                /* of 8 turns; the first 16 bytes hold all of it */
        top
        mov $8, %ecx
        .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
4:      sub $1, %rcx
        jnz 4b
        again

        start call_return
        top
        call 5f
        again
        .balign 64
5:      ret

        start nested_return
        top
        call 6f
        again
        .balign 64
6:      call 7f
        ret
        .balign 64
7:      ret

        start ordering                  /* load and sub in the first 16 bytes, jnz beyond */
        top
        imul $1, %rdi, %rsi
        mov %rax, (%rsi)
        {disp32} mov (%rdi), %rdx
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
