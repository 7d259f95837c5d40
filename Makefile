# The few commands people type. Each is one script in tools/, which runs on its own too.
#
#   make demo    a bare machine to a picture of fibre directions
#   make test    every check, in every language
#
# PREFIX is the folder of `make install`; CARGO_TARGET_DIR is respected.

PREFIX ?= $(CURDIR)/target/prefix
SHELL := /bin/bash
export PREFIX

.PHONY: help deps build install demo test hunt bench gpu-bundle dist dist-test docs clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

deps: ## install the tools a bare machine lacks (Debian packages, nvcc, Python packages)
	@tools/deps.sh

build: ## release build of the library and its package, in target/cmake
	@tools/build.sh

install: ## install library, headers and bindings into PREFIX (default target/prefix)
	@tools/install.sh

demo: ## build and install, then fibre directions of a real diffusion MRI volume
	@tools/demo.sh

test: ## every test in every language; the last line counts them
	@tools/test.sh

hunt: ## an hour of random attacks on the installed library; HUNT_SECONDS bounds it
	@tools/install.sh && tools/hunt.sh

bench: ## benches, one JSON a run under benches/results/<device>
	@tools/bench.sh

gpu-bundle: ## tests, benches and data for a GPU machine without cargo, in target/gpu-bundle
	@tools/gpu-bundle.sh

dist: ## files of a release: SDK, wheel, Debian packages and more, in target/dist
	@tools/dist.sh

dist-test: ## tries those files in Debian 11, 12 and 13, by debootstrap (root)
	@tools/dist-test.sh

docs: ## after install: the site, with the reference of every language, in target/docs
	@tools/docs.sh

clean: ## remove build outputs; tools of `make deps` stay (rm -r target removes them too)
	@tools/clean.sh
