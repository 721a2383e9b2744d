# Builds pct out of tree in build/, runs its suite, installs it.
#
#   make            the shim, the command, the example strategy and the programs with known bugs
#   make demo       find a bug of a real program and replay it (installs missing Debian packages)
#   make check      the whole test suite (installs missing Debian packages)
#   make help       all targets and variables
#
# Nothing here runs a compiler, or any other program, while the Makefile is read: `make demo` and `make check` start on
# machines that have none, and install it first. V=1 shows the commands.

MAKEFLAGS += --no-builtin-rules --no-builtin-variables
.SUFFIXES:
.DELETE_ON_ERROR:

B := $(if $(BUILD),$(BUILD),build)
# cc and g++ are GNU make's defaults; only what the user says on the command line or in the environment counts.
ifeq ($(filter-out undefined default,$(origin CC)),)
CC := gcc
endif
ifeq ($(filter-out undefined default,$(origin CXX)),)
CXX := $(if $(findstring clang,$(CC)),clang++,g++)
endif
ifeq ($(filter-out undefined default,$(origin AR)),)
AR := ar
endif
INSTALL ?= install
# SANITIZE=address,undefined: for `make BUILD=build/asan unit sim`. The shim itself cannot be sanitized: the runtime of
# the sanitizer wants to be loaded before it. What -O2 removes nobody looks at, and it takes twice as long to compile.
SANITIZE ?=
CFLAGS ?= $(if $(SANITIZE),-O1 -g1,-O2 -g)
LDFLAGS ?=
PREFIX ?= /usr/local
sanitize := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

# WERROR=1: a warning ends the build. Only `make lint` says so: other compilers than ours warn of other things.
WERROR ?=
warnings := -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror)
includes := -Iinclude -I. -I$(B)/gen
depend = -MMD -MP -MF $@.d

# One set of flags for every object of pct, because the shim and the command share strategies/ and common/:
#  -fvisibility=hidden                 only the intercepted functions leave the shim (the version script says it again)
#  -fasynchronous-unwind-tables        cancellation and pthread_exit unwind through wrappers, reports unwind from
#                                      signals; without -fexceptions no frame of ours asks for an unwinder of its own
#  -fno-delete-null-pointer-checks     headers declare libc's parameters nonnull, wrappers must check them all the same
#  -ftls-model=initial-exec            no __tls_get_addr, which may call malloc; a preloaded object has static TLS
#  -fno-stack-protector                the shim also runs in threads whose thread pointer is a dummy (sandboxes that
#                                      clone by hand), where there is no canary to compare with
pct_cflags := -std=gnu17 -D_GNU_SOURCE $(warnings) -fPIC -fvisibility=hidden \
	-fasynchronous-unwind-tables -fno-delete-null-pointer-checks -ftls-model=initial-exec -fno-stack-protector \
	-fno-builtin-bcmp
# clang and gcc warn of these checks; gcc of variables that AWAY() in pass.h has after its second return, where it needs
# none, and of eight bytes of magic in arrays of eight.
pct_cflags += $(if $(findstring clang,$(CC)),-Wno-pointer-bool-conversion \
    -Wno-tautological-pointer-compare,-Wno-clobbered -Wno-nonnull-compare -Wno-unterminated-string-initialization)
#  initfirst  our constructor before everybody else's: programs make thousands of calls in theirs
#  pack-relative-relocs   400 relocations in 100 bytes: less to read at every start
#  lazy       what no start calls is not looked up there; preload/core/bind.c does it, without the loader and its locks
#  nostartfiles  the compiler's own start and end of a library: not needed, and two page faults
#  noseparate-code, norelro  three system calls and mappings fewer at every start
#  libpct.ld  what stands where: page faults
#  -Bsymbolic-functions  a wrapper that calls another one gets ours, not the program's function of that name
shim_ldflags := -shared -nostartfiles -Wl,-Bsymbolic-functions -Wl,-z,initfirst -Wl,-z,lazy -Wl,-z,norelro \
    -Wl,-z,noseparate-code \
	-Wl,-z,pack-relative-relocs -Wl,--no-undefined -Wl,-T,preload/libpct.ld \
	-Wl,--version-script=$(B)/gen/libpct.map -Wl,-soname,libpct.so
command_libs := -ldw -lelf -lZydis -lsqlite3 -ljson-c -lz -liberty -lm

Z3_INCLUDE ?= /usr/include

# --- What there is
# -----------------------------------------------------------------------------------------------------
core_sources := $(sort $(wildcard common/*.c strategies/*.c sched/*.c patch/*.c))
shim_sources := $(core_sources) $(sort $(wildcard preload/*/*.c))
demon_program_sources := $(sort $(wildcard demon/*.c))
# `pct demon` is there where its solver is.
pct_demon := $(if $(wildcard $(Z3_INCLUDE)/z3.h),$(B)/pct-demon)
runtime_sources := $(sort $(wildcard runtime/*.c))
cli_sources := $(sort $(wildcard cli/*/*.c))
explore_sources := $(addprefix cli/explore/,arrivals.c bounded.c commute.c dependence.c divided.c estimate.c \
    execution.c explored.c footprints.c next_plan.c order.c path_events.c pieces.c polling.c rank.c reversals.c rows.c \
    same.c search.c states.c touches.c users.c waiting.c wakeup.c) \
	$(addprefix cli/,campaign/preemptions.c trace/events.c trace/switches.c trace/snapshot.c \
	trace/trace_read.c base/names.c base/table.c)
