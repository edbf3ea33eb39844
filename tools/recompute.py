#!/usr/bin/env python3
"""Recomputes the figures of `deem score --format json` from rows.jsonl by other means (numpy, scipy,
scikit-learn) and compares every number.

    tools/recompute.py ROWS.jsonl SCORE.json

Where ROWS.jsonl lies in a run folder with a power.jsonl, joules too (tools/recompute_energy.py).
Prints how many numbers agree and the largest difference; exit 1 when one differs by over 1e-9.
"""
import itertools
import json
import math
import os
import sys
from collections import Counter, defaultdict
from datetime import datetime

import numpy as np
from scipy.special import softmax
from scipy.stats import norm
from sklearn.metrics import (balanced_accuracy_score, cohen_kappa_score, f1_score,
                             mean_absolute_error, roc_auc_score)

LIMIT = 1e-9
MASK = (1 << 64) - 1


class Random:
    """xoshiro256** seeded by splitmix64."""

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = seed
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.s.append(z ^ (z >> 31))

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32

    def next(self):
        s = self.s
        x = (s[1] * 5) & MASK
        out = (((x << 7) | (x >> 57)) * 9) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = ((s[3] << 45) | (s[3] >> 19)) & MASK
        return out


def nearest_rank(values, q):
    ordered = np.sort(values)
    return float(ordered[max(1, math.ceil(q * len(ordered) - 1e-12)) - 1])


# ---- answers


def filled(round_, policy):
    logprobs = round_["logprobs"]
    if policy == "reference":
        return [-30.0 if x is None else x for x in logprobs]
    seen = [x for x in logprobs if x is not None]
    low = min(seen) - 1e-9 if seen else math.inf
    low = min(low, round_.get("bound", math.inf))
    return [(low if math.isfinite(low) else -30.0) if x is None else x for x in logprobs]


def letters_probs(row, reading, prior):
    t = row["constants"]["temperature"]
    policy = reading["policy"]
    rounds = reading["rounds"]
    n = len(row["keys"])
    out = np.zeros(n)
    if len(rounds) == 1:
        scores = np.array(filled(rounds[0], policy))
        if prior:
            priors = reading.get("prior_rounds")
            if not priors or len(priors) != 1 or priors[0].get("cause"):
                return None
            scores = scores - np.array(filled(priors[0], policy))
        p = softmax(scores / t)
        if prior and rounds[0]["logprobs"][int(np.argmax(p))] is None:
            return None
        out[rounds[0]["options"]] = p
        return out
    if prior:
        return None
    final = softmax(np.array(filled(rounds[-1], policy)) / t)
    for weight, group in zip(final, rounds[:-1]):
        p = softmax(np.array(filled(group, policy)) / t)
        out[group["options"]] = weight * p / p.max()
    return out / out.sum()


def noul(p, constants):
    p = min(max(p, 1e-4), 1 - 1e-4)
    z = math.log(p / (1 - p)) / constants["noul_slope"] + constants["noul_bias"]
    return 1 / (1 + math.exp(-z))


def printed_step(numbers):
    """The largest of .01, .001 … .000001 that all are multiples of."""
    for places in range(2, 6):
        if all(abs(x * 10**places - round(x * 10**places)) < 1e-6 for x in numbers):
            return 10.0**-places
    return 1e-6


def native_numbers(row, reading):
    """By option as an endpoint gave them, the option it named a hair before its equals."""
    p = [float(x) for x in reading["probs"]]
    if len(p) == 1 and len(row["keys"]) == 2:
        p.append(1 - p[0])
    p = [max(0.0, x) for x in p]
    if "choice" in reading:
        p[reading["choice"]] = max(p[reading["choice"]], max(p) + 1e-9)
    return np.array(p)


