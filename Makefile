# `make help` lists the targets. What is built lies in build/; what is downloaded, and compiled
# objects worth keeping between clones, in the cache folder (DEEM_CACHE).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
export DEEM_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/deemster
export CCACHE_DIR ?= $(DEEM_CACHE)/ccache
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
CTEST_FLAGS := --output-on-failure --timeout 900 -j$(shell nproc)

# What the tests and benches find the model and llama.cpp's own programs by.
TEST_ENV = DEEM_MODEL="$$(tools/fetch-model)" DEEM_LLAMA_SERVER="$$(tools/fetch-llama)/bin/llama-server" \
  DEEM_LLAMA_BENCH="$$(tools/fetch-llama)/bin/llama-bench"

.PHONY: help demo build test test-real bench fuzz install lint format clean deps-test

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 18

demo: build ## install, build, fetch the model, ask it the bundled kit, show the report
	@DEEM_MODEL="$$(tools/fetch-model)" build/release/deem demo

build: ## install what is missing and build build/release/deem
	@tools/install-packages build engine
	@tools/build release

test: deps-test ## install, build and run every test
	@tools/build dev
	@tools/build asan checks
	@tools/build tsan checks
	@printf 'subdirs(dev asan tsan)\n' >build/CTestTestfile.cmake
	@DEEM_ORACLE_PYTHON="$$(tools/oracle-python)" $(TEST_ENV) ctest --test-dir build $(CTEST_FLAGS)

test-real: deps-test ## long: a second model (Gemma, under its own terms), every pair of planted faults, real servers (LiteLLM, vLLM, Ollama, …) and clients
	@tools/build dev
	@$(TEST_ENV) DEEM_MODEL_GEMMA="$$(tools/fetch-model gemma)" ctest --test-dir build/dev -L e2e $(CTEST_FLAGS)
	@DEEM_ALL_PAIRS=1 build/dev/doctor_test --gtest_filter='Planted.*' --gtest_brief=1
	@$(TEST_ENV) DEEM_PROGRAM="$(CURDIR)/build/dev/deem" tests/real/run

bench: ## measure speed against a rival or limit in the same run; print the ratios
	@tools/install-packages build engine bench
	@tools/fetch-llama --tools >/dev/null
	@tools/build bench
	@DEEM_ORACLE_PYTHON="$$(tools/oracle-python)" $(TEST_ENV) tools/bench

fuzz: ## run every fuzz target for FUZZ_SECONDS (60)
	@tools/install-packages build engine fuzz
	@tools/build fuzz fuzzers
	@tools/fuzz $(FUZZ_SECONDS)

install: build ## put deem and its shell completions under PREFIX (/usr/local)
	@cmake --install build/release --prefix "$(PREFIX)" --strip

lint: ## check the formatting of every source file
	@tools/install-packages lint
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 --dry-run --Werror

format: ## format every source file
	@tools/install-packages lint
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

clean: ## remove build/ (downloads stay in the cache folder)
	@rm -rf build

deps-test:
	@tools/install-packages build engine test browser
	@tools/npm-modules tests/browser >/dev/null
	@tools/fetch-llama --tools >/dev/null
	@tools/fetch-model >/dev/null
