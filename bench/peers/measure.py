"""What the peers share: the best of many samples, and lines of JSON {"name", "us" or "bytes"}."""
import json
import sys
import time


def best(call, seconds=0.5, warm=0.15):
    """Microseconds of the best sample; a sample groups calls so that it lasts a millisecond. As long as ours are sampled."""
    end = time.perf_counter() + warm
    calls = 0
    while time.perf_counter() < end:
        call()
        calls += 1
    group = max(1, int(calls / warm / 1000))
    found = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(group):
            call()
        found = min(found, (time.perf_counter() - start) / group)
    return 1e6 * found


def threads():
    return int(sys.argv[1])


def is_wanted(name):
    return len(sys.argv) <= 2 or any(name.startswith(w) for w in sys.argv[2:])


def tell(name, **quantity):
    """us or bytes."""
    print(json.dumps({"name": name, **quantity}), flush=True)


def run(works, peer):
    """works: name -> a function that makes the call. Works of one call have no threads in their names."""
    for name, make in works.items():
        if is_wanted(name):
            suffix = "" if "16_floats" in name else f"/threads:{threads()}"
            tell(f"{name}{suffix}/{peer}", us=best(make()))