def answer_of(row, reading, variant):
    """(probabilities or None, bare score or None); None when there is no answer."""
    if reading.get("error") is not None or reading.get("cause"):
        return None
    if reading["kind"] == "written":
        option = reading.get("option")
        if option is None:
            return None
        p = np.zeros(len(row["keys"]))
        p[option] = 1
        return p, None
    if reading["kind"] == "native":
        p = native_numbers(row, reading)
        return p / p.sum(), None
    if reading["kind"] == "letters":
        p = letters_probs(row, reading, variant == "prior")
        if p is None:
            return None
        if row["type"] == "noul" and len(p) == 2:
            if row.get("probe") == "order:reverse":  # no, yes
                yes = noul(p[1], row["constants"])
                return np.array([1 - yes, yes]), None
            yes = noul(p[0], row["constants"])
            p = np.array([yes, 1 - yes])
        return p, None
    which, how = variant.split("-")
    scores = []
    for i, (total, tokens, size) in enumerate(reading["texts"]):
        if which == "prior":
            prior = reading.get("priors", [])[i]
            if prior is None:
                return None
            total -= prior[0]
        scores.append(total / {"sum": 1, "mean": tokens, "bytes": size}[how])
    if len(scores) == 1 and len(row["keys"]) != 1:
        return None, scores[0]
    return softmax(np.array(scores)), None


# ---- figures


def wilson(hits, n):
    if n == 0:
        return {"value": None, "low": 0.0, "high": 1.0, "n": 0}
    z = norm.ppf(0.975)
    p = hits / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return {"value": p, "low": 0.0 if hits == 0 else centre - half,
            "high": 1.0 if hits == n else centre + half, "n": n}


def brier_of(p, label):
    truth = np.zeros(len(p))
    if label < len(p):
        truth[label] = 1
    return float(((p - truth) ** 2).sum()) + (1.0 if label >= len(p) else 0.0)


def bins_of(values, n):
    return np.minimum(n - 1, np.floor(np.asarray(values) * n).astype(int))


def ece(confidence, correct, groups):
    return float(sum(abs(confidence[g].sum() - correct[g].sum()) for g in groups) / len(confidence))


def width_groups(confidence, n):
    index = bins_of(confidence, n)
    return [np.flatnonzero(index == b) for b in range(n)]


def aurc_of(confidence, correct):
    order = np.argsort(-confidence, kind="stable")
    wrong = 1.0 - correct[order]
    for value in np.unique(confidence):  # answers of equal confidence share their errors
        same = confidence[order] == value
        wrong[same] = wrong[same].mean()
    return float((np.cumsum(wrong) / np.arange(1, len(wrong) + 1)).mean())


def act_above(confidence, correct, threshold):
    acted = confidence >= threshold
    n, hits = int(acted.sum()), int(correct[acted].sum())
    return {"threshold": float(threshold), "coverage": n / len(confidence), "accuracy": wilson(hits, n)}


def threshold_for(confidence, correct, wanted, sure):
    best = None
    for value in sorted(set(confidence.tolist()), reverse=True):
        one = act_above(confidence, correct, value)
        if one["accuracy"]["low" if sure else "value"] >= wanted:
            best = one
    return best


def bootstrap(states, correct, briers):
    order = list(dict.fromkeys(states))
    if len(order) < 2:
        return None, None
    index = np.array([order.index(s) for s in states])
    n = np.bincount(index).astype(float)
    a = np.bincount(index, weights=correct)
    b = np.bincount(index, weights=briers)
    random = Random(1)
    means_a, means_b = [], []
    for _ in range(1000):
        drawn = [random.below(len(order)) for _ in order]
        total = n[drawn].sum()
        means_a.append(a[drawn].sum() / total)
        means_b.append(b[drawn].sum() / total)
    return tuple({"low": nearest_rank(m, 0.025), "high": nearest_rank(m, 0.975)} for m in (means_a, means_b))


