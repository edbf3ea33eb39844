"""Joules of a run folder for tools/recompute.py: from power.jsonl by numpy, with what makes them invalid."""
import json
import os

import numpy as np

from recompute import Random, nearest_rank

PERIODS, GAP_PERIODS, DISAGREEMENT = 10, 3, 0.05
DRIFT_SHARE, DRIFT_W, TOLERATED, LEAST_BLOCKS = 0.10, 5, 0.05, 5
THROTTLED, POWER_CAP = 0x8 | 0x20 | 0x40 | 0x80, 0x4
ALWAYS = ("no_readings", "driver_reload")  # whatever their share of the time
NET_ONLY = ("idle_missing", "idle_short", "idle_drifted")
NOTES = ("power_cap", "several_processes")
NEARLY = 1e-6
COUNTED_GAP = 0.01
# Codes that are not made again here: figures that have one are compared without them.
NOT_REMADE = {"idle_disturbed", "blocks_overlap", "boards_differ", "net_negative", "blocks_missing", "blocks_excess",
              "boards_changed", "pin_failed"}


def load(path):
    segments = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            one = json.loads(line)
            if "schema" in one:
                segments.append({"head": one, "samples": [], "marks": [], "events": []})
            elif "r" in one:
                segments[-1]["samples"].append(one)
            else:
                segments[-1]["marks" if "mark" in one else "events"].append(one)
    return segments


class Board:
    """What one board told, by its own times."""

    def __init__(self, segment, place):
        rows = [(s["t"], s["r"][place]) for s in segment["samples"] if place < len(s["r"])]

        def told(i):
            pairs = [(t, r[i]) for t, r in rows if i < len(r) and r[i] is not None]
            return np.array([t for t, _ in pairs]), np.array([v for _, v in pairs], dtype=float)

        self.head = segment["head"]["boards"][place]
        self.watts, self.counter = told(0), told(1)
        self.reasons = [(t, r[6]) for t, r in rows if len(r) > 6 and r[6] is not None]
        self.processes = {t: r[7] for t, r in rows if len(r) > 7 and r[7] is not None}
        self.counts_only = len(self.watts[0]) == 0 and len(self.counter[0]) > 1

    def covered(self, series, begin, end, reach):
        t = series[0]
        return len(t) > 0 and t[0] - begin <= reach and end - t[-1] <= reach

    def trapezoids(self, begin, end, reach):
        t, w = self.watts
        if not self.covered(self.watts, begin, end, reach):
            return None
        inside = t[(t > begin) & (t < end)]
        x = np.concatenate([[begin], inside, [end]])
        return float(np.trapezoid(np.interp(x, t, w), x))

    def counted(self, begin, end, reach):
        """Joules or None, and whether the counter went back."""
        t, e = self.counter
        if len(t) < 2 or not self.covered(self.counter, begin, end, reach):
            return None, False
        first = max(int(np.searchsorted(t, begin, side="right")) - 1, 0)
        last = min(int(np.searchsorted(t, end, side="left")), len(t) - 1)
        first = min(first, len(t) - 2)
        last = max(last, first + 1)
        steps = np.diff(e[first:last + 1])
        if (steps < 0).any():
            return None, True

        def at(x):  # the outermost steps go on past their ends
            i = min(max(int(np.searchsorted(t, x, side="right")) - 1, first), last - 1)
            return e[i] + (e[i + 1] - e[i]) * (x - t[i]) / (t[i + 1] - t[i])
        return float(at(end) - at(begin)), False

    def times(self):
        return self.counter[0] if self.counts_only else self.watts[0]

    def longest_gap(self, begin, end):
        t = self.times()
        if len(t) == 0:
            return 0.0
        first = max(int(np.searchsorted(t, begin, side="right")) - 1, 0)
        last = min(int(np.searchsorted(t, end, side="left")), len(t) - 1)
        gaps = list(np.diff(t[first:last + 1])) + [t[first] - begin, end - t[last]]
        return max(0.0, max(gaps))

    def power_at(self, now, reach):
        t, v = self.counter if self.counts_only else self.watts
        i = int(np.searchsorted(t, now, side="left"))
        if i == len(t):
            return None
        near = i > 0 and t[i] - t[i - 1] <= reach
        if self.counts_only:
            step = v[i] - v[i - 1] if near else -1
            return step / (t[i] - t[i - 1]) if near and step >= 0 else None
        if t[i] == now:
            return v[i]
        return float(np.interp(now, t[i - 1:i + 1], v[i - 1:i + 1])) if near else None


