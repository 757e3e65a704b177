# Perdure. `make run` and `make check` do everything; `make help` lists the targets.
ROOMS   := base proto store struct types commands server
BUILD   ?= build
CC      ?= cc
PKGS    := libpmemobj libpmem libuv jemalloc liblz4 libxxhash libcrypto
CFLAGS  ?= -O2 -g
LDFLAGS ?=
WARN    := -std=c17 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS))
PKG_LIBS   = $(shell pkg-config --libs $(PKGS)) -lm -lpthread
ALL_CFLAGS = $(WARN) $(CFLAGS) $(EXTRA) -Isrc $(PKG_CFLAGS) -MMD -MP
WCONV   := -Wconversion -Wno-sign-conversion

all: $(BUILD)/perdure-server

# One archive a room; a test or program links the rooms up to its own.
define room_rules
$(1)_SRC := $$(wildcard src/$(1)/*.c)
$(1)_OBJ := $$($(1)_SRC:src/%.c=$(BUILD)/%.o)
$(BUILD)/lib$(1).a: $$($(1)_OBJ)
	@rm -f $$@; ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room_rules,$(r))))

$(BUILD)/store/%.o $(BUILD)/struct/%.o: ALL_CFLAGS += $(WCONV)
$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

upto = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
libs_upto = $(foreach r,$(call upto,$(1),$(ROOMS)),$(BUILD)/lib$(r).a)

define test_rules
$(BUILD)/tests/unit/$(1)/%: tests/unit/$(1)/%.c $$(call libs_upto,$(1))
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_CFLAGS) -Itests $$< -Wl,--start-group $$(call libs_upto,$(1)) -Wl,--end-group $$(LDFLAGS) -lcmocka $$(PKG_LIBS) -o $$@
endef
$(foreach r,$(ROOMS),$(eval $(call test_rules,$(r))))

$(BUILD)/perdure-server: $(BUILD)/main.o $(foreach r,$(ROOMS),$(BUILD)/lib$(r).a)
	$(CC) $(CFLAGS) $(EXTRA) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDFLAGS) $(PKG_LIBS) -o $@

UNIT := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*/test_*.c))
test-unit: $(UNIT)
	@for t in $(UNIT); do $$t || exit 1; done

# make test-one T=tests/unit/struct/test_hx
test-one: $(BUILD)/$(T)
	$(BUILD)/$(T)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all test-unit test-one
