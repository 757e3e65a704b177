# Perdure. `make run` and `make check` do everything; `make help` lists the targets.
ROOMS   := base proto store struct types commands server
BUILD   ?= build
CC      ?= cc
CLANG   ?= clang-14
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
LDFLAGS ?=
EXTRA   ?=
ARGS    ?=
# V=1 shows the commands.
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-5s %s\n' $(1) $(patsubst $(BUILD)/%,%,$@))

# As many jobs as processors, where the caller did not say.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
MAKEFLAGS += --no-print-directory

# Sanitizer builds bring their own malloc.
PKGS    := libpmemobj libpmem libuv $(if $(filter -DPERDURE_NO_JEMALLOC,$(EXTRA)),,jemalloc) liblz4 libxxhash libcrypto
WARN    := -std=c17 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
WCONV   := -Wconversion -Wno-sign-conversion
# Asked once, and only when something is compiled.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $$(PKGS)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $$(PKGS)) -lm -lpthread)$(PKG_LIBS)
ALL_CFLAGS = $(WARN) $(CFLAGS) $(EXTRA) -Isrc $(PKG_CFLAGS) -MMD -MP
# Tests link rooms of their own: assertions and fault points are on.
DBG     := $(BUILD)/dbg
DEBUG   := -DPERDURE_DEBUG -DPERDURE_FAULTS

