# A thin front of Meson and ninja.  What a newcomer types: `make demo`, `make test`.
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
SETUP ?= # options of meson setup: .ci/run has --werror
UNDER ?= # what the tests are run under: .ci/run has tools/bare-path
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

# Quiet when there is nothing to say; warnings and errors come through.
NINJA = ninja -C $(BUILD) --quiet | { grep -v '^ninja: no work to do' || true; }

.PHONY: all demo test test-arm64 check bench format install dist deb \
	setup clean help
.DEFAULT_GOAL := all

all: ## build build/assay
	@tools/setup build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) $(SETUP) >/dev/null || \
		{ cat $(BUILD)/meson-logs/meson-log.txt; exit 1; }
	@test ! -f $(BUILD)/setup-changed || \
		{ meson setup --reconfigure $(BUILD) >/dev/null && rm $(BUILD)/setup-changed; }
	@$(NINJA)

demo: ## build, then measure a bundled example
	@tools/setup build demo
	@$(MAKE) --no-print-directory all
	@tools/demo $(BUILD)

test: ## build and run all tests
	@tools/setup build demo test
	@$(MAKE) --no-print-directory all
	@$(UNDER) tools/run-tests $(BUILD)

test-arm64: ## build for aarch64 and run the tests of an emulated machine with a PMU (QEMU)
	@tools/setup build emulate
	@tests/arm64/run build-arm64

check: ## static checks: format, sizes, words, language, both compilers, linters
	@tools/setup build demo test check
	@tools/check

bench: all ## side by side with the tools it replaces (takes minutes)
	@tools/setup build demo test
	@bench/run $(BUILD)

format: ## lay out all C files with clang-format
	@tools/setup check
	@tools/files '*.c' '*.h' | xargs clang-format -i

install: all ## install below PREFIX (/usr/local), under DESTDIR
	@meson setup --reconfigure $(BUILD) -Dprefix=$(abspath $(PREFIX)) >/dev/null
	@$(NINJA)
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --quiet
	@echo "installed below $(DESTDIR)$(abspath $(PREFIX))"

dist: ## the source of HEAD as build-dist/assay-VERSION.tar.gz, the same bytes each time
	@tools/dist build-dist

deb: ## the Debian package of HEAD, in build-deb
	@tools/setup build release
	@tools/deb build-deb

setup: ## only install what is missing (ASSAY_NO_APT=1: only say what is)
	@tools/setup build demo test check

clean: ## remove the build directories
	rm -rf build build-*/

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do \
		printf 'make %-10s  %s\n' "$$name" "$$text"; done
