"""Reads the rounds of bench/run and prints, per piece of work, the best time of each and the peers' time over ours.

usage: report.py FOLDER; writes FOLDER/bench.json beside."""
import glob
import json
import os
import platform
import sys

folder = sys.argv[1]
best, rates = {}, {}
unit = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
for path in sorted(glob.glob(os.path.join(folder, "round-*.json"))):
    for b in json.load(open(path))["benchmarks"]:
        if b.get("run_type") == "aggregate":
            continue
        name = b["run_name"].replace("/real_time", "").replace("/iterations:1", "")
        us = b["real_time"] * unit[b["time_unit"]]
        if us < best.get(name, float("inf")):
            best[name] = us
            rates[name] = next((f"{b[r] / 1e9:.1f} {r}" if b[r] > 1e6 else f"{b[r]:.1f} {r}" for r in ("GF/s", "GB/s") if r in b), "")
for path in sorted(glob.glob(os.path.join(folder, "peers-*.jsonl"))):
    for line in open(path):
        entry = json.loads(line)
        best[entry["name"]] = min(entry["us"], best.get(entry["name"], float("inf")))

cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.processor())
flags = next((l for l in open("/proc/cpuinfo") if l.startswith("flags")), "").split()
isa = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE"
works = {}
for name, us in best.items():
    work, who = name.rsplit("/", 1)
    works.setdefault(work, {})[who] = us
print(f"{cpu} ({isa}), {os.cpu_count()} cores; best of all rounds; x = peer's time / ours\n")
print(f"{'work':44} {'heddle':>12}  {'rate':>12}  peers")
rows = []
for work in sorted(works):
    ours = works[work].get("heddle")
    if ours is None:
        continue
    others = {who: us for who, us in works[work].items() if who != "heddle"}
    peers = "  ".join(f"{who} {us:.2f} us ({us / ours:.2f} x)" for who, us in sorted(others.items()))
    print(f"{work:44} {ours:9.2f} us  {rates.get(work + '/heddle', ''):>12}  {peers}")
    rows.append({"work": work, "heddle_us": ours, "peers_us": others})
json.dump({"cpu": cpu, "isa": isa, "rows": rows}, open(os.path.join(folder, "bench.json"), "w"), indent=1)
