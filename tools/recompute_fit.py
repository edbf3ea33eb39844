#!/usr/bin/env python3
"""Recomputes what `deem calibrate` and `deem choose` write from rows.jsonl by other means (scipy's root
finders, scikit-learn's isotonic regression, numpy) and compares every number.

    tools/recompute_fit.py ROWS.jsonl FIT.json [REPORT.json] [FIT.json [REPORT.json]]...

REPORT is what the command that wrote the FIT before it printed with --format json. run.json beside ROWS
says which arms are of one model. Where the commands were given them: --arm, --method (calibrate), --by
(choose, without a REPORT) and --cheapest. Prints how many numbers agree and the largest difference; exit
1 when one differs by over 1e-9, or a fitted constant by over 1e-7 (a part of its size over 1), where
two solvers of one flat optimum part.
"""
import argparse
import hashlib
import json
import math
import os
import sys
from collections import Counter, defaultdict

import numpy as np
from scipy.stats import norm

from recompute import Check, Random, load_rows, nearest_rank
from recompute_fit_items import columns_of, describe, items_of, label_of, state_of
from recompute_fit_methods import (METHOD_NONE, SEED, Sample, figures, fit, fit_best, held_out, interpolate, intervals,
                                   losses, numbered, parts_of, predict)

CONSTANT = 1e-7
TYPES = ("noul", "choice", "score")


# ---- calibrate


def too_few(items, states):
    if items < 30:
        return f"{items} labelled answers, 30 are needed"
    return f"answers on {states} states, 5 are needed" if states < 5 else None


def tried_figures(sample, p, method):
    out = {"method": method, "held_out": figures(sample, p), "brier_difference": None, "log_loss_difference": None}
    if sample.has_own and method != "none":
        change = losses(sample, sample.all, p) - losses(sample, sample.all, sample.own)
        out["brier_difference"], out["log_loss_difference"] = intervals(change[1:], sample.cluster)
    return out


def calibrate_sample(sample, wanted_method):
    """(report members, entry members)"""
    methods = sample.methods()
    splits = parts_of(sample, sample.all)
    tried = []
    for method in methods:
        fits = [fit(sample, train, method) for train, _ in splits]
        if None not in fits:
            tried.append(tried_figures(sample, held_out(sample, splits, fits), method))
    if wanted_method:
        if wanted_method not in methods:
            return {"refused": f"{wanted_method} does not suit it"}, None
        whole = fit(sample, sample.all, wanted_method)
        before = losses(sample, sample.all, sample.own)[2].sum() if sample.has_own else math.inf
        worse = whole is None or losses(sample, sample.all, predict(sample, sample.all, whole))[2].sum() > before
        methods = [m for m in methods if m == wanted_method or (worse and m == "none")]
    best = fit_best(sample, sample.all, methods)
    if best is None:
        return {"refused": "no method suits it"}, None
    inner = [fit_best(sample, train, methods) for train, _ in splits]
    picked = None
    if None not in inner:
        picked = tried_figures(sample, held_out(sample, splits, [b[0] for b in inner]), "picked")
        picked["method"] = best[0]["method"]
        if best[0]["method"] == "none":
            picked["brier_difference"] = picked["log_loss_difference"] = None
    after = losses(sample, sample.all, predict(sample, sample.all, best[0]))[2].mean()
    before = losses(sample, sample.all, sample.own)[2].mean() if sample.has_own else None
    report = {"refused": None, "method": best[0]["method"], "own_log_loss_before": before, "own_log_loss_after": after,
              "tried": tried, "picked": picked}
    none = [t["held_out"] for t in tried if t["method"] == "none"]
    entry = {"calibrator": best[0], "before": none[0] if none else None, "after": picked and picked["held_out"]}
    return report, entry


def calibrate_one(pairs, column, task, options, method):
    items = [item for _, item in pairs]
    tasks = {i.task for i in items}
    by = "task" if task == "" and len(tasks) >= 3 else "state"
    answered = [i for i in items if i.scores is not None]
    known = describe([row for row, _ in pairs], column)
    if task == "":
        known["options"] = options
        known.pop("prompt_digest", None)
    states = len({i.state for i in answered})
    report = {"arm": column[0], "reading": column[1], "variant": column[2], "task": task or None,
              "type": known["type"], "items": len(answered), "states": states,
              "unanswered": len(items) - len(answered), "refused": too_few(len(answered), states)}
    if task == "":
        report["options"] = options
    if report["refused"]:
        return report, None
    clusters = numbered(getattr(i, by) for i in items)  # those of unanswered items too
    sample = Sample(answered, [c for i, c in zip(items, clusters) if i.scores is not None])
    more, entry = calibrate_sample(sample, method)
    report.update(more)
    if entry is None:
        return report, None
    report["held_out_by"] = by
    return report, {"task": task, **known, "n": len(answered), "states": states, "held_out_by": by, **entry}


