# A program whose line table and debugging information are written by hand, for profiles of
# compilers. As if from compiled.c, where `square` is declared in line 3, `work` in 10, `_start` in
# 20. The offsets of instructions in their functions are in the margin.
        .file   "compiled.c"
        .file 1 "compiled.c"
        .text
.Ltext:
        .type   work, @function
work:
        .loc 1 10
        xorl    %eax, %eax              #  0
        .loc 1 11
        movl    $5, %ecx                #  2
.Lloop:
        .loc 1 12
        leal    (%rcx), %edx            #  7
.Lsquare:                               # inlined
        .loc 1 4
        imull   %edx, %edx              #  9
.Lsquare_end:
        .loc 1 12 0 discriminator 1028  # block 2 of the line (2 × 2), copied 4 times (4 × 256)
        addl    %edx, %eax              #  c
        .loc 1 13
        decl    %ecx                    #  e
        jnz     .Lloop                  # 10
        .loc 1 14
        testl   %eax, %eax              # 12
        jns     .Lend                   # 14
        .loc 1 15
        negl    %eax                    # 16, never
.Lend:
        .loc 1 16
        ret                             # 18
.Lwork_end:
        .size   work, . - work

        .globl  _start
        .type   _start, @function
_start:
        .loc 1 20
        movl    $3, %ebx                #  0
.Lagain:
        .loc 1 21
        call    work                    #  5
        .loc 1 22
        decl    %ebx                    #  a
        jnz     .Lagain                 #  c
        .loc 1 23
        movl    $60, %eax               #  e, exit(0)
        xorl    %edi, %edi              # 13
        syscall                         # 15
.Lstart_end:
        .size   _start, . - _start

        .section .debug_line, "", @progbits
.Lline:
        .section .debug_info, "", @progbits
        .long   .Linfo_end - .Linfo
.Linfo:
        .value  4                       # DWARF 4
        .long   .Labbrev
        .byte   8
        .uleb128 1                      # the compilation unit
        .asciz  "clang, by hand"
        .asciz  "compiled.c"
        .quad   .Ltext
        .long   .Lstart_end - .Ltext
        .long   .Lline
.Labstract:
        .uleb128 2
        .asciz  "square"
        .byte   3                       # declared in line 3
        .byte   1                       # inlined
        .uleb128 3
        .asciz  "work"
        .byte   10
        .quad   work
        .long   .Lwork_end - work
        .uleb128 4                      # square in it
        .long   .Labstract - .Linfo + 4
        .quad   .Lsquare
        .long   .Lsquare_end - .Lsquare
        .byte   12                      # called in line 12
        .byte   4                       # in block 2 of it
        .byte   0
        .uleb128 5
        .asciz  "_start"
        .byte   20
        .quad   _start
        .long   .Lstart_end - _start
        .byte   0
.Linfo_end:
        .section .debug_abbrev, "", @progbits
.Labbrev:
        .uleb128 1
        .uleb128 0x11                   # compile_unit, with children
        .byte   1
        .uleb128 0x25, 0x08             # producer: string
        .uleb128 0x03, 0x08             # name: string
        .uleb128 0x11, 0x01             # low_pc: addr
        .uleb128 0x12, 0x06             # high_pc: data4
        .uleb128 0x10, 0x17             # stmt_list: sec_offset
        .uleb128 0, 0
        .uleb128 2
        .uleb128 0x2e                   # subprogram
        .byte   0
        .uleb128 0x03, 0x08             # name: string
        .uleb128 0x3b, 0x0b             # decl_line: data1
        .uleb128 0x20, 0x0b             # inline: data1
        .uleb128 0, 0
        .uleb128 3
        .uleb128 0x2e                   # subprogram, with children
        .byte   1
        .uleb128 0x03, 0x08             # name: string
        .uleb128 0x3b, 0x0b             # decl_line: data1
        .uleb128 0x11, 0x01             # low_pc: addr
        .uleb128 0x12, 0x06             # high_pc: data4
        .uleb128 0, 0
        .uleb128 4
        .uleb128 0x1d                   # inlined_subroutine
        .byte   0
        .uleb128 0x31, 0x13             # abstract_origin: ref4
        .uleb128 0x11, 0x01             # low_pc: addr
        .uleb128 0x12, 0x06             # high_pc: data4
        .uleb128 0x59, 0x0b             # call_line: data1
        .uleb128 0x2136, 0x0b           # GNU_discriminator: data1
        .uleb128 0, 0
        .uleb128 5
        .uleb128 0x2e                   # subprogram
        .byte   0
        .uleb128 0x03, 0x08             # name: string
        .uleb128 0x3b, 0x0b             # decl_line: data1
        .uleb128 0x11, 0x01             # low_pc: addr
        .uleb128 0x12, 0x06             # high_pc: data4
        .uleb128 0, 0
        .uleb128 0
        .section .note.GNU-stack, "", @progbits
