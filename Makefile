# The same steps as .ci/run, one by one. Go alone is enough to build and test.
.PHONY: all build gen lint test test-purego test-race fuzz bench bench-cmp bench-pkg conformance ci

BENCH ?= .
COUNT ?= 6
PKG   ?= ./...

# The comparison with PyTorch: see docs/performance.md.
SUITE   ?= all
TORCH   ?= python3
THREADS ?= 1,$(shell getconf _NPROCESSORS_ONLN)

all: build test

build:
	go build ./...

gen: ## rewrite the generated files (zz_*)
	go generate ./...

lint: ## gofmt, vet, golangci-lint
	.ci/run gofmt vet lint

test:
	go test ./...

test-purego: ## without assembly
	.ci/run purego

test-race: ## packages with goroutines, under the race detector
	.ci/run race

FUZZTIME ?= 1m
FUZZ     ?=
fuzz: ## every fuzz target for a minute: make fuzz FUZZTIME=10m FUZZ=serialize
	FUZZTIME=$(FUZZTIME) FUZZ='$(FUZZ)' .ci/run fuzz

bench: ## our side of the comparison: make bench SUITE=gemm
	go run ./bench -suite $(SUITE)

bench-cmp: ## against PyTorch, in turns; rewrites the table of docs/performance.md: make bench-cmp TORCH=venv/bin/python
	go run ./bench -suite $(SUITE) -threads $(THREADS) -torch $(TORCH) -md docs/performance.md

bench-pkg: ## Go benchmarks of a package: make bench-pkg PKG=./ops/matmul BENCH=MatMul; compare two results with benchstat
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKG) | tee bench.new

conformance: ## compare with the golden data of PyTorch; needs the shared folder
	go test -count 1 $(patsubst %,./%/...,$(wildcard conformance internal/conformance))

ci: ## everything that must hold before a change lands
	.ci/run
