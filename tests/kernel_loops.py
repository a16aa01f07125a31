"""No kernel tells dtypes or devices apart inside its loop. (req C13)

usage: kernel_loops.py <root of the sources>

What is a loop here, and what may not stand in it:
1. compiled kernels (backends/halide): C++ builds the expression of a loop before the loop exists, so `if` and `?:` on a type choose
   an expression, not a branch. What does become a branch is a condition of Halide's: the first argument of select, if_then_else
   and likely_if. It may not ask for a dtype or a device. Nor may a kernel have a parameter other than buffers and extents.
2. reference kernels (graph/ops): a dtype becomes a C++ type once (dispatch_dtype, dispatch_kinds). That may not happen inside a
   loop over elements, and inside of it only `if constexpr` may ask for the type.
"""
import pathlib
import re
import sys

TYPES = re.compile(r"\b(dtype|DType|is_float|is_int|is_uint|is_bool|is_floating|is_signed|device|carrier)\b|\.bits\(\)\s*[=!<>]")
CONDITION = re.compile(r"\b(?:select|if_then_else|likely_if)\s*\(")
LOOP = re.compile(r"\b(?:for\s*\(|for_each_index\s*\(|generate<[^>]*>\s*\(|fold<[^>]*>\s*\()")
DISPATCH = re.compile(r"\bdispatch_(?:dtype|kinds)\b")
ASKS = re.compile(r"\b(?:is_floating|is_signed|is_integer|dispatch_dtype|dispatch_kinds)\s*\(|\bdtype\s*[!=]=|\bswitch\b")
PARAMETER = re.compile(r"\bParam<(?!int|std::int32_t)")
CLOSING = {"(": ")", "{": "}", "[": "]"}


def without_comments(text):
    """Comments and strings are blanks: lines keep their numbers."""
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: " " * len(m.group()), text)


def balanced(text, start):
    """From the bracket at `start` to behind the one that closes it."""
    depth, close, open_ = 0, CLOSING[text[start]], text[start]
    for i in range(start, len(text)):
        depth += (text[i] == open_) - (text[i] == close)
        if depth == 0:
            return text[start:i + 1]
    return text[start:]


def first_argument(call):
    depth = 0
    for i, c in enumerate(call):
        depth += (c in "([{") - (c in ")]}")
        if (c == "," and depth == 1) or depth == 0:
            return call[1:i]
    return call


def loop_of(text, match):
    """A call's brackets, or a for's head and body."""
    start = match.end() - 1
    head = balanced(text, start)
    if not match.group().startswith("for ") and not match.group().startswith("for("):
        return head
    rest = start + len(head)
    body = re.match(r"\s*", text[rest:]).end() + rest
    if text[body:body + 1] == "{":
        return head + balanced(text, body)
    return head + text[body:text.find(";", body) + 1]


def faults_of(kind, text):
    text = without_comments(text)
    found = []

    def fault(position, words):
        found.append((text.count("\n", 0, position) + 1, words))

    if kind == "compiled":
        for m in CONDITION.finditer(text):
            if TYPES.search(first_argument(balanced(text, m.end() - 1))):
                fault(m.start(), "a condition of the kernel asks for a type")
        for m in PARAMETER.finditer(text):
            fault(m.start(), "a parameter that is no buffer and no extent")
    if kind == "reference":
        for m in LOOP.finditer(text):
            inside = loop_of(text, m)
            if DISPATCH.search(inside):
                fault(m.start(), "a dtype is told apart inside a loop")
        for m in DISPATCH.finditer(text):
            bracket = text.find("(", m.end())
            if bracket >= 0 and ASKS.search(balanced(text, bracket).split("->", 1)[-1].split("{", 1)[-1]):
                fault(m.start(), "a kernel of one dtype asks for its dtype again")
    return found


# What each rule must catch, and what it must let pass.
EXAMPLES = [
    ("compiled", "return select(x.type().is_float() && x > y, x, y);", 1),
    ("compiled", "if (x.type().is_float()) return select(x == zero, zero, make_one(x.type()));", 0),
    ("compiled", "Param<float> scale;", 1),
    ("reference", "for (int i = 0; i < n; ++i) {\n  dispatch_dtype(d, [&](auto t) { f(t, i); });\n}", 1),
    ("reference", "return dispatch_kinds<kAny>(d, [&](auto t) {\n  for (;;) { if (is_floating(d)) f(); }\n});", 1),
    ("reference", "return dispatch_kinds<kAny>(d, [&](auto t) {\n  for (;;) { if constexpr (kWide<T>) f(); }\n});", 0),
]


def main():
    root = pathlib.Path(sys.argv[1])
    for kind, text, wanted in EXAMPLES:
        if len(faults_of(kind, text)) != wanted:
            print(f"the {kind} rule does not see: {text}")
            return 1
    read, faults = 0, []
    for kind, pattern in [("compiled", "backends/halide/**/*.cpp"), ("reference", "graph/ops/*.cpp"), ("reference", "graph/ops/*.h")]:
        paths = sorted(root.glob(pattern))
        if not paths:
            faults.append(f"{pattern}: no such file")
        read += len(paths)
        for path in paths:
            faults += [f"{path.relative_to(root)}:{line}: {words}" for line, words in faults_of(kind, path.read_text())]
    print("\n".join(faults) or f"{read} files: no loop tells dtypes or devices apart")
    return 1 if faults else 0


sys.exit(main())
