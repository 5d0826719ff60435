# Everything a developer runs; `make help` lists it.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-10s %s\n", $$1, $$2}' Makefile

.PHONY: test
test: ## Run every test of every module.
	go test -race ./pkg/engine/... ./pkg/...

.PHONY: bench
bench: ## Run the benchmarks.
	go test -run '^$$' -bench . ./pkg/engine/...
