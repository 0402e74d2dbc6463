#!/bin/sh
# Makes crates/storymeter-report/assets/DejaVuSans-subset.ttf from DejaVu Sans 2.37 (Debian package
# fonts-dejavu-core) with fonttools (pip install fonttools). The subset has Latin, Greek, Cyrillic
# and the signs that figures use, without hinting.
set -eu
cd "$(dirname "$0")/.."
pyftsubset "${1:-/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf}" \
    --unicodes="U+0020-007E,U+00A0-017F,U+0370-03FF,U+0400-045F,U+2010-2027,U+2030-203A,U+2070-209C,U+2190-2193,U+2200-2265" \
    --no-hinting --desubroutinize --layout-features=kern \
    --output-file=crates/storymeter-report/assets/DejaVuSans-subset.ttf
