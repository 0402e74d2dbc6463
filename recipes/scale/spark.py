"""Scores a Parquet table with Spark, for stories that already live there.

    spark-submit spark.py IN OUT

IN has the columns `id` and `story`, and OUT gets `id` and `score`. The tasks are Spark's, and so
are the output files: they have no headers, and `storymeter merge` does not know them.
"""

import sys

from pyspark.sql import SparkSession


def score(batches):
    """Scores the batches of one task. The model is loaded once per task, in about 0.3 seconds."""
    import pyarrow
    import storymeter

    # Spark gives a task one core (spark.task.cpus).
    scorer = storymeter.Scorer(threads=1)
    for batch in batches:
        scores = scorer.score(batch.column("story").to_pylist()).scores
        # A story without a score has NaN here, and null in the table.
        scores = pyarrow.array(scores, from_pandas=True)
        yield pyarrow.RecordBatch.from_arrays([batch.column("id"), scores], ["id", "score"])


def main(stories, scores):
    """Reads the stories, and writes the scores."""
    spark = SparkSession.builder.appName("storymeter").getOrCreate()
    # A batch that is too small starves the scorer.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 10_000)
    table = spark.read.parquet(stories).select("id", "story")
    table.mapInArrow(score, "id string, score double").write.parquet(scores)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
