# culprit: where every cycle goes, why, and what would change. `make help` lists what can be asked;
# README.md says more.
#
# Rooms are found by wildcard: a new .c file in src/ROOM/, test in tests/unit/ or tests/e2e/,
# workload, benchmark or fuzz target needs no change here.

# All processors, unless -j says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

ifeq ($(origin CC),default)
CC := gcc
endif
B := build
# Debuggers get functions and lines; variables, a part of what compiling costs, with DEBUG=1.
OPT := -O2 -fno-tree-slp-vectorize -g1 -DNDEBUG
ifdef DEBUG
B := build/debug
OPT := -O2 -g
endif
ifdef SANITIZE
B := build/sanitize
OPT := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifdef FUZZ
B := build/fuzz
CC := clang
OPT := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
endif

CPPFLAGS += -Isrc -I$(B)/generated -D_GNU_SOURCE
CFLAGS ?= -Wall -Wextra
ALL_CFLAGS := -std=gnu11 $(CFLAGS) $(OPT) -MMD -MP -pthread
LIBS := -lZydis -lbpf -ldw -lelf -lz -lzstd -lxxhash -linih -ljansson -llzma -liberty -lsqlite3 \
	-lprotobuf-c -lm -ldl -pthread

# What Debian packages are needed: to build and run, to test as well, to work on the source.
BUILD_PACKAGES := gcc g++ libc6-dev make libzydis-dev libdw-dev libelf-dev zlib1g-dev libzstd-dev \
	libxxhash-dev libinih-dev libjansson-dev libiberty-dev liblzma-dev libsqlite3-dev libpq-dev libbpf-dev clang \
	libprotobuf-c-dev protobuf-c-compiler libdebuginfod-dev libcurl4-openssl-dev node-d3 qemu-user
TEST_PACKAGES := libcmocka-dev binutils gcc-riscv64-linux-gnu libc6-dev-riscv64-cross \
	gzip xz-utils bzip2 sqlite3 postgresql python3 python3-dev python3-jsonschema perl mawk grep bc groff-base libc6-dbg linux-perf golang-go valgrind debuginfod musl-tools git
BROWSER_PACKAGES := chromium chromium-driver python3-selenium
CLUSTER_PACKAGES := slurm-wlm munge
FLEET_PACKAGES := postgresql postgresql-client util-linux
DEVELOP_PACKAGES := lld clang-format clang-tidy cppcheck libclang-rt-dev

# Every room is a folder of src/; cmd/ and main.c are the program, trace/qemu/plugin* the plugin.
SOURCES := $(filter-out src/main.c src/cmd/% src/trace/qemu/plugin% %.bpf.c,$(wildcard src/*/*.c src/*/*/*.c))
PROGRAM := $(wildcard src/main.c src/cmd/*.c)
PLUGIN := $(wildcard src/trace/qemu/plugin*.c)
# The plugin tells what an exec would run as culprit does.
PLUGIN_SHARES := src/program/executable.c src/program/python_function.c src/program/python_lines.c \
	src/util/error.c
UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
OWN_FILES := $(wildcard src/*.c src/*/*.[ch] src/*/*/*.[ch] tests/*.h tests/*/*.[ch] \
	workloads/*.[ch] bench/*.[ch])

all: program workloads
program: $(if $(PROGRAM),$(B)/culprit) plugin
.DEFAULT_GOAL := all

# A file that changes when its text does: what depends on it is made again when flags or the list
# of sources change.
record = $(shell mkdir -p $(dir $(1)); printf '%s\n' '$(2)' | cmp -s - $(1) || \
	printf '%s\n' '$(2)' > $(1))
ifneq ($(filter-out clean help deps deps-browser deps-cluster deps-develop deps-fleet,$(or $(MAKECMDGOALS),all)),)
$(call record,$(B)/flags,$(CC) $(CPPFLAGS) $(ALL_CFLAGS))
$(call record,$(B)/sources,$(SOURCES))
$(shell mkdir -p $(B)/tests $(addprefix $(B)/,$(sort $(dir $(SOURCES) $(PROGRAM)))))
endif

# A line for each file that is made; V=1: the whole commands. It is make that prints the line, and the
# folders of objects and tests are there before: a process less for each file.
Q := $(if $(V),,@)
say = $(if $(V),,$(info $(1)	$@))

$(B)/libculprit.a: $(SOURCES:%.c=$(B)/%.o) $(B)/sources
	$(call say,AR)
	$(Q)rm -f $@.$$PPID && ar rcs $@.$$PPID $(filter %.o,$^) && mv $@.$$PPID $@

$(B)/culprit: $(PROGRAM:%.c=$(B)/%.o) $(B)/libculprit.a
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(LIBS)

$(B)/%.o: %.c $(B)/flags
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# Code made from descriptions of formats (src/ROOM/NAME.proto).
PROTOCOLS := $(patsubst src/%.proto,$(B)/generated/%.pb-c,$(wildcard src/*/*.proto))
$(B)/generated/%.pb-c.c $(B)/generated/%.pb-c.h: src/%.proto
	@mkdir -p $(@D)
	$(call say,PROTOC)
	$(Q)protoc-c -Isrc --c_out=$(B)/generated $<
