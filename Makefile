# Needs Go, git and a POSIX shell; every other tool is pinned here and fetched by
# `go run`. A C compiler is optional: with one, tests run under the race detector.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

GO      ?= go
PKG     ?= ./...
TIMEOUT ?= 10m
FUZZTIME ?= 10s
BENCH   ?= .
SEEDS   ?= 2000
PROFILE ?= all
CHAOS_FOR ?= 20m
# 1: says what is not tested where the Lambda emulator cannot be installed; require: fails.
FUNCTIONS ?= 1

# From the toolchain in use, so that all formatting is of one version.
GOFMT = "$$($(GO) env GOROOT)/bin/gofmt"

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo build test verify format tidy vet staticcheck rules costs cross fix bench cover fuzz sim mutants model chaos demo-lambda test-functions rename clean

help: ## list the targets
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-13s %s\n", $$1, $$2 }'

demo: build ## build the tool and let it show an election; ARGS="--fast --json" are passed on
	@bin/elect demo $(ARGS)

build: ## build the command line tool into bin/
	$(GO) build -o bin/elect ./cmd/elect

# Whether the compiler works is found out by using it: a machine may have one
# without the C library's headers. PKG="./core/..." tests a part.
test: ## run all tests, with -race where a C compiler exists (PKG=./... TIMEOUT=10m TESTFLAGS=)
	@race=; \
	if cc=$$($(GO) env CC) && ! command -v "$${cc%% *}" >/dev/null 2>&1 || [ "$$($(GO) env CGO_ENABLED)" != 1 ]; then \
		echo "no C compiler found: tests run without -race"; \
	elif ! $(GO) build -race runtime/cgo >/dev/null 2>&1; then \
		echo "the C compiler cannot build for the race detector: tests run without -race"; \
	else race=-race; fi; \
	set -x; $(GO) test $$race -timeout $(TIMEOUT) $(TESTFLAGS) $(PKG)

# Cheap checks first. Each is a target of its own: `make staticcheck` repeats one.
verify: format tidy rules vet staticcheck costs cross ## check everything that CI checks, without the tests
	@echo "verify: all checks passed"

format: ## check that the code is formatted with gofmt
	@files=$$($(GOFMT) -l .) || exit 1; \
	if [ -n "$$files" ]; then printf '%s\n' "$$files"; echo "not formatted: run make fix"; exit 1; fi

tidy: ## check that go.mod and go.sum are tidy
	@$(GO) mod tidy -diff || { echo "go.mod or go.sum is not tidy: run make fix"; exit 1; }

rules: ## check imports, package comments, links and forbidden things (CHECKS="imports links")
	$(GO) run ./internal/verify/cmd $(CHECKS)

vet: ## run go vet, tests included
	$(GO) vet ./...

staticcheck: ## run staticcheck
	$(GO) run $(STATICCHECK) ./...

# Tests that count allocations: the race detector, which make test uses, allocates itself.
costs: ## count the allocations that the documents promise
	$(GO) test -run '^TestAllocations' ./core

# vet compiles the tests too. The system it runs on costs nothing here: vet has built it.
cross: ## build for Linux, macOS and Windows
	@set -e; for os in linux darwin windows; do \
		echo "GOOS=$$os $(GO) build ./..."; GOOS=$$os $(GO) build -buildvcs=false ./...; \
	done
	GOOS=windows $(GO) vet ./...

fix: ## repair what can be repaired: go fix, gofmt, go mod tidy
	$(GO) fix ./...
	$(GOFMT) -w .
	$(GO) mod tidy

bench: ## run the benchmarks (BENCH=pattern)
	@dirs=$$(find . -name '*_test.go' ! -path '*/testdata/*' -exec grep -l '^func Benchmark' {} + | sed 's|/[^/]*$$||' | sort -u); \
	if [ -z "$$dirs" ]; then echo "there are no benchmarks"; exit 0; fi; \
	set -x; $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $$dirs

cover: ## run all tests and write build/cover.html
	@mkdir -p build
	$(GO) test -timeout $(TIMEOUT) -coverpkg=./... -coverprofile=build/cover.out $(PKG)
	@$(GO) tool cover -html=build/cover.out -o build/cover.html
	@$(GO) tool cover -func=build/cover.out | tail -n 1
	@echo "build/cover.html shows it line by line"

# go test runs one fuzz test of one package at a time, so they take turns.
fuzz: ## run every fuzz test for FUZZTIME=10s
	@mkdir -p build
	@$(GO) test -list '^Fuzz' $(PKG) >build/fuzz.list || { cat build/fuzz.list; exit 1; }
	@awk '/^Fuzz/ { name[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }' build/fuzz.list >build/fuzz.todo
	@if [ ! -s build/fuzz.todo ]; then echo "there are no fuzz tests"; fi
	@while read -r pkg name; do \
		echo "$$pkg $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null || exit 1; \
	done <build/fuzz.todo

sim: ## simulate fleets in true time (SEEDS=2000 PROFILE=all)
	@case '$(SEEDS)' in ''|*[!0-9]*) echo "SEEDS=$(SEEDS): say how many runs, for instance SEEDS=2000" >&2; exit 2;; esac
	$(GO) test ./core/internal/sim -run '^TestSim$$' -timeout 2h -v -sim.seeds $(SEEDS) -sim.profile $(PROFILE)

mutants: ## break the engine on purpose, and show that the tests notice (ARGS="-only NAME -v")
	$(GO) run ./core/internal/mutants/cmd $(ARGS)

model: ## check the model of the protocol with spin (MODELFLAGS=-quick is what CI runs)
	$(GO) run ./core/internal/model/cmd $(MODELFLAGS)

chaos: ## kill, freeze and cut off real processes on all three stores (CHAOS_FOR=20m ARGS="-seed 7")
	$(GO) build -tags chaos -o bin/elect-chaos ./cmd/elect
	$(GO) build -o bin/chaos ./cmd/elect/internal/chaos/cmd
	@bin/chaos -elect bin/elect-chaos -for $(CHAOS_FOR) $(ARGS)

demo-lambda: ## show the deployed programs: triggered twice, killed, frozen, told to stop
	@$(GO) build -o bin/demo-lambda ./functions/cmd/demo
	@bin/demo-lambda

test-functions: ## test the deployed programs as processes, under the Lambda runtime emulator
	CLOUDELECT_FUNCTIONS=$(FUNCTIONS) $(GO) test -p 1 -timeout 30m ./functions/cmd/...

rename: ## give the module another path: MODULE=example.com/elections
	@if [ -z '$(MODULE)' ]; then echo "say the new module path: make rename MODULE=example.com/elections" >&2; exit 2; fi
	@$(GO) run ./internal/verify/rename '$(MODULE)'
	$(GO) build ./...

clean: ## remove bin/ and build/
	rm -rf bin build