def detail(items):
    """items: (row, probabilities, choice, label index)."""
    out = {"n": len(items), "seed": 1}
    confidence = np.array([p[c] for _, p, c, _ in items])
    correct = np.array([float(c == y) for _, _, c, y in items])
    briers = np.array([brier_of(p, y) for _, p, _, y in items])
    states = [row.get("state_sha256") or row["state_id"] for row, _, _, _ in items]
    out["states"] = len(set(states))
    out["accuracy_bootstrap"], out["brier_bootstrap"] = bootstrap(states, correct, briers)
    said = [c for _, _, c, _ in items]
    right = [y for _, _, _, y in items]
    same = all(row["keys"] == items[0][0]["keys"] for row, _, _, _ in items)
    out["balanced_accuracy"] = balanced_accuracy_score(right, said) if same else None
    out["macro_f1"] = f1_score(right, said, average="macro", zero_division=0) if same else None

    p = np.concatenate([q for _, q, _, _ in items])
    events = np.concatenate([np.arange(len(q)) == y for _, q, _, y in items]).astype(float)
    stray = sum(y >= len(q) for _, q, _, y in items)
    n, base = len(items), events.mean()
    rel = res = within = 0.0
    for group in width_groups(p, 15):
        if len(group) == 0:
            continue
        f, o = p[group], events[group]
        rel += len(group) * (f.mean() - o.mean()) ** 2
        res += len(group) * (o.mean() - base) ** 2
        within += ((f - f.mean()) ** 2).sum() - 2 * ((f - f.mean()) * (o - o.mean())).sum()
    out["brier_parts"] = {"reliability": rel / n, "resolution": res / n,
                          "uncertainty": (len(p) * base * (1 - base) + stray) / n, "within_bins": within / n}
    truth = np.array([q[y] if y < len(q) else 0.0 for _, q, _, y in items])
    out["log_loss"] = {"mean": float(-np.log(np.maximum(truth, 1e-6)).mean()), "clip": 1e-6,
                       "clipped": int((truth < 1e-6).sum())}

    width = width_groups(confidence, 15)
    mass = np.array_split(np.argsort(confidence, kind="stable"), min(15, n))
    random = Random(1)
    index = bins_of(confidence, 15)
    sums = np.bincount(index, weights=confidence, minlength=15)
    null = []
    drawn = np.argsort(index, kind="stable")  # bin by bin
    limits = np.floor(confidence[drawn] * 2.0 ** 32)
    for _ in range(1000):
        words = [random.next() for _ in range((n + 1) // 2)]
        halves = np.array([half for word in words for half in (word & 0xFFFFFFFF, word >> 32)][:n], dtype=float)
        hits = (halves < limits).astype(float)
        null.append(np.abs(sums - np.bincount(index[drawn], weights=hits, minlength=15)).sum() / n)
    out["ece"] = {"bins": 15, "equal_width": ece(confidence, correct, width), "equal_mass": ece(confidence, correct, mass),
                  "if_calibrated_mean": float(np.mean(null)), "if_calibrated_p95": nearest_rank(null, 0.95)}
    out["aurc"] = aurc_of(confidence, correct)
    out["act_above"] = [act_above(confidence, correct, t) for t in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)]
    out["threshold_for"] = [{"accuracy": a, "reached": threshold_for(confidence, correct, a, False),
                             "sure": threshold_for(confidence, correct, a, True)} for a in (0.8, 0.9, 0.95, 0.99)]

    def entropy_confidence(q):
        return 1.0 if len(q) == 1 else max(0.0, 1 + sum(x * math.log(x) for x in q if x > 0) / math.log(len(q)))

    def typesafe(row, q):
        k = len(q)
        if k == 1:
            return 1.0
        if row["type"] != "score":
            return max(0.0, (max(q) - 1 / k) / (1 - 1 / k))
        spread = np.mean(np.abs(np.arange(k) - (k - 1) / 2))
        return max(0.0, 1 - float((q * np.abs(np.arange(k) - int(np.argmax(q)))).sum()) / spread)

    def margin(q):
        top = np.sort(q)[::-1]
        return top[0] - (top[1] if len(top) > 1 else 0.0)

    out["mean_confidence"] = {"top_p": confidence.mean(), "margin": np.mean([margin(q) for _, q, _, _ in items]),
                              "confidence_entropy": np.mean([entropy_confidence(q) for _, q, _, _ in items]),
                              "confidence_typesafe": np.mean([typesafe(row, q) for row, q, _, _ in items])}
    levels = [(q, c, y) for row, q, c, y in items if row["type"] == "score" and y < len(q) and len(q) > 1]
    if levels:
        c, y = [x[1] for x in levels], [x[2] for x in levels]
        off = np.array([float((q * np.arange(len(q))).sum()) - z for q, _, z in levels])
        kappa = cohen_kappa_score(c, y, weights="quadratic", labels=list(range(max(c + y) + 1))) if len(set(c + y)) > 1 else None
        out["levels"] = {
            "n": len(levels), "mean_absolute_error": mean_absolute_error(y, c),
            "within_one": np.mean(np.abs(np.array(c) - np.array(y)) <= 1), "quadratic_weighted_kappa": kappa,
            "ranked_probability_score": np.mean([((np.cumsum(q)[:-1] - (np.arange(len(q) - 1) >= z)) ** 2).sum() / (len(q) - 1)
                                                 for q, _, z in levels]),
            "expectation_error": np.abs(off).mean(), "expectation_bias": off.mean()}
    slices = defaultdict(list)
    for (row, q, c, y), b in zip(items, briers):
        if row.get("kind"):
            slices["kind", row["kind"]].append((c == y, b))
        if row.get("language"):
            slices["language", row["language"]].append((c == y, b))
        if row.get("state_chars") is not None:
            edges = [500, 2000, 8000, 32000]
            names = ["0-499", "500-1999", "2000-7999", "8000-31999", "32000 and more"]
            name = names[int(np.searchsorted(edges, row["state_chars"], side="right"))]
            slices["state length", name].append((c == y, b))
        slices["options", str(len(q))].append((c == y, b))
        if y < len(q):
            slices["gold position", str(y + 1)].append((c == y, b))
    def place(key):
        return (key[0], 0 if key[0] in ("kind", "language") else len(key[1]), key[1])
    out["slices"] = [{"by": by, "value": value, "accuracy": wilson(sum(bool(r) for r, _ in slices[by, value]), len(slices[by, value])),
                      "brier": np.mean([b for _, b in slices[by, value]])}
                     for by, value in sorted(slices, key=place)]
    return out


def figures(rows, reading_name, variant, whole):
    """`whole`: of all tasks, where only rows that hold the reading count."""
    rows = [r for r in rows if not whole or reading_name in r.get("readings", {})]
    out = Counter(rows=len(rows), asked=0, refused=0, errors=0, unsupported=0, voids=0, unparsed=0, answered=0, labelled=0)
    items, positives, negatives, masses, planned, sent = [], [], [], [], [], []
    bare_seen = False
    for row in rows:
        if row["status"] == "refused":
            out["refused"] += 1
            continue
        reading = row.get("readings", {}).get(reading_name)
        if reading is None:
            continue
        out["asked"] += 1
        if reading.get("error") is None and not reading.get("unsupported"):
            planned.append(reading["planned_to_done_s"])
            sent.append(reading["sent_to_done_s"])
            if reading["kind"] == "letters" and reading["rounds"]:
                masses.append(reading["rounds"][0]["mass_letters"])
            elif "label_mass" in reading:
                masses.append(reading["label_mass"])
        if reading.get("unsupported"):
            out["unsupported"] += 1
            continue
        if reading.get("error") is not None:
            out["errors"] += 1
            continue
        if reading.get("cause"):
            out["voids"] += 1
            continue
        if reading["kind"] == "written" and reading.get("option") is None:
            out["unparsed"] += 1
            continue
        answer = answer_of(row, reading, variant)
        if answer is None:
            out["unsupported"] += 1
            continue
        p, score = answer
        out["answered"] += 1
        bare_seen = bare_seen or p is None
        if "label" not in row:
            continue
        out["labelled"] += 1
        label = row["keys"].index(row["label"]) if row["label"] in row["keys"] else len(row["keys"])
        if row["type"] == "noul" and label < 2:
            (positives if label == 0 else negatives).append(score if p is None else p[0])
        if p is not None:
            items.append((row, p, int(np.argmax(p)), label))
    out = dict(out)
    out["accuracy"] = None if bare_seen else wilson(sum(c == y for _, _, c, y in items), len(items))
    out["brier"] = np.mean([brier_of(p, y) for _, p, _, y in items]) if items else None
    both = positives and negatives
    out["auroc"] = roc_auc_score([1] * len(positives) + [0] * len(negatives), positives + negatives) if both else None
    for name, values, q in (("letters_mass_median", masses, 0.5), ("latency_planned_median_s", planned, 0.5),
                            ("latency_planned_p90_s", planned, 0.9), ("latency_planned_p95_s", planned, 0.95),
                            ("latency_planned_p99_s", planned, 0.99), ("latency_sent_median_s", sent, 0.5),
                            ("latency_sent_p95_s", sent, 0.95)):
        out[name] = nearest_rank(values, q) if values else None
    if items:
        out["detail"] = detail(items)
    return out


# ---- probes


def said(row, plain, reading, variant):
    """Probabilities by the plain row's options, the option chosen, and where it stood; or None."""
    if row is None or row["status"] != "asked" or reading not in row["readings"]:
        return None
    answer = answer_of(row, row["readings"][reading], variant)
    if answer is None or answer[0] is None or sorted(row["keys"]) != sorted(plain["keys"]):
        return None
    p = answer[0]
    by_key = dict(zip(row["keys"], p))
    place = int(np.argmax(p))
    return np.array([by_key[k] for k in plain["keys"]]), plain["keys"].index(row["keys"][place]), place


def probed(rows):
    """arm -> its items in order: (plain row, {probe: row})."""
    asked = defaultdict(dict)
    for r in rows:
        if r.get("probe") and r["probe"] != "sustained" and r["repeat"] == 0:
            asked[r["arm"], r["task"], r["id"]][r["probe"]] = r
    out = {}
    for r in rows:
        key = (r["arm"], r["task"], r["id"])
        if "probe" not in r and r["repeat"] == 0 and key in asked:
            out.setdefault(r["arm"], []).append((r, dict(sorted(asked[key].items()))))
    return out


def variants(reading):
    if reading["kind"] in ("written", "native"):
        return ["raw"]
    if reading["kind"] == "letters":
        return ["raw"] + (["prior"] if "prior_rounds" in reading else [])
    names = ["raw-sum", "raw-mean", "raw-bytes"]
    return names + (["prior-sum", "prior-mean", "prior-bytes"] if any(reading.get("priors", [])) else [])


def columns_of(items, wanted):
    seen = {}
    for _, by_probe in items:
        for probe, row in by_probe.items():
            if wanted(probe):
                for name, reading in sorted(row["readings"].items()):
                    if reading.get("error") is None:
                        for variant in variants(reading):
                            seen.setdefault((name, variant))
    return sorted(seen, key=lambda column: column[0])


def label_of(row, keys):
    if "label" not in row:
        return None
    return keys.index(row["label"]) if row["label"] in keys else len(keys)


def way(answers):
    """answers: (p, choice, label, state)."""
    if not answers:
        return {"accuracy": wilson(0, 0), "brier": None, "brier_95": None}
    briers = [brier_of(p, y) for p, _, y, _ in answers]
    right = [float(c == y) for _, c, y, _ in answers]
    _, brier_95 = bootstrap([s for _, _, _, s in answers], right, briers)
    return {"accuracy": wilson(int(sum(right)), len(right)), "brier": float(np.mean(briers)), "brier_95": brier_95}


def position(items, reading, variant):
    n = complete = unanswered = 0
    flipped, orders, reverse, changes = [], [], [], []
    gold, places = defaultdict(list), []
    ways = defaultdict(list)
    for plain, by_probe in items:
        first = said(plain, plain, reading, variant)
        label = label_of(plain, plain["keys"])
        others = []
        for probe, row in by_probe.items():
            if probe.startswith("order:") and reading in row["readings"]:
                one = said(row, plain, reading, variant)
                if one is None:
                    unanswered += 1
                else:
                    others.append((probe, row, one))
        if first is None or not others:
            continue
        n += 1
        complete += len(others) + 1 == math.factorial(min(len(plain["keys"]), 20))
        flips = [one[1] != first[1] for _, _, one in others]
        flipped.append(any(flips))
        orders += flips
        reverse += [one[1] != first[1] for probe, _, one in others if probe == "order:reverse"]
        changes.append(max(float(np.abs(one[0] - first[0]).max()) for _, _, one in others))
        for row, one in [(plain, first)] + [(row, one) for _, row, one in others]:
            places.append(one[2])
            if label is not None and label < len(plain["keys"]):
                gold[row["keys"].index(plain["label"])].append(one[1] == label)
        if label is not None:
            state = plain.get("state_sha256") or plain["state_id"]
            every = np.array([first[0]] + [one[0] for _, _, one in others])
            mean, logs = every.mean(axis=0), softmax(np.log(np.maximum(every, sys.float_info.min)).mean(axis=0))
            ways["plain"].append((first[0], first[1], label, state))
            ways["averaged"].append((mean, int(np.argmax(mean)), label, state))
            ways["averaged_logprobs"].append((logs, int(np.argmax(logs)), label, state))
            ways["reversed"] += [(one[0], one[1], label, state) for probe, _, one in others if probe == "order:reverse"]
    uniform = [1 / len(p) if y < len(p) else 0.0 for p, _, y, _ in ways["plain"]]
    out = {"n": n, "complete": complete, "orders": len(orders), "unanswered": unanswered, "labelled": len(uniform),
           "accuracy_by_gold_position": [wilson(sum(gold[i]), len(gold[i])) for i in range(max(gold, default=-1) + 1)],
           "said_at_position": [wilson(places.count(i), len(places)) for i in range(max(places, default=-1) + 1)],
           "flipped_items": wilson(sum(flipped), n), "flipped_orders": wilson(sum(orders), len(orders)),
           "reverse_flips": wilson(sum(reverse), len(reverse)), "max_change": max(changes, default=None),
           "median_change": nearest_rank(changes, .5) if changes else None,
           "uniform_accuracy": float(np.mean(uniform)) if uniform else None}
    return out | {name: way(ways[name]) for name in ("plain", "averaged", "averaged_logprobs", "reversed")}


def positions(arms):
    out = []
    for arm, items in arms.items():
        for reading, variant in columns_of(items, lambda probe: probe.startswith("order:")):
            tasks = []
            for task in dict.fromkeys(plain["task"] for plain, _ in items):
                f = position([item for item in items if item[0]["task"] == task], reading, variant)
                if f["n"] + f["unanswered"]:
                    tasks.append({"task": task} | f)
            out.append({"arm": arm, "reading": reading, "variant": variant, "tasks": tasks,
                        "all": position(items, reading, variant)})
    return out


LAWS = ("negation", "choice", "order", "rename", "whitespace", "alone", "beside", "batch")


def law(pairs, name, reading, variant):
    n = unanswered = changed = 0
    violations, right, probe_right, uniform = [], [], [], []
    for plain, row in pairs:
        a, b = said(plain, plain, reading, variant), said(row, plain, reading, variant)
        if a is None or b is None:
            unanswered += 1
            continue
        if name in ("negation", "choice"):
            if len(a[0]) != 2:
                continue
            violations.append(abs(a[0][0] + b[0][0] - 1) if name == "negation" else abs(a[0][0] - b[0][0]))
        else:
            violations.append(float(np.abs(a[0] - b[0]).max()))
        n += 1
        changed += (a[1] == b[1]) if name == "negation" else (a[1] != b[1])
        label, other = label_of(plain, plain["keys"]), label_of(row, plain["keys"])
        if label is not None:
            right.append(a[1] == label)
            uniform.append(1 / len(a[0]) if label < len(a[0]) else 0.0)
        if other is not None:
            probe_right.append(b[1] == other)
    return {"n": n, "unanswered": unanswered, "violation_mean": float(np.mean(violations)) if n else None,
            "violation_max": max(violations, default=None), "changes": wilson(changed, n),
            "accuracy": wilson(sum(right), len(right)), "probe_accuracy": wilson(sum(probe_right), len(probe_right)),
            "uniform_accuracy": float(np.mean(uniform)) if uniform else None}


def laws(arms):
    out = []
    for arm, items in arms.items():
        if not any(probe.startswith("law:") for _, by_probe in items for probe in by_probe):
            continue
        for reading, variant in columns_of(items, lambda p: p.startswith("law:") or p == "order:reverse"):
            for name in LAWS:
                probe = "order:reverse" if name == "order" else "law:" + name
                pairs = [(plain, by[probe]) for plain, by in items if probe in by and reading in by[probe]["readings"]]
                about = {"arm": arm, "reading": reading, "variant": variant, "law": name}
                for task in dict.fromkeys(plain["task"] for plain, _ in pairs):
                    f = law([pair for pair in pairs if pair[0]["task"] == task], name, reading, variant)
                    if f["n"] + f["unanswered"]:
                        out.append(about | {"task": task} | f)
                f = law(pairs, name, reading, variant)
                if f["n"] + f["unanswered"]:
                    out.append(about | f)
    return out


def interference(arms):
    out = []
    for arm, items in arms.items():
        for reading, variant in columns_of(items, lambda probe: probe == "law:beside"):
            changes, flips = [], []
            for plain, by_probe in items:
                a = said(by_probe.get("law:alone", plain), plain, reading, variant)
                b = said(by_probe.get("law:beside"), plain, reading, variant)
                if a is not None and b is not None:
                    changes.append(float(np.abs(a[0] - b[0]).max()))
                    flips.append(a[1] != b[1])
            if changes:
                out.append({"arm": arm, "reading": reading, "variant": variant, "n": len(changes),
                            "changes": wilson(sum(flips), len(flips)), "mean_change": float(np.mean(changes)),
                            "max_change": max(changes)})
    return out


def numbers(a, b):
    """Pairs of log-probabilities that both readings have."""
    for x, y in zip(a.get("rounds", []), b.get("rounds", [])):
        if x["options"] == y["options"]:
            yield from ((p, q) for p, q in zip(x["logprobs"], y["logprobs"]) if p is not None and q is not None)
    yield from ((x[0], y[0]) for x, y in zip(a.get("texts", []), b.get("texts", [])))


def noise(arms):
    out = []
    for arm, items in arms.items():
        names = sorted({name for _, by in items for probe, row in by.items() if probe.startswith("noise:")
                        for name in row["readings"]})
        for name in names:
            for kind in ("again", "alone", "crowd", "cold"):
                n, deltas, flips, changes = 0, [], [], []
                for plain, by_probe in items:
                    row = by_probe.get("noise:" + kind)
                    a = plain["readings"].get(name) if row else None
                    b = row["readings"].get(name) if row else None
                    if not a or not b or any(r.get("error") is not None or r.get("cause") for r in (a, b)):
                        continue
                    n += 1
                    deltas += [abs(x - y) for x, y in numbers(a, b)]
                    x, y = (said(r, plain, name, variants(a)[0]) for r in (plain, row))
                    if x is not None and y is not None:
                        flips.append(x[1] != y[1])
                        changes.append(float(np.abs(x[0] - y[0]).max()))
                if n:
                    out.append({"arm": arm, "reading": name, "asked": kind, "n": n, "values": len(deltas),
                                "max_logprob_change": max(deltas, default=None),
                                "max_probability_change": max(changes, default=None),
                                "flips": wilson(sum(flips), len(flips))})
    return out


def label_priors(rows):
    means = defaultdict(list)
    for r in rows:
        if not r.get("probe", "order:").startswith("order:"):
            continue
        for name, reading in r["readings"].items():
            rounds = reading.get("prior_rounds") or []
            if len(rounds) == 1 and not rounds[0].get("cause"):
                p = softmax(np.array(filled(rounds[0], reading["policy"])))
                means[r["arm"], name, len(p)].append(p)
    return [{"arm": arm, "reading": name, "options": n, "rows": len(ps), "p": list(np.mean(ps, axis=0))}
            for (arm, name, n), ps in sorted(means.items())]


def prefix(rows):
    of = defaultdict(lambda: ([], [], [], []))
    for r in rows:
        for name, reading in r["readings"].items() if "probe" not in r else ():
            if reading.get("error") is not None or reading.get("unsupported"):
                continue
            cold, warm, shares, unknown = of[r["arm"], name]
            cached, seconds = reading.get("cached_tokens"), reading["planned_to_done_s"]
            (unknown if cached is None else warm if cached > 0 else cold).append(seconds)
            if cached and reading.get("prompt_tokens"):
                shares.append(cached / reading["prompt_tokens"])

    def median(values):
        return nearest_rank(values, .5) if values else None
    return [{"arm": arm, "reading": name, "cold_n": len(cold), "cold_median_s": median(cold), "warm_n": len(warm),
             "warm_median_s": median(warm), "warm_cached_share_median": median(shares), "unknown_n": len(unknown)}
            for (arm, name), (cold, warm, shares, unknown) in sorted(of.items())]


def sustained(rows):
    arms = {r["arm"] for r in rows if r.get("probe") == "sustained"}
    of = defaultdict(list)
    for r in rows:
        if r["arm"] in arms and r.get("probe", "sustained") == "sustained" and r["status"] != "refused":
            at = int(datetime.fromisoformat(r["stamp"].replace("Z", "+00:00")).timestamp())
            for name, reading in r["readings"].items():
                if not reading.get("unsupported"):
                    of[r["arm"], name].append((at, None if reading.get("error") is not None else reading["planned_to_done_s"]))
    out = []
    for (arm, name), samples in sorted(of.items()):
        begin, end = min(at for at, _ in samples), max(at for at, _ in samples)
        stamps = np.sort([at for at, _ in samples])
        answered = [s for _, s in samples if s is not None]

        def median(keep):
            values = [s for at, s in samples if s is not None and keep(at)]
            return nearest_rank(values, .5) if values else None
        minutes = []
        for minute in sorted({(at - begin) // 60 for at, _ in samples}):
            here = [s for at, s in samples if (at - begin) // 60 == minute]
            minutes.append({"minute": minute, "n": sum(s is not None for s in here), "failed": sum(s is None for s in here),
                            "median_s": median(lambda at, m=minute: (at - begin) // 60 == m)})
        out.append({"arm": arm, "reading": name, "answered": len(answered), "failed": len(samples) - len(answered),
                    "span_s": end - begin, "longest_pause_s": int(np.diff(stamps).max()) if len(stamps) > 1 else 0,
                    "answers_per_s": len(answered) / (end - begin) if end > begin else None,
                    "first_minute_median_s": median(lambda at: at - begin < 60),
                    "last_minute_median_s": median(lambda at: end - at < 60), "minutes": minutes})
    return out


def probe_figures(rows):
    arms = probed(rows)
    return {"rows": sum("probe" in r for r in rows), "position": positions(arms), "label_priors": label_priors(rows),
            "laws": laws(arms), "interference": interference(arms), "noise": noise(arms), "sustained": sustained(rows),
            "prefix": prefix(rows)}


# ---- comparing


class Check:
    def __init__(self):
        self.numbers, self.worst, self.faults = 0, {}, []  # worst: by limit

    def same(self, want, got, path, limit=LIMIT):
        if isinstance(want, dict):
            for key, value in want.items():
                self.same(value, got.get(key) if isinstance(got, dict) else None, f"{path}.{key}", limit)
        elif isinstance(want, list):
            if not isinstance(got, list) or len(got) != len(want):
                self.faults.append(f"{path}: {len(want)} entries here")
                return
            for i, (a, b) in enumerate(zip(want, got)):
                self.same(a, b, f"{path}[{i}]", limit)
        elif want is None or isinstance(want, str):
            if want != got:
                self.faults.append(f"{path}: {want!r} here, {got!r} there")
        else:
            self.numbers += 1
            if got is None or not abs(float(want) - got) <= limit * max(1.0, abs(got)):
                self.faults.append(f"{path}: {float(want)!r} here, {got!r} there")
            else:
                off = abs(float(want) - got) / max(1.0, abs(got))
                self.worst[limit] = max(self.worst.get(limit, 0.0), off)

    def report(self):
        for fault in self.faults[:20]:
            print(fault)
        largest = ", ".join(f"{off:.1e} (limit {limit:.0e})" for limit, off in sorted(self.worst.items()))
        print(f"{self.numbers} numbers compared, {len(self.faults)} differ, largest difference of the others {largest}")
        return 1 if self.faults or self.numbers == 0 else 0


def load_rows(path):
    """The rows of a file, each item of an arm once: a later row takes the place of the earlier one."""
    rows = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            rows[row["arm"], row["task"], row["id"], row["repeat"], row.get("probe", "")] = row
    return list(rows.values())


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    everything = load_rows(sys.argv[1])
    rows = [r for r in everything if "probe" not in r]
    with open(sys.argv[2], encoding="utf-8") as file:
        scores = json.load(file)
    check = Check()
    for column in scores["columns"]:
        mine = [r for r in rows if r["arm"] == column["arm"]]
        name = f"{column['arm']} {column['reading']}:{column['variant']}"
        for task in column["tasks"]:
            of_task = [r for r in mine if r["task"] == task["task"]]
            check.same(figures(of_task, column["reading"], column["variant"], False), task, f"{name} {task['task']}")
        if column["reading"] != "nothing":
            ordered = list(itertools.chain.from_iterable(
                [r for r in mine if r["task"] == t] for t in dict.fromkeys(r["task"] for r in rows)))
            check.same(figures(ordered, column["reading"], column["variant"], True), column["all"], f"{name} all")
    check.same(probe_figures(everything), scores["probes"], "probes")
    folder = os.path.dirname(os.path.abspath(sys.argv[1]))
    if os.path.exists(os.path.join(folder, "power.jsonl")):
        from recompute_energy import run_energy, with_codes
        told = scores["energy"][0]
        for name in ("tasks", "arms", "blocks"):
            told[name] = [with_codes(figures) for figures in told[name]]
        told["all"] = with_codes(told["all"])
        check.same(run_energy(folder, everything), told, "energy")
    return check.report()


if __name__ == "__main__":
    sys.exit(main())
