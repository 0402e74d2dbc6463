# Functions of the studies: score models into a folder of UNION's layout. Sourced by the scripts beside it.
#
# STORYMETER is the program (default: target/release/storymeter), SHARED the folder of the shared data (default: ../shared).
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

# rated FOLDER: UNION's rated stories with the published scores of Table 5, by links.
rated() {
    mkdir -p "$1/metric_output"
    ln -s "$union_roc"/ant_data.txt "$union_roc"/ant_data_all.txt "$1"
    ln -s "$union_roc"/metric_output/*.txt "$1/metric_output"
}

# score STORIES MODEL OUT: one number a line, in the order of the stories.
score() {
    "$storymeter" score "$1" --model "$2" --format csv --quiet | tail -n +2 | awk -F, '{print $NF}' > "$3"
}

# score_all FOLDER NAME=MODEL...: the scores of union_roc by each model, beside each other.
score_all() {
    local folder=$1
    shift
    for pair in "$@"; do
        score "$union_roc/ant_data.txt" "${pair#*=}" "$folder/${pair%%=*}.txt"
    done
}

# section TITLE: a heading, and what comes on standard input as it is.
section() {
    printf '## %s\n\n```text\n' "$1"
    sed -e 's/[[:space:]]*$//'
    printf '```\n\n'
}