class Segment:
    def __init__(self, segment):
        self.raw = segment
        self.boards = [Board(segment, i) for i in range(len(segment["head"]["boards"]))]
        self.ticks = np.array([s["t"] for s in segment["samples"]])
        grid = segment["head"]["period_s"] or (nearest_rank(np.diff(self.ticks), 0.5) if len(self.ticks) > 1 else 0)
        self.grid = grid
        self.reach = grid * GAP_PERIODS * (1 + NEARLY)
        self.period = max([grid] + [b.head.get("reading_period_s", 0) for b in self.boards])
        self.windows = self.find_windows()

    def find_windows(self):
        open_, found = {}, []
        for mark in self.raw["marks"]:
            key = (mark["mark"], mark.get("arm", ""), mark.get("task", ""), mark.get("probe", ""))
            if mark["edge"] == "begin":
                open_[key] = mark["t"]
            elif key in open_:
                begin = open_.pop(key)
                if begin < mark["t"]:
                    found.append({"kind": key[0], "arm": key[1], "task": key[2], "probe": key[3], "begin": begin,
                                  "end": mark["t"], "rows": mark.get("rows", 0), "tokens": mark.get("prompt_tokens")})
        return sorted(found, key=lambda w: w["begin"])

    def measure(self, begin, end, resident):
        """Joules of all boards with the codes of what is wrong."""
        out = {"boards": [], "codes": set(), "gross": 0.0 if self.boards else None, "peak": None}
        if not self.boards:
            out["codes"].add("no_readings")
        for board in self.boards:
            counted, back = board.counted(begin, end, self.reach)
            joules = counted if board.counts_only else board.trapezoids(begin, end, self.reach)
            if board.counts_only and back:
                joules = None
            t = board.times()
            samples = int(((t >= begin) & (t <= end)).sum())
            if back:
                out["codes"].add("driver_reload")
            elif joules is None:
                out["codes"].add("no_readings")
            if samples < 2:
                out["codes"].add("few_samples")
            agrees = (not board.counts_only and joules is not None and counted is not None
                      and abs(counted - joules) <= COUNTED_GAP * joules)
            if board.longest_gap(begin, end) > self.reach and not agrees:
                out["codes"].add("gap")
            out["boards"].append({"id": board.head["id"], "joules": joules, "counter": counted, "samples": samples,
                                  "compared": not board.counts_only and joules is not None and counted is not None})
            out["gross"] = None if out["gross"] is None or joules is None else out["gross"] + joules
            self.watch(board, begin, end, resident, out["codes"])
        for now in self.ticks[(self.ticks >= begin) & (self.ticks <= end)]:
            powers = [b.power_at(now, self.reach) for b in self.boards]
            if powers and None not in powers:
                out["peak"] = max(sum(powers), out["peak"] if out["peak"] is not None else -1)
        known = {"driver_reload": "driver_reload", "counter_reset": "driver_reload", "board_lost": "board_lost",
                 "process": "other_process"}
        for event in self.raw["events"]:
            if begin <= event["t"] <= end and event["event"] in known:
                out["codes"].add(known[event["event"]])
        return out

    def watch(self, board, begin, end, resident, codes):
        if any(begin <= t <= end and bits & THROTTLED for t, bits in board.reasons):
            codes.add("throttled")
        if any(begin <= t <= end and bits & POWER_CAP for t, bits in board.reasons):
            codes.add("power_cap")
        before = [t for t in self.ticks if t <= resident][-99:]
        told = [board.processes[t] for t in before if t in board.processes]
        seen = [board.processes[t] for t in self.ticks if begin <= t <= end and t in board.processes]
        least = told[-1] if told else seen[0] if seen else None
        if any(n > least for n in seen):
            codes.add("other_process")
        if any(n > 1 for n in seen):
            codes.add("several_processes")

    def blocks(self):
        idle_before = [w for w in self.windows if w["kind"] == "idle_before"]
        idle_after = [w for w in self.windows if w["kind"] == "idle_after"]
        for window in (w for w in self.windows if w["kind"] == "block"):
            before = [w for w in idle_before if w["end"] <= window["begin"]]
            after = [w for w in idle_after if w["begin"] >= window["end"]]
            before, after = before[-1] if before else None, after[0] if after else None
            out = self.measure(window["begin"], window["end"], before["end"] if before else window["begin"])
            out |= {"window": window, "segment": self}
            for name, idle in (("before", before), ("after", after)):
                watts, seconds = None, 0
                if idle is not None:
                    seconds = idle["end"] - idle["begin"]
                    gross = self.measure(idle["begin"], idle["end"], idle["begin"])["gross"]
                    watts = None if gross is None else gross / seconds
                if watts is None:
                    out["codes"].add("idle_missing")
                elif seconds < PERIODS * self.period * (1 - NEARLY):
                    out["codes"].add("idle_short")
                out["idle_" + name] = watts
            a, b = out["idle_before"], out["idle_after"]
            if a is not None and b is not None and abs(a - b) > DRIFT_W and abs(a - b) > DRIFT_SHARE * (a + b) / 2:
                out["codes"].add("idle_drifted")
            yield out


