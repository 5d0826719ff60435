# Everything a developer runs; `make help` lists it.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-10s %s\n", $$1, $$2}' Makefile

.PHONY: run
run: ## Build and start everything: gRPC on 127.0.0.1:9090, data in ./data.
	GOWORK=off go -C services build -o ../.build/scoundrel ./scoundrel/cmd/scoundrel
	exec .build/scoundrel serve

.PHONY: test
test: ## Run every test of every module.
	go -C pkg/engine test -race ./...
	go -C pkg test -race ./...
	go -C services test -race ./...

.PHONY: bench
bench: ## Run the benchmarks.
	go -C pkg/engine test -run '^$$' -bench . ./...

BUF_VERSION := v1.75.0
PROTOVALIDATE_VERSION := v1.2.2
export GOWORK := off

# The stamp carries the version, so that a new one is built and an old one is not.
.bin/buf-$(BUF_VERSION):
	GOBIN=$(CURDIR)/.bin go install github.com/bufbuild/buf/cmd/buf@$(BUF_VERSION)
	touch $@

.build/protovalidate-$(PROTOVALIDATE_VERSION):
	mkdir -p .build/protovalidate/buf/validate
	dir=$$(go mod download -json github.com/bufbuild/protovalidate@$(PROTOVALIDATE_VERSION) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	install -m 644 "$$dir/proto/protovalidate/buf/validate/validate.proto" .build/protovalidate/buf/validate/
	touch $@

.PHONY: generate
generate: .bin/buf-$(BUF_VERSION) .build/protovalidate-$(PROTOVALIDATE_VERSION) ## Generate the Go code of the contracts.
	.bin/buf lint
	.bin/buf generate