def calibrate(rows, columns, method):
    """(report of each fit, entries)"""
    out = []
    tasks, shapes = defaultdict(list), defaultdict(list)
    rows = [r for r in rows if r["repeat"] == 0]
    for r in rows:
        tasks[r["task"]].append(r)
        shapes[TYPES.index(r["type"]), len(r["keys"])].append(r)
    for column in columns:
        for task, those in tasks.items():
            pairs = items_of(those, column)
            if any(item.scores is not None for _, item in pairs):
                out.append(calibrate_one(pairs, column, task, None, method))
        for (_, options), those in sorted(shapes.items(), key=lambda one: one[0]):
            if len({r["task"] for r in those}) < 2:
                continue
            pairs = items_of(those, column)
            if len({item.task for _, item in pairs}) >= 2:
                out.append(calibrate_one(pairs, column, "", options, method))
    return [report for report, _ in out], [entry for _, entry in out if entry]


# ---- choose

CRITERIA = {"brier": lambda loss: loss[1], "log-loss": lambda loss: loss[2], "accuracy": lambda loss: 1 - loss[0]}


def value_of(fig, by):
    return 1 - fig["accuracy"] if by == "accuracy" else fig["brier" if by == "brier" else "log_loss"]


def text_of(column):
    return f"{column[0]} {column[1]}:{column[2]}"


class Candidate:
    """One way of reading: `inner` is its criterion inside each part's other items."""

    def __init__(self, column, sample, fitted, whole, fits, inner):
        self.column, self.sample, self.fitted = column, sample, fitted
        self.whole, self.fits, self.inner = whole, fits, inner


def candidates_of(column, sample, splits, by):
    out = []
    if sample.has_own:
        inner = [CRITERIA[by](losses(sample, a, sample.own[a])).mean() for a, _ in splits]
        out.append(Candidate(column, sample, False, METHOD_NONE, [METHOD_NONE] * len(splits), inner))
    best = fit_best(sample, sample.all, sample.methods())
    if best is None or (sample.has_own and best[0]["method"] == "none"):
        return out
    inner = [fit_best(sample, a, sample.methods()) for a, _ in splits]
    if None not in inner:
        out.append(Candidate(column, sample, True, best[0], [b[0] for b in inner],
                             [CRITERIA[by](b[1]).mean() for b in inner]))
    return out


def within_limit(names, state, most=2000):
    """`names` less whole states in random order, until there are `most` or fewer."""
    if len(names) <= most:
        return names
    order = sorted({state[n] for n in names})
    random = Random(SEED)
    for i in range(len(order), 1, -1):
        j = random.below(i)
        order[i - 1], order[j] = order[j], order[i - 1]
    left = set(names)
    for one in order:
        if len(left) <= most:
            break
        left -= {n for n in left if state[n] == one}
    return sorted(left)


def baselines(rows, names):
    first = {}
    for r in rows:
        name = (r["task"], r["id"], r["repeat"])
        if name in names and "label" in r:
            first.setdefault(name, r)
    count = Counter(r["label"] for r in first.values())
    out = {"uniform_accuracy": [], "prior_accuracy": [], "uniform_brier": [], "prior_brier": []}
    overlap = []
    for r in first.values():
        label, n = label_of(r), len(r["keys"])
        weight = np.array([count[k] for k in r["keys"]], dtype=float)
        prior = weight / weight.sum() if weight.sum() else np.full(n, 1 / n)
        truth = np.arange(n) == label
        stray = label >= n
        out["uniform_accuracy"].append(0.0 if stray else 1 / n)
        out["prior_accuracy"].append(float(prior.argmax() == label))
        out["uniform_brier"].append(((1 / n - truth) ** 2).sum() + stray)
        out["prior_brier"].append(((prior - truth) ** 2).sum() + stray)
        if r.get("overlap_choice", -1) >= 0:
            overlap.append(float(r["overlap_choice"] == label))
    return {**{k: np.mean(v) for k, v in out.items()}, "keyword_overlap_accuracy": np.mean(overlap) if overlap else None}


