#!/usr/bin/env bash
# Scores a folder of story files with a SLURM job array. Each job takes every N-th file.
#
#   sbatch slurm.sh IN OUT [option of `storymeter score`]...
#
# Afterwards `storymeter merge OUT` prints the table of all stories. If jobs failed, submit the
# array again: finished files are skipped. If you submit only some jobs again (--array=3,17), set
# JOBS to the size of the whole array, so that each job takes the same files as before.
#SBATCH --job-name=storymeter
#SBATCH --array=0-99
#SBATCH --cpus-per-task=8
#SBATCH --mem=4G
#SBATCH --time=04:00:00
set -euo pipefail
stories=$1
scores=$2
shift 2
exec storymeter score "$stories" --out-dir "$scores" --resume \
    --shard "$SLURM_ARRAY_TASK_ID/${JOBS:-$SLURM_ARRAY_TASK_COUNT}" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
