# culprit: where every cycle goes, why, and what would change. See README.md.
#
#   make            build/culprit, the capture plugin and the workloads
#   make deps       install every package it needs (Debian)
#   make demo       install, build, explain gzip -9
#   make test       install, build, run every test
#   make SANITIZE=1 ...   the same under AddressSanitizer and UBSan, with debug assertions
#   make DEBUG=1 ...      with debug assertions (invariants of the cores)

CC ?= gcc
B := build
OPT := -O2 -g -DNDEBUG
ifdef DEBUG
B := build/debug
OPT := -O2 -g
endif
ifdef SANITIZE
B := build/sanitize
OPT := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif

CPPFLAGS += -Isrc -D_GNU_SOURCE
CFLAGS ?= -Wall -Wextra
ALL_CFLAGS := -std=gnu11 $(CFLAGS) $(OPT) -MMD -MP -pthread
LIBS := -lZydis -ldw -lelf -lzstd -lxxhash -linih -ljansson -lstdc++ -lm -ldl -pthread

# Every room is a folder of src/; cmd/ and main.c are the program, trace/qemu/plugin* the plugin.
SOURCES := $(filter-out src/main.c src/cmd/% src/trace/qemu/plugin%,$(wildcard src/*/*.c src/*/*/*.c))
PROGRAM := src/main.c $(wildcard src/cmd/*.c)
PLUGIN := $(wildcard src/trace/qemu/plugin*.c)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))

all: $(B)/culprit plugin
.PHONY: all

$(B)/libculprit.a: $(SOURCES:%.c=$(B)/%.o)
	@rm -f $@
	ar rcs $@ $^

$(B)/culprit: $(PROGRAM:%.c=$(B)/%.o) $(B)/libculprit.a
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(LIBS)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# The plugin runs inside the emulator: never sanitized, no dependencies of its own.
plugin: $(if $(PLUGIN),$(B)/libculprit-trace.so)
.PHONY: plugin
$(B)/libculprit-trace.so: $(PLUGIN)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=gnu11 $(CFLAGS) -O2 -g -fPIC -shared -pthread -o $@ $(PLUGIN)
$(B)/libculprit-trace.so: $(wildcard src/trace/*.h src/trace/qemu/*.h)

unit-tests: $(UNIT_TESTS)
.PHONY: unit-tests
$(B)/tests/%: tests/unit/%.c $(B)/libculprit.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(ALL_CFLAGS) -o $@ $< $(B)/libculprit.a $(LDFLAGS) -lcmocka $(LIBS)

clean:
	rm -rf build
.PHONY: clean

-include $(shell find $(B) -name '*.d' 2>/dev/null)