UTILS   := $(patsubst utils/%.c,$(BUILD)/%,$(wildcard utils/*.c))
UNIT    := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*/test_*.c))
CRASH   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/crash/*.c)) $(BUILD)/tests/crash/disk.so
CLIENT  := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/client/*.c))
ORACLE  := $(if $(wildcard tests/oracle/*.c),$(BUILD)/tests/oracle/oracle)
FUZZ    := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
SERVER  := $(if $(wildcard src/main.c),$(BUILD)/perdure-server)
RUN     := tests/run/run --build $(BUILD)

all: $(SERVER) $(UTILS)

# ---- objects and archives: one archive a room, in two trees (as released, and for tests) ----

define room_rules
$(1)_SRC := $$(wildcard src/$(1)/*.c)
$(BUILD)/lib$(1).a: $$($(1)_SRC:src/%.c=$(BUILD)/%.o)
	@mkdir -p $$(@D); rm -f $$@; ar rcs $$@ $$^
$(DBG)/lib$(1).a: $$($(1)_SRC:src/%.c=$(DBG)/%.o)
	@mkdir -p $$(@D); rm -f $$@; ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room_rules,$(r))))

$(BUILD)/store/%.o $(BUILD)/struct/%.o $(DBG)/store/%.o $(DBG)/struct/%.o: ALL_CFLAGS += $(WCONV)
$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@
$(DBG)/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(DEBUG) -c $< -o $@

# ---- programs: each links the rooms up to its own ----

upto = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
dbg_upto = $(foreach r,$(call upto,$(1),$(ROOMS)),$(DBG)/lib$(r).a)
group = -Wl,--start-group $(filter %.a,$^) -Wl,--end-group
MAIN_OBJ := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/*.c))
LIBS := $(foreach r,$(ROOMS),$(BUILD)/lib$(r).a)

$(BUILD)/perdure-server: $(MAIN_OBJ) $(LIBS)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) $(MAIN_OBJ) $(group) $(LDFLAGS) $(PKG_LIBS) -o $@

$(UTILS): $(BUILD)/%: utils/%.c $(LIBS)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $< $(group) $(LDFLAGS) $(PKG_LIBS) -o $@

define test_rules
$(BUILD)/tests/unit/$(1)/%: tests/unit/$(1)/%.c $$(call dbg_upto,$(1))
	@mkdir -p $$(@D)
	$$(call say,LINK)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(DEBUG) -Itests $$< $$(group) $$(LDFLAGS) -lcmocka $$(PKG_LIBS) -o $$@
endef
$(foreach r,$(ROOMS),$(eval $(call test_rules,$(r))))

$(BUILD)/tests/crash/%: tests/crash/%.c $(call dbg_upto,commands)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(DEBUG) -Itests $< $(group) $(LDFLAGS) -lhiredis $(PKG_LIBS) -o $@

# A disk that fails on demand, for LD_PRELOAD.
$(BUILD)/tests/crash/disk.so: tests/crash/preload/disk.c
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(WARN) -Wno-missing-prototypes -O1 -g -MMD -MP -shared -fPIC $< -ldl -o $@

# Clients know nothing of the server but its protocol.
$(BUILD)/tests/client/%: tests/client/%.c
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(filter-out -Wshadow,$(WARN)) $(CFLAGS) -MMD -MP $< $(LDFLAGS) -lhiredis -luv -o $@

$(BUILD)/tests/oracle/oracle: $(wildcard tests/oracle/*.c tests/oracle/*.h)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(WARN) $(CFLAGS) $(filter %.c,$^) $(LDFLAGS) -o $@

# Fuzzers: rooms compiled anew by clang with coverage and sanitizers.
FUZZ_FLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined $(DEBUG) -DPERDURE_NO_JEMALLOC
FUZZ_SRC := $(foreach r,$(call upto,types,$(ROOMS)),$(wildcard src/$(r)/*.c))
FUZZ_OBJ := $(FUZZ_SRC:src/%.c=$(BUILD)/fuzz/%.o)
$(BUILD)/fuzz/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CLANG) $(filter-out -Werror,$(WARN)) -Wno-unknown-warning-option $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link \
		-Isrc $(PKG_CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CLANG) $(filter-out -Werror,$(WARN)) -Wno-missing-prototypes $(FUZZ_FLAGS) -fsanitize=fuzzer -Isrc -Itests \
		$(PKG_CFLAGS) $< $(FUZZ_OBJ) $(filter-out -ljemalloc,$(PKG_LIBS)) -o $@

# ---- what people ask for ----

run: ## install what is missing, build, start the server on port 6379 (ARGS="--port 7000" adds arguments)
	@deps/install build
	@$(MAKE) $(BUILD)/perdure-server
	@exec $(BUILD)/perdure-server $(ARGS)

check: ## install what is missing, build, run every test
	@deps/install build test
	@$(MAKE) check-programs
	@$(SAN) check-sanitized
	@$(RUN) crash unit lint client tcl oracle fuzz --build $(BUILD)/asan --short crash unit tcl

check-programs: all $(UNIT) $(CRASH) $(CLIENT) $(ORACLE) $(FUZZ)
check-sanitized: all $(UNIT) $(CRASH)

test-unit: $(UNIT) ## unit tests of every room
	@$(RUN) unit

test-tcl: $(SERVER) $(UTILS) ## the Tcl suite, on both media
	@$(RUN) tcl

test-crash: $(SERVER) $(UTILS) $(CRASH) ## simulated power loss, process death, media faults
	@$(RUN) crash

test-client: $(SERVER) $(CLIENT) ## a real client library against the server
	@$(RUN) client

test-oracle: $(SERVER) $(ORACLE) ## random commands, compared with redis-server (SEED=n RUNS=n)
	@$(RUN) oracle

# make test-one T=tests/unit/struct/test_hx | T=tests/tcl/multi.tcl [ARGS="--only 'pattern'"]
ifneq ($(filter %.tcl,$(T)),)
test-one: $(SERVER) $(UTILS) ## one test, with all it prints: T=tests/unit/struct/test_hx or T=tests/tcl/multi.tcl
	@PERDURE_BUILD=$(BUILD) tclsh tests/tcl/run.tcl $(ARGS) $(T)
else
test-one: $(BUILD)/$(T)
	@PERDURE_BUILD=$(BUILD) $(BUILD)/$(T) $(ARGS)
endif

lint: $(foreach r,$(ROOMS),$(DBG)/lib$(r).a) ## layers, sizes, names, banned calls, headers
	@tests/lint/lint $(DBG)

format: ## clang-format over files changed since the last commit (F="files" for others)
	@tests/lint/format $(F)

# Sanitizer builds, in trees of their own, run the unit, Tcl and crash tests.
SAN := $(MAKE) BUILD=$(BUILD)/asan EXTRA=-DPERDURE_NO_JEMALLOC LDFLAGS="-fsanitize=address,undefined" \
	CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
UBSAN := $(MAKE) BUILD=$(BUILD)/ubsan LDFLAGS="-fsanitize=undefined" \
	CFLAGS="-O2 -g -fsanitize=undefined -fno-sanitize-recover=undefined"
asan: ## the unit, Tcl and crash tests under the address and undefined-behaviour sanitizers
	@$(SAN) check-sanitized
	@tests/run/run --build $(BUILD)/asan --short unit tcl crash
ubsan: ## the same under the undefined-behaviour sanitizer alone (with jemalloc)
	@$(UBSAN) check-sanitized
	@tests/run/run --build $(BUILD)/ubsan --short unit tcl crash

fuzz: $(FUZZ) ## the fuzzers, FUZZ_TIME seconds each (60)
	@FUZZ_TIME=$${FUZZ_TIME:-60} $(RUN) fuzz

bench: $(SERVER) ## speed and memory against redis-server; results in tests/bench/results
	@deps/install test
	@PERDURE_BUILD=$(BUILD) tests/bench/run $(ARGS)

test-dax: all ## a real DAX file system, in a guest under qemu
	@deps/install dax
	@PERDURE_BUILD=$(BUILD) tests/dax/run

install: all ## into $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/perdure
	install -m 755 $(BUILD)/perdure-server $(DESTDIR)$(PREFIX)/bin/
	for u in $(notdir $(UTILS)); do install -m 755 $(BUILD)/$$u $(DESTDIR)$(PREFIX)/bin/perdure-$$u || exit 1; done
	install -m 644 $(wildcard utils/man/*.1) $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 redis.conf.example $(wildcard conf/*.conf) $(DESTDIR)$(PREFIX)/share/perdure/

clean: ## remove what was built (never a pool)
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | while IFS='	' read -r t d; do printf '  %-12s %s\n' "$$t" "$$d"; done

-include $(shell find $(BUILD) -mindepth 1 \( -name asan -o -name ubsan \) -prune -o -name '*.d' -print 2>/dev/null)
.SECONDARY:
.PHONY: all run check check-programs test-unit test-tcl test-crash test-client test-oracle test-one lint format asan ubsan \
	check-sanitized fuzz bench test-dax install clean help