def gather(rows, columns, task):
    """(report so far, rows and items of each column, samples of those kept, item names); no samples when refused"""
    asked = {c: items_of(rows, c) for c in columns}
    union = {item.name for pairs in asked.values() for _, item in pairs}
    kept, notes = [], []
    for c, pairs in asked.items():
        few = len(pairs) < 0.9 * len(union)
        if not any(item.scores is not None for _, item in pairs):
            if pairs and not few:
                notes.append(f"{text_of(c)}: left out, no answer to any of {len(pairs)} items")
        elif few:
            notes.append(f"{text_of(c)}: left out, asked only {len(pairs)} of {len(union)} items")
        else:
            kept.append(c)
    out = {"task": task, "items": 0, "states": 0, "refused": "no labelled answers", "notes": notes}
    if not kept:
        return out, asked, {}, []
    names = sorted(set.intersection(*({item.name for _, item in asked[c]} for c in kept)))
    if len(names) < len(union):
        notes.append(f"{len(union) - len(names)} items that not every column was asked are left out")
    state = {(r["task"], r["id"], r["repeat"]): state_of(r) for r in reversed(rows)}
    left = within_limit(names, state)
    out.update(items=len(left), states=len({state[n] for n in left}), refused=None)
    out["refused"] = too_few(out["items"], out["states"])
    if out["refused"]:
        return out, asked, {}, []
    out["left_out"] = len(names) - len(left)
    samples = {}
    for c in kept:
        by_name = {item.name: item for _, item in asked[c]}
        items = [by_name[n] for n in left]
        samples[c] = Sample(items, numbered(i.state for i in items))
    return out, asked, samples, left


def list_candidates(ranked, asked, states, by):
    """(candidates as printed, index of the next column's, items needed to tell it from the best)"""
    best, cluster = ranked[0], ranked[0].sample.cluster
    listed, next_, needed = [], None, None
    for place, one in enumerate(ranked):
        d = CRITERIA[by](one.losses) - CRITERIA[by](best.losses)
        interval = intervals([d], cluster)[0]
        times = [i.seconds for i in one.sample.items if i.scores is not None]
        tokens = [i.tokens for i in one.sample.items if i.scores is not None and i.tokens is not None]
        known = describe([row for row, _ in asked[one.column]], one.column)
        listed.append({"arm": one.column[0], "reading": one.column[1], "variant": one.column[2], "mode": known["mode"],
                       "fitted": one.fitted, "method": one.whole["method"], "held_out": one.figures,
                       "unanswered": int((~one.sample.answered).sum()),
                       "median_s": nearest_rank(times, 0.5) if times else None,
                       "mean_tokens": np.mean(tokens) if tokens else None, "behind": d.mean(),
                       "behind_interval": interval, "chosen_in": one.chosen_in,
                       "within_noise": one is best or interval is None or interval["low"] <= 0})
        if next_ is None and one.column != best.column:
            next_ = place
            by_state = np.bincount(cluster, weights=d - d.mean())
            variance = (by_state ** 2).sum() * states / (states - 1) / len(d) ** 2
            if d.mean() > 0 and states > 1:
                needed = len(d) * (norm.ppf(0.975) + norm.ppf(0.8)) ** 2 * variance / d.mean() ** 2
    return listed, next_, needed


def choose_task(rows, columns, task, by, cheapest):
    """(report of the task, entry or None)"""
    out, asked, samples, left = gather(rows, columns, task)
    if not samples:
        return out, None
    any_ = next(iter(samples.values()))
    splits = parts_of(any_, any_.all)
    found = [one for c in samples for one in candidates_of(c, samples[c], splits, by)]
    if not found:
        out["refused"] = "no reading gives probabilities"
        return out, None
    for one in found:
        p = held_out(one.sample, splits, one.fits)
        one.figures, one.losses = figures(one.sample, p), losses(one.sample, one.sample.all, p)
        one.p, one.chosen_in = p, 0
    ranked = sorted(found, key=lambda one: value_of(one.figures, by))
    best = ranked[0]

    procedure = np.zeros((len(left), max(c.p.shape[1] for c in found)))
    answered = np.zeros(len(left), dtype=bool)
    for f, (_, part) in enumerate(splits):
        least = min(one.inner[f] for one in found)
        pick = next(one for one in found if one.inner[f] <= least + 1e-12)  # the first of equals but for rounding
        pick.chosen_in += 1
        procedure[part, :pick.p.shape[1]] = pick.p[part]
        answered[part] = pick.sample.answered[part]
    mixed = Sample([Shape(i, a) for i, a in zip(any_.items, answered)], any_.cluster)
    procedure = figures(mixed, procedure)

    listed, next_, needed = list_candidates(ranked, asked, out["states"], by)
    least = 0
    for place, one in enumerate(listed):
        if one["within_noise"] and one["median_s"] is not None and (
                listed[least]["median_s"] is None or one["median_s"] < listed[least]["median_s"]):
            least = place
    chosen = least if cheapest else 0
    out.update(parts=len(splits), candidates=listed, chosen=chosen, cheapest=least,
               method=listed[chosen]["method"], procedure=procedure,
               price=value_of(procedure, by) - value_of(best.figures, by), items_needed=needed, next=next_,
               baselines=baselines(rows, set(left)))
    one = ranked[chosen]
    own = [c.figures for c in found if c.column == one.column and not c.fitted]
    entry = {"task": task, **describe([row for row, _ in asked[one.column]], one.column), "calibrator": one.whole,
             "n": len(left), "states": out["states"], "held_out_by": "state", "before": own[0] if own else None,
             "after": procedure if chosen == 0 else one.figures}
    return out, entry


