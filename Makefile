# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` are all that a fresh Debian 12 needs. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The only lists of Debian packages: what the build needs,
DEBIAN := g++ cmake ninja-build ccache git python3-venv python3-dev \
          libjpeg62-turbo-dev libpng-dev libtiff-dev libwebp-dev libopenjp2-7-dev \
          libvorbis-dev libopusfile-dev libfmt-dev nlohmann-json3-dev libffmpeg-nvenc-dev
# and what the tests need beside it. The last one carries files of many cameras and phones.
DEBIAN_TEST := libmpg123-0 libmp3lame0 libheif1 libjxl0.7 libopenexr-3-1-30 libgtest-dev clang-14 libclang-rt-14-dev ffmpeg libopencv-core-dev golang-github-rwcarlsen-goexif-dev

# A web server, a browser and what makes addresses in a network namespace, for `make test-long`.
DEBIAN_LONG := nginx chromium iproute2

export PYTHON ?= python3
REQUIREMENTS := tools/requirements
PIP := .venv/bin/python -m pip --disable-pip-version-check install --quiet
export DATA ?=
export QUICK ?=

# What builds the wheels' libraries on x86-64, for aarch64 too, and runs the programs of aarch64.
DEBIAN_RELEASE := dpkg-dev nasm g++-12-aarch64-linux-gnu qemu-user

.PHONY: help demo test test-long docs bench wheel release deb lint format tidy clean debian debian-test debian-long debian-package debian-release

help:
	@echo "make demo [DATA=folder]  build, run the ResNet-50 pipeline, print its speed, write demo.png"
	@echo "make test                build and run every test, lint, examples and sanitizer runs"
	@echo "make test-long           the same tests of Python with the full random counts; keeps a log"
	@echo "make docs                build the site of the documentation, build/site/html"
	@echo "make bench [QUICK=1]     measure against the peers; QUICK: DALI only, few rounds"
	@echo "make wheel               build the wheel for this machine and try it"
	@echo "make release             build and try the wheels for x86-64 and aarch64, with their checksums, in wheelhouse/"
	@echo "make deb                 build a package of Debian for C and C++ programs, in dist-deb/"
	@echo "make lint, make format   compare with the rules of this tree; put files into its form"
	@echo "make tidy                clang-tidy over the C++ sources that differ from main"
	@echo "make clean"

debian:
	@tools/install debian $(DEBIAN)

debian-test: | debian
	@tools/install debian $(DEBIAN_TEST)

debian-package: | debian
	@tools/install debian dpkg-dev

debian-release: | debian
	@tools/install debian $(DEBIAN_RELEASE)

debian-long: | debian
	@tools/install debian $(DEBIAN_LONG)

# An environment is complete when its stamp is newer than its list of requirements.
.venv/build-installed: $(REQUIREMENTS)/build.txt $(REQUIREMENTS)/photos.txt | debian
	@tools/install python .venv $(REQUIREMENTS)/build.txt
	@tools/install photographs .venv $(REQUIREMENTS)/photos.txt
	@touch $@

.venv/test-installed: $(REQUIREMENTS)/test.txt $(REQUIREMENTS)/torchvision.txt $(REQUIREMENTS)/torchaudio.txt \
		$(REQUIREMENTS)/transformers.txt $(REQUIREMENTS)/albumentations.txt $(REQUIREMENTS)/loaders.txt .venv/build-installed | debian-test
	$(PIP) -r $(REQUIREMENTS)/test.txt
	$(PIP) --upgrade --no-deps --target .venv/torchvision -r $(REQUIREMENTS)/torchvision.txt
	$(PIP) --upgrade --no-deps --target .venv/torchaudio -r $(REQUIREMENTS)/torchaudio.txt
	$(PIP) --upgrade --no-deps --target .venv/transformers -r $(REQUIREMENTS)/transformers.txt
	$(PIP) --upgrade --no-deps --target .venv/albumentations -r $(REQUIREMENTS)/albumentations.txt
	$(PIP) --upgrade --no-deps --target .venv/loaders -r $(REQUIREMENTS)/loaders.txt
	touch $@

.venv/lint-installed: $(REQUIREMENTS)/lint.txt .venv/build-installed
	$(PIP) -r $(REQUIREMENTS)/lint.txt
	touch $@

.venv/tidy-installed: $(REQUIREMENTS)/tidy.txt .venv/build-installed
	$(PIP) -r $(REQUIREMENTS)/tidy.txt
	touch $@

# An environment of its own for what cannot be beside the rest: DALI, a server of objects, frameworks.
.venv-%/installed: $(REQUIREMENTS)/%.txt | debian
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet -r $<
	touch $@

# A folder of packages without what they depend on, not an environment: tests of .venv start the server in it.
.venv-triton/installed: $(REQUIREMENTS)/triton.txt .venv/build-installed
	rm -rf .venv-triton
	$(PIP) --no-deps --target .venv-triton -r $(REQUIREMENTS)/triton.txt
	rm -rf .venv-triton/pytriton/tritonserver/python_backend_stubs
	touch $@

# The same for the older compiler of kernels.
.venv-cuda12/installed: $(REQUIREMENTS)/cuda12.txt .venv/build-installed
	rm -rf .venv-cuda12
	$(PIP) --no-deps --target .venv-cuda12 -r $(REQUIREMENTS)/cuda12.txt
	touch $@

demo: .venv/build-installed
	@tools/check library
	@.venv/bin/python examples/demo/main.py $(if $(DATA),"$(DATA)")

# What only tests need is installed while the build runs: one waits for the network and the disk, the other for the processor.
test: .venv/test-installed .venv/lint-installed
	mkdir -p build
	$(MAKE) .venv-dali/installed .venv-frameworks/installed .venv-triton/installed >build/installed.log 2>&1 & installed=$$!; \
	  tools/check build || { kill $$installed; exit 1; }; wait $$installed || { cat build/installed.log >&2; exit 1; }
	tools/check lint
	tools/check test
	tools/check frameworks
	tools/check examples
	tools/check asan
	tools/check tsan
	tools/check fuzz

test-long: .venv/test-installed .venv/tidy-installed .venv-dali/installed .venv-moto/installed .venv-triton/installed \
		.venv-cuda12/installed .venv-frameworks/installed \
		.venv-tensorflow-2.16/installed .venv-tensorflow-2.18/installed \
		.venv-paddle/installed .venv-mxnet/installed .venv-ray/installed .venv-docs/installed .venv-release/installed | debian-long debian-release
	tools/check build
	tools/check test-long

docs: .venv/test-installed .venv-docs/installed
	tools/check build
	tools/check docs

bench: .venv/test-installed .venv-dali/installed .venv-release/installed | debian-release
	tools/check build
	tools/check wheel
	$(if $(QUICK),,.venv/bin/python benchmarks/environments.py install)
	tools/check bench $(if $(QUICK),--quick)

wheel: .venv/build-installed .venv-release/installed | debian-release
	tools/check wheel

release: .venv/build-installed .venv-release/installed | debian-release
	tools/check release

deb: | debian debian-package
	tools/check deb

lint: .venv/lint-installed
	tools/check build
	tools/check lint

format: .venv/lint-installed
	tools/check format

tidy: .venv/tidy-installed
	tools/check build
	tools/check tidy

clean:
	rm -rf build build-asan build-tsan build-fuzz build-release build-deb dist dist-deb wheelhouse demo.png