def total(values):
    values = list(values)
    return None if any(v is None for v in values) else float(sum(values))


def net_of(block):
    idle = [w for w in (block["idle_before"], block["idle_after"]) if w is not None]
    if block["gross"] is None or not idle:
        return None
    return block["gross"] - float(np.mean(idle)) * seconds_of(block)


def seconds_of(block):
    return block["window"]["end"] - block["window"]["begin"]


def per_decision_95(blocks, joules):
    decisions = np.array([b["window"]["rows"] for b in blocks], dtype=float)
    if len(blocks) < LEAST_BLOCKS or decisions.sum() == 0 or None in joules:
        return None
    random, means, values = Random(1), [], np.array(joules)
    for _ in range(1000):
        drawn = [random.below(len(blocks)) for _ in blocks]
        if decisions[drawn].sum() > 0:
            means.append(values[drawn].sum() / decisions[drawn].sum())
    return {"low": nearest_rank(means, 0.025), "high": nearest_rank(means, 0.975)} if means else None


def short_seconds(blocks):
    """Time of blocks that lie in runs too short for the readings; blocks a period apart are one run."""
    runs = []
    for block in blocks:
        window, segment = block["window"], block["segment"]
        if runs and runs[-1]["segment"] is segment and runs[-1]["end"] <= window["begin"] <= runs[-1]["end"] + segment.period:
            runs[-1]["seconds"] += seconds_of(block)
            runs[-1]["end"] = window["end"]
        else:
            runs.append({"segment": segment, "end": window["end"], "seconds": seconds_of(block)})
    return sum(r["seconds"] for r in runs if r["seconds"] < PERIODS * r["segment"].period * (1 - NEARLY))


