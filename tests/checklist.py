"""Which requirement is shown by which test: writes or checks tests/CHECKLIST.md.

usage: checklist.py [--check]

tests/requirements.txt numbers what is asked, those that are built first. A test cites a line in a comment: `// A9.6`; lines of
the C and D parts, whose names records' constraints have too, as `// req C9`. --check fails when a built line is not cited, when a
cited line is not listed as built, or when CHECKLIST.md is not what would be written."""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
citation = re.compile(r"\b([AB]\d+\.\d+|(?<=req )[CD]\d+)\b")


def read_requirements():
    built, later = {}, {}
    part = built
    for line in (here / "requirements.txt").read_text().splitlines():
        if line.startswith("# to come"):
            part = later
        if line and not line.startswith("#"):
            number, text = line.split(" ", 1)
            part[number] = text
    return built, later


def read_citations():
    """Requirement -> the tests ("folder/file: Suite.Name") whose comments or the comment before them name it."""
    found = {}
    for path in sorted(here.rglob("*.cpp")):
        name, waiting = "", []
        for line in path.read_text().splitlines():
            test = re.match(r"(?:TEST|TEST_F|TEST_P)\((\w+), (\w+)\)", line)
            if test:
                name = f"{path.relative_to(here)}: {test.group(1)}.{test.group(2)}"
                for number in waiting:
                    found.setdefault(number, []).append(name)
                waiting = []
            comment = line.split("//", 1)[1] if "//" in line else ""
            numbers = citation.findall(comment)
            if not numbers and not line.strip():
                waiting = []
            for number in numbers:
                if line.startswith("//"):
                    waiting.append(number)
                elif name and name not in found.setdefault(number, []):
                    found[number].append(name)
    return found


def order(number):
    return (number[0], [int(n) for n in re.findall(r"\d+", number)])


def main():
    built, later = read_requirements()
    found = read_citations()
    lines = ["# Requirements and the tests that show them", "",
             "Written by `python3 tests/checklist.py`; a test holds it to the sources.", ""]
    for number in sorted(built, key=order):
        lines.append(f"- **{number}** {built[number]}")
        lines += [f"  - {name}" for name in found.get(number, [])]
    lines += ["", f"To come: {len(later)} more."]
    text = "\n".join(lines) + "\n"
    if "--check" not in sys.argv[1:]:
        (here / "CHECKLIST.md").write_text(text)
        return 0
    faults = [f"{n}: no test cites it" for n in built if n not in found]
    faults += [f"{n}: cited by {found[n][0]}, and not listed as built" for n in found if n not in built]
    if (here / "CHECKLIST.md").read_text() != text:
        faults.append("CHECKLIST.md is old: run python3 tests/checklist.py")
    print("\n".join(faults) or f"{len(built)} requirements are shown by tests, {len(later)} to come")
    return 1 if faults else 0


sys.exit(main())