$(B)/libculprit.a: $(PROTOCOLS:%=%.o)
$(PROTOCOLS:%=%.o): %.o: %.c $(B)/flags
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<
# What culprit and the plugin share in memory has a number, which changes with its text.
LAYOUT := $(B)/generated/trace/qemu/layout.h
$(LAYOUT): src/trace/qemu/ring.h src/trace/event.h src/trace/counts.h src/trace/thread_event.h \
		src/program/python_layout.h src/trace/memory_layout.h
	@mkdir -p $(@D)
	$(call say,MAKE)
	$(Q)printf '#define RING_LAYOUT %su\n' $$(cat $^ | cksum | cut -d ' ' -f 1) > $@
# The rooms by which a program becomes cycles have a number as well, which changes with their code,
# not with its comments. `program` is one: by the names of its routines threads wait for each other.
MODEL := $(B)/generated/simulate/model_number.h
MODEL_ROOMS := isa program machine trace branch memory tap core attribute simulate
MODEL_SOURCES := $(sort $(wildcard $(foreach room,$(MODEL_ROOMS),$(addprefix src/$(room)/,\
	*.[ch] *.def */*.[ch] */*/*.[ch]))))
$(MODEL): scripts/without-comments $(MODEL_SOURCES)
	@mkdir -p $(@D)
	$(call say,MAKE)
	$(Q)printf '#define MODEL_NUMBER "%08x"\n' $$(awk -f $< $(MODEL_SOURCES) | cksum | cut -d ' ' -f 1) > $@
$(B)/src/simulate/model.o: $(MODEL)
# The page of --html, before its data and behind: D3 and the scripts of src/report/html/ as one, with
# the hashes by which the page's policy knows its script and style.
D3 ?= /usr/share/nodejs/d3/dist/d3.min.js
HTML := src/report/html
# In the order of the page's tabs; behind what all use, before what begins.
SCRIPTS := page table summary compare calls profile code loops time whatif icost profilers picture levels counts other search main
PAGE := $(B)/generated/report/page
$(PAGE)_head.html $(PAGE)_tail.html &: $(HTML)/make-page $(HTML)/style.css $(sort $(wildcard $(HTML)/*.js)) $(D3)
	@mkdir -p $(@D)
	$(call say,HTML)
	$(Q)$(HTML)/make-page $(PAGE) $(D3) $(HTML)/style.css $(SCRIPTS:%=$(HTML)/%.js)
$(B)/src/report/html/html.o: $(PAGE)_head.html $(PAGE)_tail.html
$(B)/src/report/html/html.o: ALL_CFLAGS += -Wa,-I$(B)
# The texts of `culprit help TOPIC`: sections of the documents.
TOPICS := $(B)/generated/options/topics.inc
TOPIC_SOURCES := src/options/topics.list $(sort $(shell sed -n 's/^[^\#|]*|\([^|]*\)|.*/\1/p' src/options/topics.list))
$(TOPICS): scripts/make-topics $(TOPIC_SOURCES)
	@mkdir -p $(@D)
	$(call say,MAKE)
	$(Q)awk -f $< src/options/topics.list > $@.new && mv $@.new $@
$(B)/src/options/topics.o: $(TOPICS)
GENERATED := $(TOPICS) $(PROTOCOLS:%=%.h) $(LAYOUT) $(MODEL)
$(SOURCES:%.c=$(B)/%.o): | $(GENERATED)

# Evaluation in vectors is one long function each: a compiler takes minutes for it with sanitizers,
# seconds without. No fuzz target reaches the plain one.
$(patsubst %.c,$(B)/%.o,$(wildcard src/graph/lanes/avx*.c) $(if $(FUZZ),src/graph/lanes/plain.c)): ALL_CFLAGS += -fno-sanitize=all

# Where each variable of these is would be a third of their compilation: debuggers get lines.
$(patsubst %.c,$(B)/%.o,$(wildcard src/graph/lanes/avx*.c) src/graph/lanes/plain.c): ALL_CFLAGS += $(if $(DEBUG),,-g1)

# Which slices are chosen must not depend on whether the processor multiplies and adds at once.
# The square root of a negative number, which there is none of, need not set errno.
$(B)/src/region/%.o: ALL_CFLAGS += -ffp-contract=off -fno-math-errno

# BPF programs are clang's, and become a part of culprit: of a source that has the object as .incbin.
BPF_CLANG ?= clang
BPF_ARCHITECTURE := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(patsubst riscv64,riscv,$(shell uname -m))))
$(B)/%.bpf.o: %.bpf.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(BPF_CLANG) -target bpf -D__TARGET_ARCH_$(BPF_ARCHITECTURE) \
		-idirafter /usr/include/$(shell uname -m)-linux-gnu -O2 -g $(CFLAGS) -fno-stack-protector -MMD -MP -c -o $@ $<
$(B)/src/live/collector_object.o: $(B)/src/live/bpf/collector.bpf.o
$(B)/src/live/sample_probe.o: $(B)/src/live/bpf/sample.bpf.o
$(B)/src/live/collector_object.o $(B)/src/live/sample_probe.o: ALL_CFLAGS += -Wa,-I$(B)

ifeq ($(shell uname -m),x86_64)
X86_64_CC ?= gcc
else
X86_64_CC ?= x86_64-linux-gnu-gcc
endif
present = $(shell command -v $(1) 2>/dev/null)

# The plugin runs inside the emulator: never sanitized.
plugin: $(if $(PLUGIN),$(B)/libculprit-trace.so) $(if $(call present,$(X86_64_CC)),$(B)/libculprit-allocations.so)
$(B)/libculprit-trace.so: $(PLUGIN) $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(CFLAGS) -O2 -g -fPIC -fvisibility=hidden -shared -pthread -o $@ $(PLUGIN) $(PLUGIN_SHARES) -lZydis
$(B)/libculprit-trace.so: $(wildcard src/trace/*.h src/trace/qemu/*.h) $(LAYOUT)

# The library that is preloaded into guests, which are programs for x86-64, below any C library.
ALLOCATIONS := $(B)/libculprit-allocations.so
$(ALLOCATIONS): src/trace/qemu/guest/allocations.c src/trace/qemu/guest/allocations.h $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(X86_64_CC) $(CPPFLAGS) -std=gnu11 $(CFLAGS) -O2 -fPIC -shared -nostdlib -mgeneral-regs-only -fno-stack-protector \
		-fcf-protection=none -Wl,-z,now -Wl,-z,noexecstack -o $@ $<

# ---- workloads: for x86-64 as any program is, for riscv64 static, so that no library is needed.
WORKLOADS := $(patsubst workloads/%.c,%,$(wildcard workloads/*.c))
# nab also with a flag that its name tells: nab-fast-math by -ffast-math.
WORKLOADS += nab-finite-math-only nab-fast-math
WORKLOAD_CFLAGS := -std=gnu11 -Wall -Wextra -O2 -g -D_GNU_SOURCE
RISCV64_CC ?= riscv64-linux-gnu-gcc
NATIVE_WORKLOADS := $(if $(call present,$(X86_64_CC)),$(WORKLOADS:%=build/workloads/x86_64/%))
RISCV_WORKLOADS := $(if $(call present,$(RISCV64_CC)),$(WORKLOADS:%=build/workloads/riscv64/%))

workloads: $(NATIVE_WORKLOADS) $(RISCV_WORKLOADS)
ifeq ($(NATIVE_WORKLOADS),)
	@echo 'workloads for x86-64 are not built: there is no $(X86_64_CC)'
endif
ifeq ($(RISCV_WORKLOADS),)
	@echo 'workloads for riscv64 are not built: there is no $(RISCV64_CC) (make deps installs it)'
endif
	@:
build/workloads/x86_64/%: workloads/%.c workloads/workload.h workloads/divide.h workloads/threaded.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(X86_64_CC) $(WORKLOAD_CFLAGS) -o $@ $< -lm -pthread
# With marks that divide a run (experiments/host-programs.py).
build/workloads/divided/%: workloads/%.c workloads/workload.h workloads/divide.h workloads/threaded.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(X86_64_CC) $(WORKLOAD_CFLAGS) -DDIVIDED -o $@ $< -lm -pthread
# Thousands of functions in a straight line: passes that find nothing to do there are left out, and the
# code is the same. Variables no debugger is asked for.
build/workloads/x86_64/bigcode build/workloads/divided/bigcode build/workloads/riscv64/bigcode: WORKLOAD_CFLAGS += -g1 -fno-var-tracking \
	$(addprefix -fno-ipa-,icf cp sra vrp bit-cp modref pure-const reference) \
	$(addprefix -fno-tree-,vrp pre slp-vectorize loop-vectorize tail-merge dominator-opts fre sink sra dse pta \
		loop-optimize ch) \
	$(addprefix -fno-,gcse code-hoisting crossjumping cse-follow-jumps inline-functions partial-inlining \
		store-merging ssa-phiopt if-conversion if-conversion2 split-wide-types)
build/workloads/x86_64/nab-%: workloads/nab.c workloads/workload.h workloads/divide.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(X86_64_CC) $(WORKLOAD_CFLAGS) -f$* -o $@ $< -lm -pthread
build/workloads/riscv64/%: workloads/%.c workloads/workload.h workloads/divide.h workloads/threaded.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(RISCV64_CC) $(WORKLOAD_CFLAGS) -static -o $@ $< -lm -pthread
build/workloads/riscv64/nab-%: workloads/nab.c workloads/workload.h workloads/divide.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(RISCV64_CC) $(WORKLOAD_CFLAGS) -f$* -static -o $@ $< -lm -pthread

# ---- packages
deps:
	@scripts/install-packages $(BUILD_PACKAGES) $(TEST_PACKAGES)
deps-browser:
	@scripts/install-packages $(BUILD_PACKAGES) $(TEST_PACKAGES) $(BROWSER_PACKAGES)
deps-cluster:
	@scripts/install-packages $(BUILD_PACKAGES) $(TEST_PACKAGES) $(CLUSTER_PACKAGES)
deps-fleet:
	@scripts/install-packages $(BUILD_PACKAGES) $(TEST_PACKAGES) $(FLEET_PACKAGES)
deps-develop:
	@scripts/install-packages $(BUILD_PACKAGES) $(TEST_PACKAGES) $(DEVELOP_PACKAGES)

# ---- demo: what the header files of this machine, in one archive, cost gzip -9.
DEMO_FILE := build/demo/include.tar
demo:
	@scripts/install-packages $(BUILD_PACKAGES) gzip libc6-dbg
	@scripts/install-debug-symbols gzip 2>/dev/null || \
		echo 'no debug symbols of gzip could be had: its functions are shown by address'
	@$(MAKE) --no-print-directory --silent program
	@mkdir -p $(dir $(DEMO_FILE))
	@tar --sort=name -C /usr -cf - include 2>/dev/null | head -c 10000000 > $(DEMO_FILE)
	@echo '$$ culprit explain --html build/demo/gzip.html -- gzip -9 -c $(DEMO_FILE) > /dev/null'
	@$(B)/culprit explain --html build/demo/gzip.html -- gzip -9 -c $(DEMO_FILE) > /dev/null
	@echo 'the same in a browser: build/demo/gzip.html'

# ---- tests
test: deps
	@$(MAKE) --no-print-directory all unit-tests
	@tests/run.sh $(B) $(TESTS)
test-sanitize: deps
	@$(MAKE) --no-print-directory SANITIZE=1 all unit-tests
	@UNIT_TIMEOUT=900 tests/run.sh build/sanitize unit
# Pictures go to build/pictures.
test-browser: deps-browser
	@$(MAKE) --no-print-directory all
	@tests/run.sh $(B) browser
# With a Slurm of four nodes on the loopback.
test-cluster: deps-cluster
	@$(MAKE) --no-print-directory all
	@tests/run.sh $(B) cluster
# With a server of PostgreSQL, and what may happen to it.
test-fleet: deps-fleet
	@$(MAKE) --no-print-directory all
	@tests/run.sh $(B) fleet
# What a test does itself takes no time worth a compiler's: the library is what runs.
unit-tests: $(UNIT_TESTS)
$(B)/tests/%: tests/unit/%.c $(B)/libculprit.a $(B)/flags
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(ALL_CFLAGS) -O0 -o $@ $< $(B)/libculprit.a $(LDFLAGS) -lcmocka $(LIBS)

# Long tests, one after the other; benchmarks, likewise, so that nothing disturbs them.
soak: all unit-tests
	@tests/run.sh $(B) soak
BENCHMARKS := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*.c))
bench: all $(BENCHMARKS)
	@for script in $(sort $(wildcard bench/*.sh)); do \
		CULPRIT=$(B)/culprit BENCHMARKS=$(B)/bench bash $$script || exit 1; done
$(B)/bench/%: bench/%.c $(B)/libculprit.a $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -o $@ $< $(B)/libculprit.a $(LDFLAGS) $(LIBS)

# Fuzzing: each target for FUZZ_SECONDS, from the inputs in tests/fuzz/corpus/TARGET if any.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz:
	@$(MAKE) --no-print-directory FUZZ=1 fuzz-targets
	@for target in $(FUZZ_TARGETS); do scripts/fuzz $$target $(FUZZ_SECONDS) || exit 1; done
fuzz-targets: $(FUZZ_TARGETS)
build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/input.h build/fuzz/libculprit.a build/fuzz/flags
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $< build/fuzz/libculprit.a $(LIBS)

# ---- the source
format:
	@clang-format -i $(OWN_FILES)
format-check:
	@clang-format --dry-run --Werror $(OWN_FILES)
# A stamp for each file and checker says that it passed: it is checked again when it changes, or a
# header that it includes, or which checks there are.
LINTED := $(SOURCES) $(PROGRAM) $(PLUGIN)
# Beside src/ clang-tidy alone, to which an assertion that fails ends the test.
LINTED_TESTS := $(wildcard tests/unit/*.c)
LINTED_BESIDE := $(wildcard tests/fuzz/*.c tests/guests/*.c bench/*.c workloads/*.c)
TIDIED := $(LINTED) $(LINTED_TESTS) $(LINTED_BESIDE)
$(LINTED_TESTS:%.c=$(B)/lint/%.clang-tidy): CPPFLAGS += -include tests/asserts_end.h
$(LINTED_TESTS:%.c=$(B)/lint/%.clang-tidy) $(LINTED_BESIDE:%.c=$(B)/lint/%.clang-tidy): CPPFLAGS += -Itests
$(LINTED:%.c=$(B)/lint/%.cppcheck) $(TIDIED:%.c=$(B)/lint/%.clang-tidy): | $(GENERATED)
lint: lint-rooms lint-edges lint-cppcheck lint-clang-tidy
lint-rooms:
	@scripts/check-rooms
lint-edges:
	@scripts/edges --check
lint-cppcheck: $(LINTED:%.c=$(B)/lint/%.cppcheck)
lint-clang-tidy: $(TIDIED:%.c=$(B)/lint/%.clang-tidy)
$(B)/lint/%.cppcheck: %.c .cppcheck
	@mkdir -p $(@D)
	cppcheck --quiet --std=c11 --enable=warning,performance --inline-suppr \
		--suppressions-list=.cppcheck --error-exitcode=1 -Isrc $<
	@$(CC) $(CPPFLAGS) -MM -MP -MT $@ -MF $@.d $< && touch $@
$(B)/lint/%.clang-tidy: %.c .clang-tidy
	@mkdir -p $(@D)
	clang-tidy --quiet $< -- -std=gnu11 $(CPPFLAGS)
	@$(CC) $(CPPFLAGS) -MM -MP -MT $@ -MF $@.d $< && touch $@

# ---- installation
prefix ?= /usr/local
bindir ?= $(prefix)/bin
plugindir ?= $(prefix)/lib/culprit
machinedir ?= $(prefix)/share/culprit/machines
schemadir ?= $(prefix)/share/culprit/schema
mandir ?= $(prefix)/share/man
unitdir ?= $(prefix)/lib/systemd/system
bashdir ?= $(prefix)/share/bash-completion/completions
zshdir ?= $(prefix)/share/zsh/site-functions
fishdir ?= $(prefix)/share/fish/vendor_completions.d
MACHINES := $(wildcard machines/*.ini machines/*.forms)
SCHEMAS := $(wildcard docs/schema/*.json)
PAGES := $(wildcard docs/man/*.1)
install: program
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(plugindir) $(DESTDIR)$(machinedir) $(DESTDIR)$(mandir)/man1 \
		$(DESTDIR)$(unitdir) $(DESTDIR)$(bashdir) $(DESTDIR)$(zshdir) $(DESTDIR)$(fishdir) $(DESTDIR)$(schemadir)
	install -m 755 $(B)/culprit $(DESTDIR)$(bindir)
	install -m 755 $(wildcard $(B)/libculprit-*.so) $(DESTDIR)$(plugindir)
	install -m 644 $(MACHINES) $(DESTDIR)$(machinedir)
	install -m 644 $(SCHEMAS) $(DESTDIR)$(schemadir)
	install -m 644 $(PAGES) $(DESTDIR)$(mandir)/man1
	$(B)/culprit completion bash > $(DESTDIR)$(bashdir)/culprit
	$(B)/culprit completion zsh > $(DESTDIR)$(zshdir)/_culprit
	$(B)/culprit completion fish > $(DESTDIR)$(fishdir)/culprit.fish
	sed 's,@bindir@,$(bindir),' systemd/culprit.service > $(DESTDIR)$(unitdir)/culprit.service
uninstall:
	rm -f $(DESTDIR)$(bindir)/culprit $(DESTDIR)$(plugindir)/libculprit-trace.so \
		$(DESTDIR)$(plugindir)/libculprit-allocations.so \
		$(DESTDIR)$(unitdir)/culprit.service $(DESTDIR)$(bashdir)/culprit $(DESTDIR)$(zshdir)/_culprit \
		$(DESTDIR)$(fishdir)/culprit.fish
	rm -f $(addprefix $(DESTDIR)$(machinedir)/,$(notdir $(MACHINES)))
	rm -f $(addprefix $(DESTDIR)$(schemadir)/,$(notdir $(SCHEMAS)))
	rm -f $(addprefix $(DESTDIR)$(mandir)/man1/,$(notdir $(PAGES)))
	-rmdir $(DESTDIR)$(plugindir) $(DESTDIR)$(machinedir) $(DESTDIR)$(schemadir) $(dir $(DESTDIR)$(machinedir))

# ---- Debian packages, into build/deb: of what is here, without a build of its own.
PACKAGE_PACKAGES := debhelper dpkg-dev lintian fakeroot
VERSION := $(shell sed -n 's/.*CULPRIT_VERSION "\(.*\)".*/\1/p' src/cmd/cmd.h)
DEB := build/deb/culprit-$(VERSION)
deb:
	@scripts/install-packages $(BUILD_PACKAGES) $(PACKAGE_PACKAGES)
	@rm -rf build/deb
	@mkdir -p $(DEB)
	@tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C $(DEB)
	@mv $(DEB)/packaging/debian $(DEB)/debian
	cd $(DEB) && MAKELEVEL=0 dpkg-buildpackage --build=binary --no-sign
	lintian --fail-on error build/deb/*.changes
	@ls build/deb/*.deb

clean:
	rm -rf build

help:
	@echo 'make                 build/culprit, the capture plugin and the workloads'
	@echo 'make demo            install what is missing, build, explain gzip -9 on a real file'
	@echo 'make test            install what is missing, build, run every test (TESTS=unit or e2e: some)'
	@echo 'make test-sanitize   the unit tests under AddressSanitizer and UBSan'
	@echo 'make test-cluster    --cluster on a Slurm of four nodes of its own'
	@echo 'make test-fleet      a server of PostgreSQL that daemons send to, and what may happen to it'
	@echo 'make test-browser    pages of --html in a browser, and pictures of their views'
	@echo 'make soak            the long tests'
	@echo 'make bench           benchmarks of speed and memory'
	@echo 'make fuzz            each fuzz target for FUZZ_SECONDS=60 (clang)'
	@echo 'make install         to prefix=/usr/local, under DESTDIR; make uninstall takes it away'
	@echo 'make deb             Debian packages, in build/deb'
	@echo 'make deps            install the Debian packages that building and testing need'
	@echo 'make deps-cluster    also Slurm, for test-cluster'
	@echo 'make deps-fleet      also a server of PostgreSQL, for test-fleet'
	@echo 'make deps-browser    also a browser, for test-browser'
	@echo 'make deps-develop    also those for format, lint and fuzz'
	@echo 'make format          clang-format; format-check only looks'
	@echo 'make lint            cppcheck and clang-tidy, of what changed since it last passed; the order'
	@echo '                     of rooms (lint-rooms), docs/edges.md (lint-edges)'
	@echo 'make clean           remove build/'
	@echo 'with any:            CC=clang, SANITIZE=1 (build/sanitize), DEBUG=1 (assertions, variables for'
	@echo '                     debuggers; build/debug), V=1 (whole commands)'

.PHONY: all program deb plugin workloads deps deps-browser deps-cluster deps-develop deps-fleet demo test test-sanitize \
	test-browser test-cluster test-fleet unit-tests soak bench fuzz \
	fuzz-targets format format-check lint lint-rooms lint-cppcheck lint-clang-tidy install uninstall clean help

-include $(shell find $(B) -path '*/deb' -prune -o -name '*.d' -type f -print 2>/dev/null)
