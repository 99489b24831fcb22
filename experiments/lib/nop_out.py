"""Replaces instructions of a static riscv64 program by no-ops, as if the compiler had not written
them:    nop_out.py PROGRAM COPY FUNCTION,... MNEMONIC,...

The paper treated ceil and floor of glibc so. Only instructions of 4 bytes that leave no result that
is used otherwise are safe to take away; that is the caller's to know."""
import os
import re
import struct
import subprocess
import sys

NOP = struct.pack("<I", 0x00000013)  # addi zero, zero, 0
OBJDUMP = "riscv64-linux-gnu-objdump"


def loads_of(elf):
    """Of a 64-bit little-endian ELF file: (address, file offset, size) of what is loaded."""
    start, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    for i in range(count):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", elf, start + i * size)
        if kind == 1:
            yield address, offset, length


def addresses_of(program, function, mnemonics):
    listing = subprocess.run([OBJDUMP, "-d", f"--disassemble={function}", program], check=True,
                             capture_output=True, text=True).stdout
    found = []
    for address, code, mnemonic in re.findall(r"^\s*([0-9a-f]+):\t([0-9a-f]+)\s+\t?(\S+)", listing,
                                              re.M):
        if mnemonic in mnemonics:
            if len(code) != 8:
                sys.exit(f"{program}: {mnemonic} at {address} is not 4 bytes long")
            found.append(int(address, 16))
    return found


def nop_out(program, copy, functions, mnemonics):
    """How many instructions were replaced; ends the script when there is none."""
    with open(program, "rb") as source:
        elf = bytearray(source.read())
    addresses = [a for function in functions for a in addresses_of(program, function, mnemonics)]
    if not addresses:
        sys.exit(f"{program}: no {' or '.join(mnemonics)} in {' or '.join(functions)}")
    for address in addresses:
        at = next(offset + address - start for start, offset, length in loads_of(elf)
                  if start <= address < start + length)
        elf[at:at + 4] = NOP
    os.makedirs(os.path.dirname(copy) or ".", exist_ok=True)
    with open(copy, "wb") as target:
        target.write(elf)
    os.chmod(copy, 0o755)
    return len(addresses)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    print(nop_out(sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4].split(",")))
