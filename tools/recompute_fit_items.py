"""What rows hold for tools/recompute_fit.py: the labelled items of a column with their raw scores."""
import numpy as np

from recompute import answer_of, filled, native_numbers, printed_step


def scores_of(row, reading, variant):
    """Raw scores by option, one alone for a bare score; None without an answer."""
    if answer_of(row, reading, variant) is None:
        return None
    keys = row["keys"]
    if reading["kind"] == "written":
        return np.eye(len(keys))[reading["option"]]
    if reading["kind"] == "native":
        return np.log(np.maximum(native_numbers(row, reading), printed_step(reading["probs"]) / 2))
    if reading["kind"] == "letters":
        rounds, policy = reading["rounds"], reading["policy"]
        out = np.zeros(len(keys))
        z = [np.array(filled(r, policy)) for r in rounds]
        if len(rounds) == 1:
            if variant == "prior":
                z[0] = z[0] - np.array(filled(reading["prior_rounds"][0], policy))
            out[rounds[0]["options"]] = z[0]
        else:
            for group, inside, of_winner in zip(rounds[:-1], z[:-1], z[-1]):
                out[group["options"]] = of_winner + inside - inside.max()
        return out
    which, norm_ = variant.split("-")
    texts = np.array(reading["texts"], dtype=float)
    sums = texts[:, 0] - (np.array([p[0] for p in reading["priors"]]) if which == "prior" else 0)
    scores = sums / {"sum": 1, "mean": texts[:, 1], "bytes": texts[:, 2]}[norm_]
    if len(scores) != len(keys) and not (len(scores) == 1 and row["type"] == "noul"):
        return None
    return scores


def variants_of(reading):
    if reading["kind"] in ("written", "native"):
        return ["raw"]
    if reading["kind"] == "letters":
        return ["raw", "prior"] if reading.get("prior_rounds") is not None else ["raw"]
    out = ["raw-sum", "raw-mean", "raw-bytes"]
    if any(p is not None for p in reading.get("priors", [])):
        out += ["prior-sum", "prior-mean", "prior-bytes"]
    return out


def failed(reading):
    return reading.get("error") is not None or bool(reading.get("cause"))


def columns_of(rows):
    out = []
    for row in rows:
        for name in sorted(row.get("readings", {})):
            reading = row["readings"][name]
            for variant in [] if failed(reading) else variants_of(reading):
                if (row["arm"], name, variant) not in out:
                    out.append((row["arm"], name, variant))
    return out


def label_of(row):
    keys = row["keys"]
    return keys.index(row["label"]) if row["label"] in keys else len(keys)


def state_of(row):
    return row.get("state_sha256") or row["state_id"]


class Item:
    def __init__(self, row, reading, variant):
        self.name = (row["task"], row["id"], row["repeat"])
        self.task, self.state = row["task"], state_of(row)
        self.options, self.label = len(row["keys"]), label_of(row)
        self.scores = scores_of(row, reading, variant)
        self.own = None if self.scores is None else answer_of(row, reading, variant)[0]
        self.seconds = reading["planned_to_done_s"] + (reading.get("prior_s", 0) if variant.startswith("prior") else 0)
        self.tokens = reading.get("prompt_tokens")
        if self.tokens is not None:
            self.tokens += reading.get("output_tokens") or 0


def items_of(rows, column):
    """(row, item) of the labelled questions that this column was asked, answered or not."""
    arm, name, variant = column
    out = []
    for row in sorted(rows, key=lambda r: (r["task"], r["id"], r["repeat"])):
        reading = row.get("readings", {}).get(name)
        if row["arm"] != arm or row["status"] == "refused" or reading is None:
            continue
        if "label" not in row or len(row["keys"]) < 2:
            continue
        if failed(reading) or variant in variants_of(reading):
            out.append((row, Item(row, reading, variant)))
    return out


def describe(rows, column):
    """What an entry says of its reading, by the first row."""
    row = rows[0]
    reading = row["readings"][column[1]]
    out = {"type": row["type"], "mode": row["mode"], "reading": column[1], "variant": column[2]}
    if reading["kind"] == "letters":
        out["policy"] = reading["policy"]
    if reading["kind"] == "texts" and column[1] not in ("words", "words-unlisted"):
        out["prompt_digest"] = reading.get("prompt_sha256") or None
    return out
