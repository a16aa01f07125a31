# zig makes libraries for other machines than this one. ./dev test installs it (the Python package ziglang, into build/venv); without it
# the examples are built for this machine alone and the tests labelled cross are left out.
file(GLOB candidates ${PROJECT_BINARY_DIR}/venv/lib/python3*/site-packages/ziglang
                     ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/ziglang)
find_program(HEDDLE_ZIG zig HINTS ${candidates} DOC "zig, which makes libraries for other machines")
