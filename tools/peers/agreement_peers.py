#!/usr/bin/env python3
"""Agreement of raters in `meta table`, compared with pingouin, krippendorff and statsmodels.

Usage: agreement_peers.py pingouin|krippendorff|statsmodels

Some ratings are missing. Krippendorff's alpha uses all that are there. The other measures need
every rating of a story, and stories that lack one are left out.
"""

import random
import sys
import warnings

import numpy as np
from common import Comparison, Program, arguments

warnings.filterwarnings("ignore")
FORMS = ["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]
CRITERIA = 6


def table(seed):
    """Ratings of stories by raters, with a share of agreement, ties and missing values."""
    draw = random.Random(seed)
    stories, raters = draw.choice([4, 6, 12, 30, 80]), draw.choice([2, 3, 4, 7])
    criteria = {}
    for c in range(CRITERIA):
        levels, share = draw.choice([2, 3, 5, 5, 7]), draw.choice([0.0, 0.3, 0.7, 0.95])
        missing = draw.choice([0.0, 0.0, 0.1, 0.3])
        rows = []
        for _ in range(stories):
            own = draw.random()
            rated = [1.0 + int((share * own + (1 - share) * draw.random()) * levels) for _ in range(raters)]
            kept = [None if draw.random() < missing else value for value in rated]
            rows.append(kept if any(value is not None for value in kept) else rated)
        criteria[f"c{c}"] = rows
    return criteria


def records(criteria):
    stories = len(criteria["c0"])
    return [
        {"id": str(n), "system": f"s{n % 3}", "item": str(n // 3), "scores": {"m": n * 7919 % 101},
         "human": {name: rows[n] for name, rows in criteria.items()}}
        for n in range(stories)
    ]


def pingouin_values(rows):
    import pandas as pd
    import pingouin

    pingouin.options["round.column.CI95"] = None
    frame = pd.DataFrame([{"t": t, "r": r, "v": value} for t, row in enumerate(rows) for r, value in enumerate(row)])
    found = pingouin.intraclass_corr(frame, targets="t", raters="r", ratings="v")
    forms = [list(map(float, (f["ICC"], f["F"], f["df1"], f["df2"], f["pval"], *f["CI95"]))) for _, f in found.iterrows()]
    # W of Friedman's test: raters are the subjects, stories are what they order.
    w = pingouin.friedman(frame, dv="v", within="t", subject="r")["W"].iloc[0]
    return forms, float(w)


peer = sys.argv.pop(1)
options = arguments()
program = Program(options.storymeter)
comparison = Comparison(peer)
for case in range(int(150 * options.scale)):
    criteria = table(options.seed * 100_000 + case)
    sheets = program.sheets(records(criteria), "agreement", "agreement-forms")
    agreement = {row["criterion"]: row for row in sheets["agreement"]}
    for name, rows in criteria.items():
        complete = [row for row in rows if None not in row]
        mine, where = agreement.get(name, {}), f"{case} {name}"
        if peer == "krippendorff":
            import krippendorff

            data = np.array([[np.nan if v is None else v for v in row] for row in rows]).T
            rated_twice = [row for row in rows if sum(v is not None for v in row) > 1]
            if len(set(data[~np.isnan(data)])) < 2 or len(rated_twice) < 2:
                continue
            theirs = [krippendorff.alpha(data, level_of_measurement=level) for level in ("ordinal", "interval")]
            kind = "alpha (ordinal, interval)" + ", with missing ratings" * (len(complete) < len(rows))
            comparison.values(kind, where, [mine.get(f"alpha ({s})") for s in ("ordinal", "interval")], theirs)
        elif len(complete) < 3 or len({value for row in complete for value in row}) < 2:
            continue
        elif peer == "statsmodels":
            from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

            theirs = float(fleiss_kappa(aggregate_raters(np.array(complete))[0]))
            comparison.values("Fleiss' kappa", where, [mine.get("kappa (Fleiss)")], [theirs])
        else:
            forms, w = pingouin_values(complete)
            ours = {row["form"]: row for row in sheets["agreement-forms"] if row["criterion"] == name}
            for form, theirs in zip(FORMS, forms):
                # Where raters agree fully, numbers are quotients of rounding errors.
                if not np.isfinite(theirs).all() or np.abs(theirs).max() > 1e12:
                    continue
                cells = [ours.get(form, {}).get(key) for key in ("value", "F", "df1", "df2", "p", "low", "high")]
                comparison.values("ICC: six forms with test and interval", f"{where} {form}", cells, theirs,
                                  relative=True)
            comparison.values("Kendall's W", where, [mine.get("W (Kendall)")], [w])
comparison.finish()