class Shape:
    """An item as figures take it, whoever answered."""

    def __init__(self, item, answered):
        self.options, self.label = item.options, item.label
        self.scores = np.zeros(item.options) if answered else None
        self.own = None


def choose(rows, by, cheapest):
    rows = [r for r in rows if r["repeat"] == 0]
    columns = columns_of(rows)
    out = [choose_task([r for r in rows if r["task"] == t], columns, t, by, cheapest)
           for t in dict.fromkeys(r["task"] for r in rows)]
    return [report for report, _ in out], [entry for _, entry in out if entry]


# ---- comparing


def same_model(a, b):
    def differ(*members):
        return any(a.get(m) != b.get(m) for m in members)
    if differ("template_sha256"):
        return False
    if a.get("digest") and b.get("digest"):
        return not differ("digest")
    return not differ("digest", "kind", "model", "root", "detail")


def compare_entry(check, want, got, path):
    want = dict(want)
    mine, theirs = want.pop("calibrator"), got.get("calibrator", {})
    check.same({k: v for k, v in want.items()}, got, path)
    if mine["method"] == "isotonic":
        check.same(mine["of"], theirs.get("of"), f"{path}.of")
        knots = [theirs["knots"], mine["knots"]]
        x = np.unique([k[0] for one in knots for k in one])
        x = np.concatenate([x, (x[1:] + x[:-1]) / 2, [x[0] - 1, x[-1] + 1]])
        a, b = (interpolate(one, x) for one in knots)
        check.same(b.tolist(), a.tolist(), f"{path}.isotonic", CONSTANT)
    else:
        check.same(mine, theirs, f"{path}.calibrator", CONSTANT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("files", nargs="+", metavar="FIT.json [REPORT.json]")
    parser.add_argument("--arm", action="append")
    parser.add_argument("--method")
    parser.add_argument("--by", default="brier", choices=sorted(CRITERIA))
    parser.add_argument("--cheapest", action="store_true")
    flags = parser.parse_args()
    rows = [row for row in load_rows(flags.rows) if "probe" not in row]
    arms = list(dict.fromkeys(r["arm"] for r in rows))
    run = os.path.join(os.path.dirname(flags.rows) or ".", "run.json")
    model = {}
    if os.path.exists(run):
        with open(run, encoding="utf-8") as file:
            planned = [a for a in json.load(file)["arms"] if not flags.arm or a["name"] in flags.arm]
        model = planned[0]["identity"]
        arms = [a["name"] for a in planned if same_model(model, a["identity"])]
    rows = [r for r in rows if r["arm"] in arms]
    with open(flags.rows, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    check = Check()
    documents = []
    for path in flags.files:
        with open(path, encoding="utf-8") as file:
            documents.append((path, json.load(file)))
    for place, (path, document) in enumerate(documents):
        if document["schema"] != "deem.fit/1":
            continue
        after = documents[place + 1][1] if place + 1 < len(documents) else {"schema": "deem.fit/1"}
        report = None if after["schema"] == "deem.fit/1" else after
        check.same([{"rows_sha256": digest, "rows": len(rows)}], document["fitted_on"], f"{path} fitted_on")
        names = ("kind", "model", "root", "digest", "template_sha256", "detail")
        check.same({n: model[n] for n in names if n in model}, document["valid_for"], f"{path} valid_for")
        if document["by"] == "choose":
            reports, entries = choose(rows, report["by"] if report else flags.by, flags.cheapest)
            fits = report and report["tasks"]
        else:
            columns = columns_of(rows)
            if report:  # --reading may have asked for some of them
                columns = [c for c in columns if c in {(f["arm"], f["reading"], f["variant"]) for f in report["fits"]}]
            reports, entries = calibrate(rows, columns, flags.method)
            fits = report and report["fits"]
        if report:
            check.same(reports, fits, os.path.basename(path) + " report")
        if len(entries) != len(document["entries"]):
            check.faults.append(f"{path}: {len(document['entries'])} entries, {len(entries)} here")
        for i, (want, got) in enumerate(zip(entries, document["entries"])):
            compare_entry(check, want, got, f"{os.path.basename(path)}[{i}] {want['task']} {want['reading']}:{want['variant']}")
    return check.report()


if __name__ == "__main__":
    sys.exit(main())