command_sources := $(sort $(wildcard common/*.c strategies/*.c)) $(cli_sources)
objects_of = $(patsubst %.c,$(B)/obj/%.o,$(1))
pct_objects := $(call objects_of,$(sort $(shim_sources) $(runtime_sources) $(wildcard runtime/demon/*.c \
    runtime/explored/*.c runtime/script/*.c) $(cli_sources)))

# Compilers for programs that tell of their memory accesses, and the library that these are linked with: under its own
# name, and under those of the libraries that it stands in for in programs linked with -fsanitize=thread. The handlers
# are linked into each program.
compiler_names := pct-cc pct-c++ pct-clang pct-clang++
compilers := $(addprefix $(B)/,$(compiler_names))
takeovers := $(B)/tsan/libtsan.so.2 $(B)/tsan/libclang_rt.tsan-x86_64.so
handlers := $(B)/tsan/pct-handlers.o
explored_sources := $(sort $(wildcard runtime/explored/*.c))
script_sources := $(sort $(wildcard runtime/script/*.c))
# The reader of the memory map is in libpct.so, too, but nobody calls what is hidden there.
demon_sources := $(sort $(wildcard runtime/demon/*.c)) preload/core/maps.c preload/core/host_sys.c common/text.c
runtime_parts := $(B)/libpct-demon.so $(B)/libpct-explored.so $(B)/libpct-script.so $(B)/libpct-tsan.so \
    $(B)/tsan/libtsan.so $(B)/tsan/libtsan_preinit.o $(handlers) $(takeovers)

bug_sources := $(sort $(wildcard bench/bugs/*.c bench/bugs/*.cc))
bug_names := $(basename $(notdir $(bug_sources)))
bugs := $(foreach n,$(bug_names),$(B)/bugs/$(n) $(B)/bugs/$(n)-fixed)
paper_names := $(basename $(notdir $(sort $(wildcard bench/paper/*.c))))
paper := $(foreach n,$(paper_names) wsq-memory,$(B)/paper/$(n) $(B)/paper/$(n)-fixed)
# Those whose bug lies between memory accesses, built by pct-cc, and by pct-clang where there is a clang.
demon_names := $(basename $(notdir $(sort $(wildcard bench/demon/*.c))))
demon := $(foreach n,$(demon_names),$(addprefix $(B)/demon/$(n),-fixed -threads -threads-fixed) $(B)/demon/$(n))
memory_bug_names := $(basename $(notdir $(sort $(wildcard bench/bugs-memory/*.c))))
plain_bugs := $(foreach n,$(memory_bug_names),$(B)/bugs-plain/$(n) $(B)/bugs-plain/$(n)-fixed)
memory_bugs := $(foreach n,$(memory_bug_names),$(B)/bugs-memory/$(n) $(B)/bugs-memory/$(n)-fixed)
# Those that take the number of threads: built by pct-cc, and as anybody would compile them.
scale_names := $(basename $(notdir $(sort $(wildcard bench/scale/*.c))))
scale := $(foreach n,$(scale_names),$(foreach v,$(n) $(n)-fixed plain-$(n) plain-$(n)-fixed,$(B)/scale/$(v)))
memory_bugs_clang := $(addprefix $(B)/bugs-memory/clang-,$(notdir $(memory_bugs)))
example_sources := $(sort $(wildcard examples/strategy/*.c))
examples := $(patsubst examples/strategy/%.c,$(B)/examples/%.so,$(example_sources))
bench_programs := $(addprefix $(B)/bench/,$(basename $(notdir $(sort $(wildcard bench/*.c bench/*.cc))))) \
    $(addprefix $(B)/bench/access-,pct-cc pct-clang tsan empty counter) \
	$(addprefix $(B)/bench/matrix-,pct-cc pct-clang tsan clang clang-tsan empty counter clang-counter) \
	$(B)/bench/events-pct-cc

random_programs := $(B)/random/random-c $(B)/random/random-cxx $(B)/random/random-source
snippet_sources := $(sort $(wildcard tests/snippets/*.c tests/snippets/*.cc))
snippets := $(addprefix $(B)/snippets/,$(basename $(notdir $(snippet_sources))))
unit_tests := \
    $(patsubst tests/unit/%.c,$(B)/unit/%,$(sort \
    $(filter-out $(if $(pct_demon),,%/test_demon.c %/test_demon_encoding.c %/test_demon_pointers.c),$(wildcard \
    tests/unit/test_*.c))))
demon_tests := $(addprefix $(B)/unit/,test_demon test_demon_encoding test_demon_pointers)
sim_tests := $(patsubst tests/sim/%.c,$(B)/sim/%,$(sort $(wildcard tests/sim/test_*.c)))
test_programs := $(addprefix $(B)/programs/,told-stuck $(basename $(notdir $(sort $(wildcard tests/programs/*.c \
	tests/programs/*.cc)))))
# What debuggers load, found beside the command, as in share/pct when it is installed.
debugger_scripts := $(patsubst cli/command/debug/%,$(B)/share/%,$(sort $(wildcard cli/command/debug/*.py)))
# What test programs share, linked into each of them.
unit_helpers := $(call objects_of,$(sort $(filter-out tests/unit/test_% tests/unit/fuzz_%,$(wildcard tests/unit/*.c))))
sim_helpers := $(call objects_of,$(sort $(filter-out tests/sim/test_%,$(wildcard tests/sim/*.c))))
test_support := $(B)/obj/tests/cmocka_filter.o
inside_tests := $(call objects_of,$(sort $(wildcard tests/unit/*.c tests/sim/*.c)))
fuzzers := $(patsubst tests/unit/%.c,$(B)/%,$(sort $(wildcard tests/unit/fuzz_*.c)))

# --- Targets
# -----------------------------------------------------------------------------------------------------------
.PHONY: all lib command compilers bugs paper demon memory-bugs scale examples bench-programs snippets unit sim \
    test-programs random-programs fuzzers objects unwarned tests
all: lib command compilers examples bugs
lib: $(B)/libpct.so $(runtime_parts)
compilers: lib $(compilers)
command: $(B)/pct $(pct_demon) $(debugger_scripts)
bugs: $(bugs)
paper: $(paper)
demon: $(demon)
memory-bugs: $(memory_bugs) $(memory_bugs_clang)
scale: $(scale)
examples: $(examples)
bench-programs: $(bench_programs)
snippets: $(snippets)
random-programs: $(random_programs)
unit: $(unit_tests)
sim: $(sim_tests)
test-programs: $(test_programs) $(plain_bugs) $(B)/bench/accusations
fuzzers: $(fuzzers)
# Of what `make lint` wants no warnings: pct, and the tests that use its inside.
objects: $(pct_objects) $(inside_tests)
unwarned: objects
	@cat $(addsuffix .said,$(pct_objects) $(inside_tests)) > $(B)/said
	@! grep . $(B)/said
tests: all paper snippets unit sim test-programs random-programs memory-bugs scale

# The recipes of these call make again, so that nothing is built before the packages are there (also with -j). The
# machine may have had no compiler when this make read its Makefile.
.PHONY: demo check check-full check-unit check-sim check-snippets check-cases check-programs check-cli check-compat \
    check-real check-cluster check-diagnose check-restored check-browser \
	check-memory-real check-packages check-checkers check-integrations check-planted check-random check-explore \
	check-scripts check-explore-counts check-explore-kills check-demon \
	conformance conformance-posix check-distros check-deb check-clang check-analyzer check-sanitize check-fuzz \
	lint bench experiments minimized races concurrit slowdown deb setup docs
# All CPUs, unless the user said how many.
build_with = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j"$$(nproc)")
run_tests = PCT_BUILD='$(B)' MAKE='$(MAKE)' CC='$(CC)' tests/run
demo:
	@scripts/setup build
	@$(build_with) all
	@PCT_BUILD=$(B) scripts/demo

check:
	@scripts/setup build check
	@$(build_with) tests
	@$(run_tests)

# The suite, with all runs of what it makes a few of.
check-full: export FULL = 1
check-full: check

check-unit: wanted = unit
check-sim: wanted = sim
check-snippets: wanted = all snippets
check-programs: wanted = all paper test-programs memory-bugs
check-cases check-cli check-compat check-clang check-analyzer check-sanitize check-fuzz: wanted = all
check-unit check-sim check-snippets check-cases check-programs check-cli check-compat check-clang check-analyzer \
    check-sanitize \
	check-fuzz:
	@scripts/setup build check
	@$(build_with) $(wanted)
	@$(run_tests) $(@:check-%=%)

# Random correct programs: COUNT of them, from SEED on, each some RUNS times under the portfolio, and in other ways.
check-random:
	@scripts/setup build check
	@$(build_with) lib command random-programs
	@PCT_BUILD='$(B)' tests/random/run --count '$(or $(COUNT),10000)' --seed '$(or $(SEED),1000)' \
	    --runs '$(or $(RUNS),48)'
	@PCT_BUILD='$(B)' tests/random/source/run --count '$(or $(COMPILED),100)' --seed '$(or $(SEED),1000)' \
	    --runs '$(or $(RUNS),48)'

# Systematic exploration against brute force: PROGRAMS random programs, from FIRST on.
check-explore:
	@scripts/setup build check
	@$(build_with) $(B)/sim/test_explore
	@PROGRAMS='$(or $(PROGRAMS),5000)' FIRST='$(or $(FIRST),0)' ONLY=test_random_programs $(B)/sim/test_explore

# `pct script --all=dpor` against all choices: SCRIPTS random scripts of random programs, from FIRST on.
check-scripts:
	@scripts/setup build check
	@$(build_with) lib command compilers
	@PCT_BUILD='$(B)' tests/explored/scripts '$(or $(FIRST),0)' '$(or $(SCRIPTS),1000)'

# Programs whose numbers of classes are published; and the larger ones.
check-explore-counts:
	@scripts/setup build check
	@$(build_with) lib command compilers
	@PCT_BUILD='$(B)' tests/explored/counts all

# Explorations that are killed at KILLS random moments, and go on.
check-explore-kills:
	@scripts/setup build check
	@$(build_with) all
	@KILLS='$(or $(KILLS),200)' PCT_BUILD='$(B)' bats -f 'whenever it was killed' tests/cli/explore_file.bats

# What contracts of `pct demon` mean to the solver, against all states, in which the compiler says what holds: CONTRACTS
# random ones; the questions, POINTERS random ones along pointers.
check-demon:
	@scripts/setup build check
	@$(build_with) unit
	@SEED='$(or $(SEED),1)' CONTRACTS='$(or $(CONTRACTS),10000)' PCT_TEST=test_encoding \
	    $(B)/unit/test_demon_encoding
	@SEED='$(or $(SEED),1)' CONTRACTS='$(or $(POINTERS),2000)' $(B)/unit/test_demon_pointers

# The causes of the programs with known bugs, by rules; and RUNS runs of each of COUNT random correct programs, and of
# the corrected ones, of which no rule may speak.
check-diagnose:
	@scripts/setup build check
	@$(build_with) all random-programs $(B)/bench/accusations
	@status=0; PCT_BUILD='$(B)' tests/programs/diagnose || status=1; \
	PCT_BUILD='$(B)' tests/programs/accusations --runs '$(or $(RUNS),50)' --random '$(or $(COUNT),200)' || \
	status=1; exit $$status

# Restored runs against those by exec: RUNS of each program with known bugs, and of each of COUNT random ones; and
# against forked ones, while processes are killed and stopped.
check-restored:
	@scripts/setup build check
	@$(build_with) all paper memory-bugs test-programs random-programs
	@status=0; PCT_BUILD='$(B)' tests/programs/restored '$(or $(RUNS),300)' '$(or $(COUNT),100)' || status=1; \
	PCT_BUILD='$(B)' tests/programs/restored-killed 30000 || status=1; exit $$status

# HTML pages in Debian's Chromium, without a display.
check-browser:
	@scripts/setup build browser
	@$(build_with) all
	@$(run_tests) browser

# Replays under other tools and lldb.
check-checkers:
	@scripts/setup build check checkers
	@$(build_with) all
	@$(run_tests) checkers

# Real programs with all strategies and many seeds: compressors on 10 MB, and what tests/compat/programs lists. The
# suite itself takes a few seeds of the smaller ones. SEEDS=N: as many of each. Both run to their end, whatever fails.
check-real:
	@scripts/setup build check real
	@$(build_with) all
	@status=0; PCT_BUILD='$(B)' tests/programs/real --seeds '$(or $(SEEDS),200)' || status=1; \
	PCT_BUILD='$(B)' tests/compat/run --part real --seeds '$(or $(SEEDS),100)' \
		--ledger '$(B)/compat.ledger' --page '$(B)/COMPATIBILITY.md' || status=1; \
	echo 'docs/COMPATIBILITY.md as measured now: $(B)/COMPATIBILITY.md'; exit $$status

# Servers and compressors of Debian, patched in memory: each level, strategy and SEEDS seeds.
check-memory-real:
	@scripts/setup build check real
	@$(build_with) all
	@status=0; PCT_BUILD='$(B)' tests/compat/run --part real --memory 'atomics globals all' \
	    --seeds '$(or $(SEEDS),3)' \
		--page '$(B)/MEMORY-COMPATIBILITY.md' || status=1; \
	echo 'docs/experiments/MEMORY-COMPATIBILITY.md as measured now: $(B)/MEMORY-COMPATIBILITY.md'; exit $$status

# Source packages of Debian built by pct-cc, whose own tests run under pct, with SEEDS seeds.
check-packages:
	@scripts/setup build packages
	@$(build_with) command lib compilers
	@PCT_BUILD='$(B)' tests/packages/run --seeds '$(or $(SEEDS),1)'

# Shards of a campaign by GNU parallel, and by a Slurm that the test starts (root): examples/cluster.
check-cluster:
	@scripts/setup build cluster
	@$(build_with) lib command bugs
	@PCT_BUILD='$(B)' tests/cluster/run

# The projects in examples/, built and run as their users do.
check-integrations:
	@scripts/setup build integrations
	@$(build_with) command lib
	@PCT_BUILD='$(B)' tests/integrations/run

# Bugs planted in programs that are built from Debian's source packages. The suite itself takes pbzip2.
check-planted:
	@scripts/setup build check
	@$(build_with) lib command
	@PCT_BUILD='$(B)' tests/planted/run

# `make demo` and the suite on fresh Debian 12, 13 and sid (root), by gcc and clang: some hours.
check-distros:
	@scripts/setup distros
	@PCT_BUILD='$(B)' scripts/check-distros $(SUITES)

# The packages of `make deb` on fresh Debian 12 and 13 (root): built twice, lintian, installed, used, purged; 20
# minutes.
check-deb:
	@scripts/setup distros
	@PCT_BUILD='$(B)' scripts/check-deb $(SUITES)

# glibc's own tests of its threads, natively and under each strategy (docs/experiments/CONFORMANCE.md); takes some
# hours.
conformance: SEEDS = 3
conformance:
	@scripts/setup build conformance
	@$(build_with) lib command
	@PCT_BUILD='$(B)' tests/conformance/run -n '$(SEEDS)'

# The Open POSIX Test Suite, likewise; a quarter of an hour.
conformance-posix: SEEDS = 1
conformance-posix:
	@scripts/setup build conformance
	@$(build_with) lib command
	@PCT_BUILD='$(B)' tests/conformance/posix -n '$(SEEDS)'

# What only reads: it fails no test.
lint:
	@scripts/setup build check
	@$(build_with) lib command
	@$(run_tests) lint

bench: all bench-programs
	@if [ -x bench/run ]; then PCT_BUILD=$(B) bench/run; else echo 'make: bench/run is missing' >&2; exit 1; fi

# The experiments of the PCT paper, and every strategy on every program with a known bug; writes docs/experiments. Takes
# hours, and goes on where it was interrupted. PARTS, RUNS, JOBS, LOAD: bench/experiments/common.bash.
experiments:
	@scripts/setup build experiments
	@$(build_with) command lib bugs paper memory-bugs scale
	@PCT_BUILD='$(B)' bench/experiments/run $(PARTS)

# The bugs of bench/bugs made small, and what that takes.
minimized:
	@scripts/setup build
	@$(build_with) all
	@PCT_BUILD='$(B)' bench/minimize > docs/experiments/MINIMIZED.md.new && \
	    mv docs/experiments/MINIMIZED.md.new docs/experiments/MINIMIZED.md

# Data races of the programs with known bugs, by pct and by other tools; writes docs/RACES.md.
races:
	@scripts/setup build checkers
	@$(build_with) command lib compilers
	@PCT_BUILD='$(B)' bench/races > docs/RACES.md.new && mv docs/RACES.md.new docs/RACES.md

# Table 1 of the Concurrit paper: each exact script reaches its schedule in TIMES=1000 of this many runs.
concurrit:
	@scripts/setup build
	@$(build_with) command lib compilers
	@PCT_BUILD='$(B)' bench/concurrit/run

# Whole programs with --memory, beside libtsan, helgrind and drd: what they cost.
slowdown:
	@scripts/setup build check real checkers packages
	@$(build_with) command lib compilers
	@PCT_BUILD='$(B)' bench/slowdown | tee '$(B)/SLOWDOWN.md'

# Debian's packages, in $(B)/deb.
deb:
	@scripts/setup build deb
	@VERSION="$(version)" scripts/make-deb '$(B)/deb'

setup:
	@scripts/setup build check

docs:
	scripts/gen-intercepts > docs/INTERCEPTS.md.new && mv docs/INTERCEPTS.md.new docs/INTERCEPTS.md
	CC='$(CC)' scripts/gen-variables > docs/VARIABLES.md.new && mv docs/VARIABLES.md.new docs/VARIABLES.md
	scripts/gen-conformance > docs/experiments/CONFORMANCE.md.new && \
	    mv docs/experiments/CONFORMANCE.md.new docs/experiments/CONFORMANCE.md

.PHONY: install uninstall clean help completions
installed_headers := $(sort $(wildcard include/pct/*.h))
manuals := $(sort $(wildcard man/*.[1-8]))
completions := $(B)/installed/bash/pct $(B)/installed/zsh/_pct $(B)/installed/fish/pct.fish
completions: $(completions)
# All that is installed and its place below PREFIX, but for the pages and examples: $(call groups,install), $(call
# groups,remove).
groups = $(call $(1)_group,bin,755,$(B)/pct $(compilers) packaging/cargo/cargo-pct) \
	$(call $(1)_group,lib/pct,644,$(filter $(B)/lib%,$(B)/libpct.so $(runtime_parts))) \
	$(if $(pct_demon),$(call $(1)_group,lib/pct,755,$(pct_demon))) \
	$(call $(1)_group,lib/pct/tsan,644,$(takeovers) $(B)/tsan/libtsan_preinit.o $(handlers)) \
	$(call $(1)_group,include/pct,644,$(installed_headers)) \
	$(call $(1)_group,share/pct,644,$(debugger_scripts)) \
	$(call $(1)_group,share/pkgconfig,644,$(B)/installed/pct.pc) \
	$(call $(1)_group,share/cmake/pct,644,packaging/cmake/pctConfig.cmake $(B)/installed/pctConfigVersion.cmake) \
	$(call $(1)_group,share/bash-completion/completions,644,$(filter %/bash/pct,$(completions))) \
	$(call $(1)_group,share/zsh/site-functions,644,$(filter %/_pct,$(completions))) \
	$(call $(1)_group,share/fish/vendor_completions.d,644,$(filter %.fish,$(completions))) \
	$(foreach n,1 3 7,$(call $(1)_group,share/man/man$(n),644,$(filter %.$(n),$(manuals))))
installed_documents := README.md CHANGELOG.md LICENSE docs examples
place = $(DESTDIR)$(PREFIX)
# One page for all of them.
compiler_pages := $(patsubst %,%.1,$(filter-out pct-cc,$(compiler_names)))
own_places := share/pct share/cmake/pct include/pct lib/pct/tsan lib/pct
define install_group
	$(INSTALL) -d $(place)/$(1)
	$(INSTALL) -m $(2) $(3) $(place)/$(1)/

endef
define remove_group
	rm -f $(addprefix $(place)/$(1)/,$(notdir $(3)))

endef
install: lib command compilers completions $(B)/installed/pct.pc $(B)/installed/pctConfigVersion.cmake
	$(call groups,install)
	ln -sf ../libpct-tsan.so $(place)/lib/pct/tsan/libtsan.so
	for page in $(compiler_pages); do ln -sf pct-cc.1 $(place)/share/man/man1/$$page; done
	$(INSTALL) -d $(place)/share/doc/pct
	tar -c --mode=u=rwX,go=rX --exclude=build --exclude=target $(installed_documents) | \
	    tar -x --no-same-owner -C $(place)/share/doc/pct

uninstall:
	$(call groups,remove)
	rm -f $(place)/lib/pct/tsan/libtsan.so $(addprefix $(place)/share/man/man1/,$(compiler_pages))
	rm -rf $(addprefix $(place)/share/doc/pct/,$(installed_documents))
	-rmdir $(addprefix $(place)/,share/doc/pct $(own_places)) 2>/dev/null

clean:
	rm -rf $(B)

help:
	@echo 'all (the default)  the shim, the command, the example strategy, the programs with known bugs'
	@echo 'demo              find a bug and replay it; installs missing Debian packages first'
	@echo 'check             the whole test suite; installs missing Debian packages first'
	@echo 'check-full        the same, with all runs of what the suite makes a few of, and the sanitizers'
	@echo 'check-unit check-sim check-snippets check-cases check-programs check-cli check-compat    parts'
	@echo '                  of the suite'
	@echo 'lint              what only reads the sources: format, static analysis, shell scripts'
	@echo 'check-diagnose    the causes by rules of programs with known bugs; RUNS (50) runs of COUNT'
	@echo '                  (200) correct programs, accused of nothing'
	@echo 'check-browser     the HTML pages that pct writes, in Chromium (pictures: $(B)/browser);'
	@echo '                  installs it first'
	@echo 'check-checkers    replays under valgrind, sanitizers and lldb; installs them first'
	@echo 'check-real        real programs with SEEDS seeds of each strategy, which takes hours; installs'
	@echo '                  them first'
	@echo 'check-memory-real  servers and compressors with each level of --memory and SEEDS=3 seeds of'
	@echo '                   each strategy: an hour or more'
	@echo 'check-packages    source packages of Debian built by pct-cc: their own tests under pct;'
	@echo '                  installs what they need first'
	@echo 'check-cluster     campaigns in shards, by GNU parallel and by Slurm, on this machine; installs'
	@echo '                  them first'
	@echo 'check-integrations  the projects in examples/ with CTest, Meson, cargo, ...; installs these first'
	@echo 'check-planted     bugs planted in pbzip2, which is built from Debian'"'"'s source package'
	@echo 'check-clang check-analyzer check-sanitize check-fuzz  build all with clang; its static'
	@echo '                  analyzer; unit tests with sanitizers; the fuzzers (FUZZ_INPUTS=50000)'
	@echo 'check-random      random correct programs: COUNT=10000 of them, from SEED=1000 on, RUNS=48 of'
	@echo '                  each; COMPILED=100 that are compiled'
	@echo 'check-explore     systematic exploration against brute force: PROGRAMS=5000 random programs,'
	@echo '                  from FIRST=0 on'
	@echo 'check-demon       contracts of pct demon: what CONTRACTS=10000 random ones of SEED=1 mean to'
	@echo '                  the solver, against the compiler'
	@echo 'check-scripts     pct script --all=dpor against all choices: SCRIPTS=1000 random scripts, from'
	@echo '                  FIRST=0 on'
	@echo 'check-explore-counts  systematic exploration of programs whose numbers of classes are published'
	@echo 'check-explore-kills  explorations that are killed at KILLS=200 random moments, and go on'
	@echo "conformance       glibc's tests of its threads, natively and under each strategy with SEEDS=3 seeds"
	@echo "conformance-posix the Open POSIX Test Suite, likewise (SEEDS=1)"
	@echo 'bench             the measurements'
	@echo 'experiments       those of the PCT paper, and every strategy on every program with a known bug:'
	@echo '                  hours; writes docs/experiments;'
	@echo '                  PARTS (tables stealers coverage bugs depths) and RUNS (of each campaign) make'
	@echo '                  it shorter'
	@echo 'check-distros     make demo and the suite on fresh Debian 12, 13 and sid, gcc and clang, as'
	@echo '                  root; SUITES=sid:gcc:cases: only that'
	@echo "check-deb         Debian's packages on fresh Debian 12 and 13, as root: reproducible, lintian,"
	@echo "                  installed, used, purged; SUITES=trixie: only that"
	@echo 'minimized         minimize every program with a known bug; writes docs/experiments/MINIMIZED.md'
	@echo 'races             the data races of these programs, by pct, libtsan, helgrind and drd; writes'
	@echo '                  docs/RACES.md; installs valgrind first'
	@echo 'concurrit         table 1 of the Concurrit paper by pct script: exact scripts TIMES=1000 times,'
	@echo '                  searches up to LIMIT=10000; prints it'
	@echo 'slowdown          whole programs with --memory, beside libtsan, helgrind and drd: prints'
	@echo '                  tables; installs all of them first'
	@echo 'docs              write docs/INTERCEPTS.md, VARIABLES.md and experiments/CONFORMANCE.md anew'
	@echo '                  from the sources'
	@echo 'install uninstall PREFIX (now $(PREFIX)) and DESTDIR say where'
	@echo "deb               Debian's packages libpct0, pct and pct-doc, in $(B)/deb; installs debhelper first"
	@echo 'setup             install missing Debian packages'
	@echo 'clean             remove $(B)/'
	@echo 'Variables: V=1 shows commands, WERROR=1 ends at a warning, CC (now $(CC)), CFLAGS, LDFLAGS,'
	@echo '           SANITIZE=address,undefined, BUILD (now $(B))'

# --- Rules
# -------------------------------------------------------------------------------------------------------------
# quiet,WHAT prints one short line for each recipe; with V=1 make prints the commands instead.
Q := $(if $(filter 1,$(V)),,@)
quiet = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' '$(1)' '$@'; )

# Once for each build directory and compiler: name the packages that are missing, instead of "xxhash.h: No such file".
$(B)/tools: scripts/check-tools scripts/packages
	@mkdir -p $(@D)
	@CC='$(CC)' CXX='$(CXX)' scripts/check-tools && touch $@

# For the installed tree. The version's only place is cli/base/cli.h.
$(completions): $(B)/pct
	@mkdir -p $(@D)
	$(call quiet,GEN)$(B)/pct completion $(notdir $(@D)) > $@
version = $$(sed -n 's/^\#define PCT_CLI_VERSION "\(.*\)"/\1/p' cli/base/cli.h)
fill_in = sed -e 's,@PREFIX@,$(PREFIX),' -e "s,@VERSION@,$(version),"
$(B)/installed/pct.pc: packaging/pkgconfig/pct.pc.in cli/base/cli.h FORCE
	@mkdir -p $(@D)
	@$(fill_in) $< > $@
$(B)/installed/pctConfigVersion.cmake: packaging/cmake/pctConfigVersion.cmake.in cli/base/cli.h
	@mkdir -p $(@D)
	$(call quiet,GEN)$(fill_in) $< > $@

# Files that change when the flags, or the sources and which of them are in which library, change, so that everything
# (or every link) is made anew then.
.PHONY: FORCE
FORCE:
flags_now := $(CC) $(CXX) $(CFLAGS) $(LDFLAGS) $(sanitize) $(pct_cflags) $(includes) 2> said
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(flags_now)' | cmp -s - $@ || printf '%s\n' '$(flags_now)' > $@
linked = $(pct_objects) explore: $(explore_sources) demon: $(demon_sources) uncalled: $(uncalled)
$(B)/sources: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(linked)' | cmp -s - $@ || printf '%s\n' '$(linked)' > $@

$(B)/gen/libpct.map: preload/intercepts.def preload/io/streams.def preload/memory/memory.c \
    preload/memory/annotations.c preload/memory/entry.c preload/memory/channel.c preload/sync/program.c \
    scripts/gen-map scripts/rows.awk
	@mkdir -p $(@D)
	$(call quiet,GEN)scripts/gen-map > $@

common_prerequisites = $(B)/flags | $(B)/tools

# What the compiler says is kept beside the object: `make unwarned` need not compile again to know it.
keep_said = 2> $@.said; status=$$?; [ ! -s $@.said ] || cat $@.said >&2; exit $$status
$(B)/obj/%.o: %.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(pct_cflags) $(includes) $(CFLAGS) $(sanitize) $(depend) -c -o $@ $< $(keep_said)

# The page of `pct trace --format=html`: all but the trace, with the modules of d3 that it uses, in the order of their
# needs.
NODE_MODULES ?= /usr/share/nodejs
d3_modules := dispatch selection timer ease color interpolate transition drag zoom array collection format time \
    time-format \
	scale axis
timeline_sources := $(addprefix cli/trace/timeline/,page.html style.css timeline.js)
timeline_scripts := $(foreach m,$(d3_modules),$(NODE_MODULES)/d3-$(m)/dist/d3-$(m).min.js)
$(B)/gen/timeline-head.html: scripts/gen-timeline $(timeline_sources) | $(B)/tools
	@mkdir -p $(@D)
	$(call quiet,GEN)scripts/gen-timeline head $(timeline_scripts) > $@
$(B)/gen/timeline-tail.html: scripts/gen-timeline $(timeline_sources)
	@mkdir -p $(@D)
	$(call quiet,GEN)scripts/gen-timeline tail > $@

shells := $(patsubst %,$(B)/obj/cli/completion/%.o,bash zsh fish)
$(shells): $(B)/obj/cli/completion/%.o: cli/completion/walk.%

$(B)/obj/cli/trace/trace_export_html.o: $(B)/gen/timeline-head.html $(B)/gen/timeline-tail.html

# It runs while the vector registers hold the values of the program.
$(B)/obj/preload/patch/patch_event.o $(B)/obj/patch/emit.o $(B)/obj/sched/memory.o $(B)/obj/sched/progress.o \
    $(B)/obj/sched/races.o: pct_cflags += -mgeneral-regs-only

# Between fork and exec: what only the first call would look up, each child would look up anew.
$(B)/obj/cli/process/child_exec.o: override CFLAGS += -fno-plt

# It is what loops and calls of these functions are made into.
$(B)/obj/preload/core/bytes.o: override CFLAGS += -fno-builtin -fno-lto \
    $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)

# Hashing the trace is a loop over vectors.
$(B)/obj/sched/record.o: override CFLAGS += -O3

$(B)/libpct.so: $(call objects_of,$(shim_sources)) $(B)/gen/libpct.map preload/libpct.ld scripts/late-tables \
    $(B)/sources
	$(call quiet,LINK)$(CC) $(LDFLAGS) $(shim_ldflags) -o $@ $(filter %.o,$^)
	@scripts/late-tables $@

# Its accesses are those of the program's own instructions, sixteen bytes at once too (-mcx16, since 2004).
$(call objects_of,$(runtime_sources)): override CFLAGS += -mcx16
# Its calls of libc are what it is for.
$(B)/obj/runtime/strings.o $(B)/obj/preload/memory/strings.o: override CFLAGS += -fno-builtin

# It becomes part of other people's programs, whatever we are built with, and has no table of addresses but the
# loader's.
$(B)/obj/runtime/handlers.o: override CFLAGS += -O2 -g0 -fno-lto -fno-plt
$(handlers): $(B)/obj/runtime/handlers.o
	@mkdir -p $(@D)
	$(call quiet,COPY)cp $< $@

runtime_library := $(call objects_of,$(filter-out runtime/handlers.c,$(runtime_sources)))
runtime_ldflags := -shared -Wl,-z,now -Wl,--no-undefined
$(B)/libpct-tsan.so: $(runtime_library) $(B)/sources
	$(call quiet,LINK)$(CC) $(runtime_ldflags) -Wl,-soname,$(@F) $(LDFLAGS) -o $@ $(filter %.o,$^)
$(takeovers): $(runtime_library) $(B)/sources
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CC) $(runtime_ldflags) -Wl,-soname,$(@F) $(LDFLAGS) -o $@ $(filter %.o,$^)

# What explored runs find in the place of libc's allocator.
$(B)/libpct-explored.so: $(call objects_of,$(explored_sources)) $(B)/sources
	$(call quiet,LINK)$(CC) $(runtime_ldflags) -Wl,-soname,$(@F) $(LDFLAGS) -o $@ $(filter %.o,$^)

# The thread that --demon adds to a program.
$(B)/libpct-demon.so: $(call objects_of,$(demon_sources)) $(B)/sources
	$(call quiet,LINK)$(CC) $(runtime_ldflags) -Wl,-soname,$(@F) $(LDFLAGS) -o $@ $(filter %.o,$^)

# Lua, and what a script may do: loaded into runs of `pct script` alone. Lua's archive is in it, so that a target with a
# Lua of its own has another one; what that would take from libc, and shall not, is runtime/script/libc.c.
LUA_INCLUDE ?= /usr/include/lua5.4
LUA_ARCHIVE ?= -l:liblua5.4.a
script_wraps := stdin stdout stderr time clock strcoll
$(call objects_of,$(script_sources)): override CFLAGS += -isystem $(LUA_INCLUDE)
$(B)/obj/runtime/script/lua.o: runtime/script/library.lua
$(B)/libpct-script.so: $(call objects_of,$(script_sources)) $(B)/sources
	$(call quiet,LINK)$(CC) $(runtime_ldflags) -Wl,-Bsymbolic -Wl,--exclude-libs,ALL \
	    $(script_wraps:%=-Wl,--wrap=%) \
		-Wl,-soname,$(@F) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LUA_ARCHIVE) -lm

# What gcc links under -fsanitize=thread, where it looks for it with -B.
$(B)/tsan/libtsan.so:
	@mkdir -p $(@D)
	$(call quiet,GEN)ln -sf ../libpct-tsan.so $@
$(B)/tsan/libtsan_preinit.o: $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) -x c -c -o $@ /dev/null

$(compilers): scripts/pct-cc $(B)/include
	$(call quiet,GEN)$(INSTALL) -m 755 $< $@
# The headers for what they compile, wherever the build is.
$(B)/include:
	@mkdir -p $(@D)
	$(call quiet,GEN)ln -sfrn include $@
$(B)/share/%: cli/command/debug/%
	@mkdir -p $(@D)
	$(call quiet,COPY)cp $< $@

$(B)/pct: $(call objects_of,$(command_sources)) $(B)/sources
	$(call quiet,LINK)$(CC) $(sanitize) $(LDFLAGS) -o $@ $(filter %.o,$^) $(command_libs)

# Of the command, what writes reports and campaign files, and knows programs.
$(B)/pct-demon: $(call objects_of,$(demon_program_sources) $(sort $(wildcard common/*.c))) $(B)/cli.a $(B)/sources
	$(call quiet,LINK)$(CC) $(sanitize) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(command_libs) -lz3

# For the tests, which take from them what they need. The command's main() stays out; of a sanitized build, which is for
# the tests, so do other files that none of them calls.
uncalled := $(filter-out %/names.c %/ways.c %/neighbours.c %/schedules.c,$(wildcard $(addprefix cli/,\
	command/*.c completion/*.c export/*.c script/*.c analyze/*.c)))
tested := $(if $(SANITIZE),$(B)/tested.a,$(B)/cli.a)
$(B)/tested.a: $(call objects_of,$(filter-out $(uncalled),$(cli_sources))) $(B)/sources
$(B)/core.a: $(call objects_of,$(core_sources)) $(B)/sources
$(B)/cli.a: $(call objects_of,$(filter-out cli/command/main.c,$(cli_sources))) $(B)/sources
$(B)/core.a $(B)/cli.a $(B)/tested.a:
	$(call quiet,AR)rm -f $@ && $(AR) qcsD $@ $(filter %.o,$^)

link_test = $(CC) $(sanitize) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	-Wl,--as-needed -lcmocka $(1) -lm

$(B)/unit/%: $(B)/obj/tests/unit/%.o $(unit_helpers) $(test_support) $(B)/core.a $(tested)
	@mkdir -p $(@D)
	$(call quiet,LINK)$(call link_test,$(command_libs))

$(demon_tests): $(call objects_of,$(filter-out demon/main.c demon/attempt.c demon/campaign.c demon/run.c \
    demon/search.c demon/report.c demon/record.c demon/direct.c demon/emit.c demon/judge.c \
    demon/steps.c,$(demon_program_sources)))
$(demon_tests): command_libs += -lz3

# Of the shim, these files stand alone.
$(B)/unit/test_bpf: $(B)/obj/preload/core/bpf.o
$(B)/unit/test_family_memory: $(B)/obj/preload/time/family_slots.o
$(B)/unit/test_family_turns: $(call objects_of,$(addprefix preload/time/,family_turns.c family_known.c family_slots.c))
$(B)/unit/test_leave: $(B)/obj/preload/memory/leave.o
$(B)/unit/test_writes: $(B)/obj/preload/watchdog/writes.o

# Built by clang alone: make CC=clang BUILD=build/fuzz SANITIZE=address,undefined,fuzzer-no-link fuzzers
# With the folders that read what may be damaged, and those below them, alone.
$(B)/fuzz_%: $(B)/obj/tests/unit/fuzz_%.o $(call objects_of,$(sort $(wildcard common/*.c strategies/*.c cli/base/*.c \
    cli/binary/*.c cli/trace/*.c)))
	$(call quiet,LINK)$(CC) $(sanitize) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ -Wl,--as-needed $(command_libs)

# And the text of a script, on both sides.
$(B)/fuzz_script: $(call objects_of,cli/script/names.c cli/script/entered.c cli/script/stops.c \
    cli/process/scope_prepare.c $(addprefix runtime/script/,arena.c check.c line.c))
$(B)/fuzz_script: command_libs += $(LUA_ARCHIVE)

# What decides which runs `pct explore` and the systematic part of a campaign make knows of no processes: it is tested
# on the simulated host.
$(B)/explore.a: $(call objects_of,$(explore_sources)) $(B)/sources
	$(call quiet,AR)rm -f $@ && $(AR) qcsD $@ $(filter %.o,$^)

$(B)/sim/%: $(B)/obj/tests/sim/%.o $(sim_helpers) $(test_support) $(B)/core.a $(B)/explore.a
	@mkdir -p $(@D)
	$(call quiet,LINK)$(call link_test,)

# Programs that run under the shim: compiled as their users would compile them, and never sanitized. A source may name
# further flags in a line `/* build: FLAGS */`. Deprecated functions are wrapped too, so they must be tested too.
own_flags = $$(sed -n 's,.*/\* build: \(.*\) \*/.*,\1,p' $<)
program_c = $(CC) -std=gnu17 $(warnings) -Wno-deprecated-declarations -pthread -Iinclude -I.
program_cc = $(CXX) -std=gnu++20 $(warnings) -Wno-deprecated-declarations -pthread -Iinclude -I.

$(B)/bugs/%-fixed: bench/bugs/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g -DFIXED $(depend) -o $@ $< $(own_flags)
$(B)/bugs/%: bench/bugs/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g $(depend) -o $@ $< $(own_flags)
$(B)/bugs/%-fixed: bench/bugs/%.cc $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_cc) -O1 -g -DFIXED $(depend) -o $@ $< $(own_flags)
$(B)/bugs/%: bench/bugs/%.cc $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_cc) -O1 -g $(depend) -o $@ $< $(own_flags)

# Not inlined: where functions begin are the points of `pct demon`.
$(B)/demon/%-threads-fixed: bench/demon/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O0 -g -DTHREADS -DFIXED $(depend) -o $@ $<
$(B)/demon/%-threads: bench/demon/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O0 -g -DTHREADS $(depend) -o $@ $<
$(B)/demon/%-fixed: bench/demon/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O0 -g -DFIXED $(depend) -o $@ $<
$(B)/demon/%: bench/demon/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O0 -g $(depend) -o $@ $<

$(B)/paper/%-fixed: bench/paper/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g -DFIXED $(depend) -o $@ $< $(own_flags)
$(B)/paper/%: bench/paper/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g $(depend) -o $@ $< $(own_flags)
instrumented = -std=gnu17 $(warnings) -O1 -g -pthread $(depend) -o $@ $<
# The queue without calls at its accesses: pct-cc tells of them.
$(B)/paper/wsq-memory-fixed: bench/paper/wsq.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-cc -DFIXED -I. $(instrumented)
$(B)/paper/wsq-memory: bench/paper/wsq.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-cc -I. $(instrumented)
$(B)/bugs-memory/clang-%-fixed: bench/bugs-memory/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-clang -DFIXED $(instrumented)
$(B)/bugs-memory/clang-%: bench/bugs-memory/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-clang $(instrumented)
$(B)/bugs-memory/%-fixed: bench/bugs-memory/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-cc -DFIXED $(instrumented)
$(B)/bugs-memory/%: bench/bugs-memory/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-cc $(instrumented)

$(B)/scale/plain-%-fixed: bench/scale/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g -DFIXED $(depend) -o $@ $< $(own_flags)
$(B)/scale/plain-%: bench/scale/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g $(depend) -o $@ $< $(own_flags)
$(B)/scale/%-fixed: bench/scale/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-cc -DFIXED $(instrumented)
$(B)/scale/%: bench/scale/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-cc $(instrumented)

# The programs of bench/bugs-memory as anybody would compile them: for the patcher.
$(B)/bugs-plain/%-fixed: bench/bugs-memory/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g -DFIXED $(depend) -o $@ $< $(own_flags)
$(B)/bugs-plain/%: bench/bugs-memory/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g $(depend) -o $@ $< $(own_flags)

$(B)/snippets/every/last_object.o: tests/snippets/every/last_object.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,CC)$(program_c) -O1 -g $(depend) -c -o $@ $<
$(B)/snippets/%: tests/snippets/%.c $(B)/snippets/every/last_object.o $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g $(depend) -o $@ $< $(B)/snippets/every/last_object.o $(own_flags)
$(B)/snippets/%: tests/snippets/%.cc $(B)/snippets/every/last_object.o $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_cc) -O1 -g $(depend) -o $@ $< $(B)/snippets/every/last_object.o $(own_flags)

# It tells of its memory accesses.
$(B)/programs/told-%: tests/programs/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-cc $(instrumented)
$(B)/programs/%: tests/programs/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O1 -g $(depend) -o $@ $< $(own_flags)
$(B)/programs/%: tests/programs/%.cc $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_cc) -O1 -g $(depend) -o $@ $< $(own_flags)

# It calls strategies directly.
$(B)/bench/pick: bench/pick.c $(call objects_of,$(sort $(wildcard strategies/*.c))) $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) $(includes) -O2 -g $(depend) -o $@ $(filter %.c %.o,$^)

# What the command writes with.
$(B)/bench/store $(B)/bench/iroots $(B)/bench/directed $(B)/bench/nodes $(B)/bench/accusations \
    $(B)/bench/maple/measure: $(B)/bench/%: bench/%.c $(B)/cli.a $(B)/core.a $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) $(includes) -O2 -g $(depend) -o $@ $(filter %.c,$^) -Wl,--start-group \
	    $(filter %.a,$^) \
		-Wl,--end-group -Wl,--as-needed $(command_libs)

# The simulated host of the tests.
$(B)/bench/schedules: bench/schedules.c $(sim_helpers) $(B)/core.a $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) $(includes) -O2 -g $(depend) -o $@ $(filter %.c %.o %.a,$^)

# The same programs several times: plain, telling pct of their accesses, with the sanitizer's own library, and with the
# least that could be called.
events_c = -std=gnu17 -O2 -g -pthread -Iinclude -I. $(depend) -o $@ $<
$(B)/bench/%-pct-cc: bench/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-cc $(events_c)
$(B)/bench/%-pct-clang: bench/%.c $(compilers) $(runtime_parts)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(B)/pct-clang $(events_c)
$(B)/bench/%-tsan: bench/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)gcc -fsanitize=thread $(events_c)
$(B)/bench/%-clang: bench/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)clang $(events_c)
$(B)/bench/%-clang-tsan: bench/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)clang -fsanitize=thread $(events_c)

# Called in a library, as the prototype's were.
$(B)/bench/floor/handlers-empty.so: EVENT := -DEMPTY
$(B)/bench/floor/handlers-%.so: bench/floor/handlers.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CC) -O2 -fPIC -shared $(EVENT) -o $@ $<
handlers_program = @mkdir -p $(@D); $(1) -fsanitize=thread -c $(subst $@,$@.o,$(events_c)) && \
    gcc -pthread -o $@ $@.o $(B)/bench/floor/handlers-$(2).so -Wl,-rpath,$(abspath $(@D)/floor)
$(B)/bench/%-clang-counter: bench/%.c $(B)/bench/floor/handlers-counter.so
	$(call handlers_program,clang,counter)
$(B)/bench/%-counter: bench/%.c $(B)/bench/floor/handlers-counter.so
	$(call handlers_program,gcc,counter)
$(B)/bench/%-empty: bench/%.c $(B)/bench/floor/handlers-empty.so
	$(call handlers_program,gcc,empty)

$(B)/bench/%: bench/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_c) -O2 -g $(depend) -o $@ $< $(own_flags)
$(B)/bench/%: bench/%.cc $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,PROG)$(program_cc) -O2 -g $(depend) -o $@ $< $(own_flags)

# The interpreter of random programs, without C++ and with it.
random_objects := $(patsubst tests/random/%.c,$(B)/random/%.o,$(sort $(wildcard tests/random/*.c)))
random_cxx_objects := $(patsubst tests/random/%.cc,$(B)/random/%.o,$(sort $(wildcard tests/random/*.cc)))
$(B)/random/%.o: tests/random/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,CC)$(program_c) -D_GNU_SOURCE -O1 -g $(depend) -c -o $@ $<
$(B)/random/%.o: tests/random/%.cc $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,CC)$(program_cc) -O1 -g $(depend) -c -o $@ $<
$(B)/random/random-c: $(random_objects)
	$(call quiet,LINK)$(CC) -pthread -o $@ $^ -luring
$(B)/random/random-cxx: $(random_objects) $(random_cxx_objects)
	$(call quiet,LINK)$(CXX) -pthread -o $@ $^ -luring
# What prints such programs as source code.
random_source_objects := $(patsubst tests/random/source/%.c,$(B)/random/source/%.o,$(sort \
    $(wildcard tests/random/source/*.c)))
$(B)/random/source/%.o: tests/random/source/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,CC)$(program_c) -O1 -g $(depend) -c -o $@ $<
$(B)/random/random-source: $(random_source_objects)
	$(call quiet,LINK)$(CC) -o $@ $^

# An out-of-tree strategy sees the public headers and nothing else.
$(B)/examples/%.so: examples/strategy/%.c $(common_prerequisites)
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CC) -std=gnu17 $(warnings) -O2 -g -fPIC -shared -Iinclude $(depend) -o $@ $<

# The objects of tests stay: they are intermediate files only by name.
.SECONDARY:

-include $(addsuffix .d,$(pct_objects) $(call objects_of,$(demon_program_sources)) $(test_support) $(bugs) $(paper) \
    $(examples) \
	$(memory_bugs) $(memory_bugs_clang) $(scale) $(bench_programs) $(snippets) $(test_programs) $(random_objects) \
	$(random_source_objects) $(random_cxx_objects) $(patsubst tests/%.c,$(B)/obj/tests/%.o,$(wildcard \
	tests/unit/*.c tests/sim/*.c)))
