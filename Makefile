# Everything a developer runs; `make help` lists it. Only run and test are needed
# to use the project; they want nothing but Go, git, make and gcc.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:

# Each module must stand alone: the workspace would hide a missing requirement.
export GOWORK := off
MODULES := pkg/engine pkg services

BUF_VERSION := v1.75.0
GOLANGCI_LINT_VERSION := v2.15.0
PROTOVALIDATE_VERSION := v1.2.2

# Tools are built outside the modules, whose requirements they would clash with.
# The stamp carries the version, so that a new one is built and an old one is not.
BUF := .bin/buf-$(BUF_VERSION)
GOLANGCI_LINT := .bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
LINT := $(CURDIR)/.bin/golangci-lint run --config $(CURDIR)/.golangci.yaml
PROTOVALIDATE := .build/protovalidate-$(PROTOVALIDATE_VERSION)

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-10s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## Build the program into .build/scoundrel.
	@go -C services build -o ../.build/scoundrel ./scoundrel/cmd/scoundrel

.PHONY: run
run: build ## Build and start everything: gRPC on 127.0.0.1:9090, data in ./data; ARGS are flags of serve.
	@exec .build/scoundrel serve $(ARGS)

.PHONY: test
test: ## Run every test of every module with the race detector.
	@failed=0
	for m in $(MODULES); do go -C $$m test -race ./... || failed=1; done
	exit $$failed

.PHONY: check
check: check-format check-generate check-breaking lint ## Check format, vet, lint, contracts, generated code, requirements and builds.
	@for m in $(MODULES); do
		go -C $$m build ./...
		go -C $$m mod tidy -diff
	done

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Vet and lint every module, import rules included.
	@failed=0
	for m in $(MODULES); do
		go -C $$m vet ./... || failed=1
		(cd $$m && $(LINT)) || failed=1
	done
	exit $$failed

.PHONY: check-format
check-format: $(BUF) $(PROTOVALIDATE)
	@files=$$(gofmt -l pkg services); [ -z "$$files" ] || { echo "not formatted, run make fix:"; echo "$$files"; exit 1; }
	.bin/buf format proto --diff --exit-code
	.bin/buf lint

# Generates beside the code in the tree, which a check must not change.
.PHONY: check-generate
check-generate: $(BUF) $(PROTOVALIDATE)
	@fresh=$$(mktemp -d)
	trap 'rm -rf "$$fresh"' EXIT
	.bin/buf generate --output "$$fresh"
	diff -r pkg/gen "$$fresh/pkg/gen" || { echo "generated code is stale, run make generate"; exit 1; }

# Compares the contracts with those where this branch left the main branch, the
# remote's if there is one: what came to main since then is not removed by a
# branch that lacks it. Where they are the same, as on main itself, it is their
# last change that is looked at.
.PHONY: check-breaking
check-breaking: $(BUF) $(PROTOVALIDATE)
	@main=$$(git rev-parse --verify --quiet origin/main || git rev-parse --verify --quiet main || true)
	base=$$(git merge-base HEAD "$$main" 2>/dev/null || echo "$$main")
	if [ -z "$$base" ] || ! git cat-file -e "$$base:proto" 2>/dev/null; then
		echo "no main branch with contracts: nothing to compare with"
		exit 0
	fi
	if git diff --quiet "$$base" -- proto && last=$$(git log -1 --format=%H "$$base" -- proto) && git cat-file -e "$$last^:proto" 2>/dev/null; then
		base=$$last^
	fi
	before=$$(mktemp -d)
	trap 'rm -rf "$$before"' EXIT
	git archive "$$base" buf.yaml proto | tar -x -C "$$before"
	mkdir -p "$$before/.build"
	cp -r .build/protovalidate "$$before/.build/"
	echo "contracts are compared with commit $$base"
	.bin/buf breaking --against "$$before"

.PHONY: fix
fix: $(BUF) $(PROTOVALIDATE) $(GOLANGCI_LINT) ## Mend what check can mend: format, requirements, generated code, simple findings.
	@gofmt -w pkg services
	.bin/buf format proto --write
	$(MAKE) generate
	left=0
	for m in $(MODULES); do
		go -C $$m mod tidy
		(cd $$m && $(LINT) --fix) || left=1
	done
	exit $$left

.PHONY: generate
generate: $(BUF) $(PROTOVALIDATE) ## Generate the Go code of the contracts.
	@.bin/buf generate

.PHONY: bench
bench: ## Run the benchmarks of every module.
	@for m in $(MODULES); do go -C $$m test -run '^$$' -bench . -benchmem -timeout 2h ./...; done

FUZZTIME ?= 10s

# Before 1.27 Go sometimes reports the end of FUZZTIME itself as a failure
# (golang/go#75804): nothing but that one line, where a real one names its input.
.PHONY: fuzz
fuzz: ## Run each fuzz test for FUZZTIME (10s).
	@log=$$(mktemp)
	trap 'rm -f "$$log"' EXIT
	for m in $(MODULES); do
		for dir in $$(cd $$m && go list -f '{{.Dir}}' ./...); do
			for target in $$(cat $$dir/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do
				go -C $$dir test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) . 2>&1 | tee "$$log" ||
					grep -qx '    context deadline exceeded' "$$log"
			done
		done
	done

.PHONY: clean
clean: ## Remove what was built; not ./data.
	rm -rf .bin .build

$(BUF):
	GOBIN=$(CURDIR)/.bin go install github.com/bufbuild/buf/cmd/buf@$(BUF_VERSION)
	touch $@

$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/.bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	touch $@

# buf/validate/validate.proto is not ours and not committed.
$(PROTOVALIDATE):
	mkdir -p .build/protovalidate/buf/validate
	dir=$$(go mod download -json github.com/bufbuild/protovalidate@$(PROTOVALIDATE_VERSION) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	install -m 644 "$$dir/proto/protovalidate/buf/validate/validate.proto" .build/protovalidate/buf/validate/
	touch $@
