# How an Apache module of ours is made, with its tests and its fuzzers. The module's Makefile says its name and the
# libraries that it needs, and includes this. Nothing is written outside OUT.
#
#   make OUT=FOLDER [APXS=apxs] [SANITIZE=1]   FOLDER/mod_NAME.so
#   make OUT=FOLDER test                       tests of the core under ASan and UBSan (no Apache needed)
#   make OUT=FOLDER check-build                compiles all of it, runs nothing
#   make OUT=FOLDER fuzz-build                 the fuzzers, with clang's libFuzzer: FOLDER/fuzz/*
#   make OUT=FOLDER valgrind                   tests of the core under valgrind
#
# CC and CFLAGS_EXTRA are heeded. FOLDER is an absolute path; each way of building has its own folder below it.

ifndef OUT
$(error OUT is not set: say where to build, as in `make -C mod_$(name) OUT=/tmp/mod_$(name)`)
endif

APXS ?= apxs
CC ?= cc
FUZZ_CC ?= clang
SANITIZE ?= 0

shared := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
here := $(patsubst %/,%,$(dir $(abspath $(firstword $(MAKEFILE_LIST)))))
core := $(sort $(wildcard $(here)/core/*.c))
module := $(sort $(wildcard $(here)/module/*.c))
tests := $(sort $(wildcard $(here)/tests/*.c))
kit := $(sort $(wildcard $(shared)/*.c))
fuzzers := $(sort $(wildcard $(here)/fuzz/fuzz_*.c))
runner := $(here)/fuzz/run_corpus.c

warnings := -std=c11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wundef -Werror
sanitizers := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Where the checkout lies is in no file that is made, so that two of them make the same bytes.
placeless := -ffile-prefix-map=$(dir $(shared))=
common := $(warnings) -g $(placeless) -fPIC -fvisibility=hidden -I$(here)/core -MMD -MP
optimised := -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong

ifeq ($(SANITIZE),1)
kind := module-sanitized
module_flags := $(common) -O1 $(sanitizers)
else
kind := module
module_flags := $(common) $(optimised)
endif

# ---- the module ----

.PHONY: all test check-build fuzz-build valgrind clean
all: $(OUT)/mod_$(name).so

# Asked only when the module is built: the core's tests need no Apache. Warnings in Apache's headers are not ours.
apache_flags = $(shell $(APXS) -q CFLAGS | tr ' ' '\n' | grep -E '^-D|^-pthread' | tr '\n' ' ') $(shell $(APXS) -q EXTRA_CPPFLAGS) \
	-isystem $(shell $(APXS) -q INCLUDEDIR) -isystem $(shell $(APXS) -q APR_INCLUDEDIR) -isystem $(shell $(APXS) -q APU_INCLUDEDIR)

core_objects := $(patsubst $(here)/core/%.c,$(OUT)/$(kind)/core/%.o,$(core))
module_objects := $(patsubst $(here)/module/%.c,$(OUT)/$(kind)/module/%.o,$(module))

$(OUT)/$(kind)/core/%.o: $(here)/core/%.c
	@mkdir -p $(@D)
	$(CC) $(module_flags) $(CFLAGS_EXTRA) -c -o $@ $<

$(OUT)/$(kind)/module/%.o: $(here)/module/%.c
	@mkdir -p $(@D)
	$(CC) $(module_flags) $(apache_flags) $(CFLAGS_EXTRA) -c -o $@ $<

# Linked aside and renamed: a reader of OUT never sees half a module. The link
# depends on the kind, so that SANITIZE=1 after a build without it links anew.
$(OUT)/$(kind)/mod_$(name).so: $(core_objects) $(module_objects)
	$(CC) $(module_flags) $(CFLAGS_EXTRA) -shared -Wl,-z,now -o $@.part $^ $(libraries)
	mv $@.part $@

$(OUT)/mod_$(name).so: $(OUT)/$(kind)/mod_$(name).so FORCE
	cp $< $@.part
	mv $@.part $@

.PHONY: FORCE
FORCE:

# ---- tests of the core ----

test_flags := $(common) -I$(shared) -I$(here)/tests -I$(here)/fuzz
test_sources := $(core) $(tests) $(runner) $(fuzzers)
test_objects := $(patsubst $(here)/%.c,$(OUT)/tests/%.o,$(test_sources))
test_objects += $(patsubst $(shared)/%.c,$(OUT)/tests/kit/%.o,$(kit))
plain_objects := $(patsubst $(here)/%.c,$(OUT)/tests-plain/%.o,$(test_sources))
plain_objects += $(patsubst $(shared)/%.c,$(OUT)/tests-plain/kit/%.o,$(kit))

$(OUT)/tests/%.o: $(here)/%.c
	@mkdir -p $(@D)
	$(CC) $(test_flags) -O1 $(sanitizers) $(CFLAGS_EXTRA) -c -o $@ $<

$(OUT)/tests-plain/%.o: $(here)/%.c
	@mkdir -p $(@D)
	$(CC) $(test_flags) -O1 $(CFLAGS_EXTRA) -c -o $@ $<

$(OUT)/tests/kit/%.o: $(shared)/%.c
	@mkdir -p $(@D)
	$(CC) $(test_flags) -O1 $(sanitizers) $(CFLAGS_EXTRA) -c -o $@ $<

$(OUT)/tests-plain/kit/%.o: $(shared)/%.c
	@mkdir -p $(@D)
	$(CC) $(test_flags) -O1 $(CFLAGS_EXTRA) -c -o $@ $<

$(OUT)/core-tests: $(test_objects)
	$(CC) $(sanitizers) $(CFLAGS_EXTRA) -o $@ $^ $(libraries)

$(OUT)/core-tests-plain: $(plain_objects)
	$(CC) $(CFLAGS_EXTRA) -o $@ $^ $(libraries)

# The corpus, with all inputs that ever broke something, is part of the tests.
test: $(OUT)/core-tests
	$(OUT)/core-tests $(here)/fuzz/corpus

valgrind: $(OUT)/core-tests-plain
	valgrind --quiet --error-exitcode=9 --leak-check=full $(OUT)/core-tests-plain $(here)/fuzz/corpus

check-build: $(OUT)/core-tests $(OUT)/mod_$(name).so

# ---- fuzzers ----

fuzz_flags := $(common) -O1 -I$(shared) -I$(here)/fuzz $(sanitizers) -fsanitize=fuzzer-no-link
fuzz_objects := $(patsubst $(here)/%.c,$(OUT)/fuzz-objects/%.o,$(core))

$(OUT)/fuzz-objects/%.o: $(here)/%.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(fuzz_flags) $(CFLAGS_EXTRA) -c -o $@ $<

$(OUT)/fuzz/%: $(here)/fuzz/%.c $(fuzz_objects)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(filter-out -MMD -MP,$(fuzz_flags)) -DFUZZ_ALONE -fsanitize=fuzzer $(CFLAGS_EXTRA) -o $@ $^ $(libraries)

fuzz-build: $(patsubst $(here)/fuzz/%.c,$(OUT)/fuzz/%,$(fuzzers))

clean:
	rm -rf $(OUT)/module $(OUT)/module-sanitized $(OUT)/tests $(OUT)/tests-plain $(OUT)/fuzz-objects $(OUT)/fuzz \
		$(OUT)/core-tests $(OUT)/core-tests-plain $(OUT)/mod_$(name).so

.SECONDARY:
-include $(core_objects:.o=.d) $(module_objects:.o=.d) $(test_objects:.o=.d) $(plain_objects:.o=.d) $(fuzz_objects:.o=.d)
