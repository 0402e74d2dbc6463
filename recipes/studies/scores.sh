# Functions that the studies share. They score stories into a folder of UNION's layout.
#
# STORYMETER is the program (by default target/release/storymeter), and SHARED the folder of the
# shared data (by default ../shared).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
storymeter=${STORYMETER:-$root/target/release/storymeter}
shared=$(realpath "${SHARED:-$root/../shared}")
union_roc=$shared/data/annotated/union_roc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

usage() {
    echo "usage: $0 $1" >&2
    exit 2
}

# rated FOLDER: links UNION's rated stories and the published scores of Table 5 into a folder.
rated() {
    mkdir -p "$1/metric_output"
    ln -s "$union_roc"/ant_data.txt "$union_roc"/ant_data_all.txt "$1"
    ln -s "$union_roc"/metric_output/*.txt "$1/metric_output"
}

# score STORIES MODEL OUT: writes one score per line, in the order of the stories.
score() {
    "$storymeter" score "$1" --model "$2" --format csv --quiet |
        tail -n +2 | awk -F, '{print $NF}' > "$3"
}

# score_all FOLDER NAME=MODEL...: scores union_roc with each model, one file per model.
score_all() {
    local folder=$1
    shift
    for pair in "$@"; do
        score "$union_roc/ant_data.txt" "${pair#*=}" "$folder/${pair%%=*}.txt"
    done
}

# section TITLE: prints a heading and then standard input as it is.
section() {
    printf '## %s\n\n```text\n' "$1"
    sed -e 's/[[:space:]]*$//'
    printf '```\n\n'
}
