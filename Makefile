# The same steps as .ci/run, one by one. Go alone is enough to build and test.
.PHONY: all build gen lint test test-purego test-race bench bench-cmp conformance ci

BENCH ?= .
COUNT ?= 6
PKG   ?= ./...

all: build test

build:
	go build ./...

gen: ## rewrite the generated files (zz_*.go, *.s)
	go generate ./...

lint: ## gofmt, vet, golangci-lint
	.ci/run gofmt vet lint

test:
	go test ./...

test-purego: ## without assembly
	.ci/run purego

test-race: ## packages with goroutines, under the race detector
	.ci/run race

bench: ## make bench PKG=./ops/matmul BENCH=MatMul; the result is kept in bench.new
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKG) | tee bench.new

bench-cmp: ## compare with the last kept result: cp bench.new bench.old before the change
	go run golang.org/x/perf/cmd/benchstat@latest bench.old bench.new

conformance: ## compare with the golden data of PyTorch; needs the shared folder
	go test -count 1 $(patsubst %,./%/...,$(wildcard conformance internal/conformance))

ci: ## everything that must hold before a change lands
	.ci/run
