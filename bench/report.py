"""Reads the rounds of bench/run and prints, per piece of work, the best time (or the fewest bytes) of each, the best peer's over ours, and
whether the results have the same bits with 1, 2 and 4 threads.

usage: report.py FOLDER; writes FOLDER/bench.json and FOLDER/bench.html beside."""
import glob
import html
import json
import os
import platform
import sys

UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
OURS, MACHINE = "heddle", "machine"
NO_PEERS = {"empty_process", "announced"}  # shown, but not to be beaten


def lines(folder, pattern):
    for path in sorted(glob.glob(os.path.join(folder, pattern))):
        yield from map(json.loads, open(path))


def read_rounds(folder):
    """Microseconds or bytes by name, the best of all rounds; rates by name; names of what is in bytes."""
    best, rates, in_bytes = {}, {}, set()
    for path in sorted(glob.glob(os.path.join(folder, "round-*.json"))):
        for b in json.load(open(path))["benchmarks"]:
            if b.get("run_type") == "aggregate":
                continue
            name = b["run_name"].replace("/real_time", "").replace("/iterations:1", "")
            us = b["real_time"] * UNITS[b["time_unit"]]
            if us < best.get(name, float("inf")):
                best[name] = us
                rates[name] = {r: b[r] for r in ("GF/s", "GB/s") if r in b}
    for pattern in ("peers-*.jsonl", "shipped-*.jsonl"):
        for entry in lines(folder, pattern):
            name = entry["name"]
            best[name] = min(entry.get("us", entry.get("bytes")), best.get(name, float("inf")))
            if "bytes" in entry:
                in_bytes.add(name.rsplit("/", 1)[0])
    return best, rates, in_bytes


def read_bits(folder):
    """By work without its threads: whether all bits are equal."""
    return {entry["name"]: entry["same_bits"] for entry in lines(folder, "bits.jsonl")}


def machine_of():
    lines = open("/proc/cpuinfo").read().splitlines()
    field = lambda key: next((l.split(":", 1)[1].strip() for l in lines if l.startswith(key)), "")
    flags = field("flags").split()
    isa = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE"
    return {"cpu": field("model name") or platform.processor(), "isa": isa, "cores": os.cpu_count()}


def peak(rates, work, which, rate):
    threads = work.rsplit("threads:", 1)[1] if "threads:" in work else "1"
    return rates.get(f"machine/{which}/threads:{threads}/{MACHINE}", {}).get(rate)


def fraction(rates, work):
    """Of what the machine can do: the larger one of the share of its arithmetic and of its memory."""
    shares = []
    for which, rate in (("fused_multiplications", "GF/s"), ("memory", "GB/s")):
        most, ours = peak(rates, work, which, rate), rates.get(f"{work}/{OURS}", {}).get(rate)
        if most and ours:
            shares.append((ours / most, "FMA" if rate == "GF/s" else "memory"))
    return max(shares) if shares else None


def rows_of(times, rates, in_bytes, bits):
    works = {}
    for name, us in times.items():
        work, who = name.rsplit("/", 1)
        works.setdefault(work, {})[who] = us
    rows = []
    for work in sorted(works):
        ours = works[work].get(OURS)
        if ours is None:
            continue
        peers = {who: us for who, us in sorted(works[work].items()) if who != OURS}
        beaten = [who for who in peers if who not in NO_PEERS]
        best = min(beaten, key=peers.get) if beaten else None
        share = fraction(rates, work)
        unit = "bytes" if work in in_bytes else "us"
        rows.append({"work": work, "unit": unit, "heddle": ours, "peers": peers, "best_peer": best,
                     "ratio": peers[best] / ours if best else None, "rates": rates.get(f"{work}/{OURS}", {}),
                     "of_peak": share and {"share": share[0], "of": share[1]},
                     "same_bits": bits.get(work.split("/threads:")[0])})
    return rows


def text(quantity, unit):
    if unit == "bytes":
        return f"{quantity / 1e6:.2f} MB" if quantity >= 1e6 else f"{quantity / 1e3:.0f} KB"
    return f"{1000 * quantity:.1f} ns" if quantity < 0.1 else f"{quantity:.2f} us" if quantity < 1000 else f"{quantity / 1000:.2f} ms"


BITS = {None: "", True: "same", False: "DIFFER"}


def cells(row):
    share = row["of_peak"]
    return [row["work"], text(row["heddle"], row["unit"]), f"{row['ratio']:.2f}" if row["ratio"] else "",
            f"{100 * share['share']:.0f} % {share['of']}" if share else "", BITS[row["same_bits"]],
            "  ".join(f"{who} {text(q, row['unit'])}" for who, q in row["peers"].items())]


HEADS = ["work", "heddle", "best peer / ours", "of the machine", "bits", "peers"]


def print_table(machine, rows):
    print(f"{machine['cpu']} ({machine['isa']}), {machine['cores']} cores; best of all rounds; bits: of 1, 2 and 4 threads\n")
    line = "{:48} {:>12} {:>17} {:>15} {:>7}  {}"
    for row in [HEADS] + [cells(r) for r in rows]:
        print(line.format(*row).rstrip())


def page(machine, rows):
    title = html.escape(f"{machine['cpu']} ({machine['isa']}), {machine['cores']} cores")
    body = []
    for row in rows:
        ratio = row["ratio"]
        kind = "" if ratio is None else " class=behind" if ratio < 1 else " class=ahead"
        body.append(f"<tr{kind}>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells(row)) + "</tr>")
    heads = "".join(f"<th>{h}</th>" for h in HEADS)
    return f"""<!doctype html><meta charset=utf-8><title>Heddle beside its peers</title>
<style>body{{font:14px sans-serif;margin:2em}}table{{border-collapse:collapse}}td,th{{padding:2px 10px;text-align:left}}
td:nth-child(n+2):nth-child(-n+4){{text-align:right;font-variant-numeric:tabular-nums}}tr:nth-child(even){{background:#f4f4f4}}
.behind td:nth-child(3){{color:#b00020}}.ahead td:nth-child(3){{color:#00701a}}</style>
<h1>Heddle beside its peers</h1><p>{title}; the best of all rounds. Bits: whether results are the same with 1, 2 and 4 threads.</p>
<table><tr>{heads}</tr>
{chr(10).join(body)}
</table>
"""


def main(folder):
    machine, rows = machine_of(), rows_of(*read_rounds(folder), read_bits(folder))
    print_table(machine, rows)
    json.dump({**machine, "rows": rows}, open(os.path.join(folder, "bench.json"), "w"), indent=1)
    open(os.path.join(folder, "bench.html"), "w").write(page(machine, rows))


main(sys.argv[1])