def figures(blocks):
    seconds = sum(map(seconds_of, blocks))
    decisions = sum(b["window"]["rows"] for b in blocks)
    tokens = total(b["window"]["tokens"] for b in blocks)
    gross, nets = total(b["gross"] for b in blocks), [net_of(b) for b in blocks]
    net = total(nets)
    boards = {}
    for block in blocks:
        for board in block["boards"]:
            boards.setdefault(board["id"], []).append(board)
    compared = {i: [b for b in parts if b["compared"]] for i, parts in boards.items()}
    sums = {i: (sum(b["joules"] for b in parts), sum(b["counter"] for b in parts)) for i, parts in compared.items()}
    codes = set()
    if any(abs(c - j) > DISAGREEMENT * j and c != j for j, c in sums.values()):
        codes.add("counter_disagrees")
    for code in set().union(*(b["codes"] for b in blocks)) - set(NOTES):
        share = sum(seconds_of(b) for b in blocks if code in b["codes"]) / seconds
        if code in ALWAYS or share > TOLERATED:
            codes.add(code)
    if short_seconds(blocks) / seconds > TOLERATED:
        codes.add("window_short")
    joules, counted = sum(j for j, _ in sums.values()), sum(c for _, c in sums.values())

    def per(value, n):
        return value / n if value is not None and n else None

    def mean(name):
        parts = total(None if b[name] is None else b[name] * seconds_of(b) for b in blocks)
        return None if parts is None else parts / seconds
    peaks = [b["peak"] for b in blocks if b["peak"] is not None]
    return {
        "blocks": len(blocks), "seconds": seconds, "decisions": decisions, "prompt_tokens": tokens, "gross_j": gross,
        "net_j": net, "counter_j": total(b["counter"] for parts in boards.values() for b in parts) if boards else None,
        "counter_ratio": counted / joules if joules > 0 else None,
        "gross_j_per_decision": per(gross, decisions), "net_j_per_decision": per(net, decisions),
        "gross_j_per_decision_95": per_decision_95(blocks, [b["gross"] for b in blocks]) if gross is not None else None,
        "net_j_per_decision_95": per_decision_95(blocks, nets),
        "gross_j_per_prompt_token": per(gross, tokens), "net_j_per_prompt_token": per(net, tokens),
        "mean_w": per(gross, seconds), "peak_w": max(peaks) if peaks else None,
        "idle_before_w": mean("idle_before"), "idle_after_w": mean("idle_after"), "codes": sorted(codes),
        "gross_valid": gross is not None and codes <= set(NET_ONLY), "energy_valid": net is not None and not codes,
        "boards": [{"board": i, "gross_j": total(b["joules"] for b in parts), "counter_j": total(b["counter"] for b in parts),
                    "samples": sum(b["samples"] for b in parts)} for i, parts in boards.items()]}


def run_energy(folder, rows):
    """What member `energy` of score.json holds of a run folder, sums over the run apart."""
    blocks = [b for segment in load(os.path.join(folder, "power.jsonl")) for b in Segment(segment).blocks()]
    of = {"tasks": {}, "arms": {}}
    for block in blocks:
        w = block["window"]
        of["tasks"].setdefault((w["arm"], w["task"], w["probe"]), []).append(block)
        if not w["probe"]:
            of["arms"].setdefault(w["arm"], []).append(block)
    out = {"tasks": [{"arm": arm, "task": task} | ({"probe": probe} if probe else {}) | figures(parts)
                     for (arm, task, probe), parts in of["tasks"].items()],
           "arms": [{"arm": arm} | figures(parts) for arm, parts in of["arms"].items()],
           "blocks": [figures([block]) for block in blocks]}
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
        told = json.load(file).get("energy", {}).get("arms", {})
    answered = {}
    for row in rows:
        if row["status"] == "asked":
            answered[row["arm"]] = answered.get(row["arm"], 0) + 1
    covered = {arm: sum(b["window"]["rows"] for b in blocks if b["window"]["arm"] == arm) for arm in answered}
    whole = all(one["status"] == "ok" for one in told.values()) and all(covered[a] >= n for a, n in answered.items())
    out["all"] = figures(blocks) if whole else {"gross_j": None, "net_j": None, "energy_valid": False}
    return out


def with_codes(told):
    """score.json's figures with their reasons as sorted codes, as far as they are made again here."""
    codes = {reason["code"] for reason in told["reasons"]}
    out = told | {"codes": sorted(codes - NOT_REMADE)}
    if codes & NOT_REMADE:
        remade = codes - NOT_REMADE
        out["gross_valid"] = told["gross_j"] is not None and remade <= set(NET_ONLY)
        out["energy_valid"] = told["net_j"] is not None and not remade
    return out
