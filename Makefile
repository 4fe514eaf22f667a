# make check   everything that CI runs; installs what the tests need (as root on Debian)
# make build   the program, as it is released
# make demo    see it work, without a key or a network
# make bench   the program's speed against its limits; exits 1 when one is missed
# make docs    the reference pages;  make generate   the lists of implementations
# make format  gofumpt over the sources

.PHONY: build check setup bench docs generate demo format

build:
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o hermes ./cmd/hermes

check:
	@scripts/check

setup:
	@scripts/setup

format:
	find . -name '*.go' -not -path './.*' -print0 | xargs -0 go tool gofumpt -w

generate:
	go generate ./...

docs:
	go run ./internal/docgen

demo:
	go run ./cmd/hermes demo

bench:
	go run ./bench
