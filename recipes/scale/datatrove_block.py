"""Scores a folder of story files in a datatrove pipeline.

    python datatrove_block.py IN OUT TASKS [METRIC]...

Each task takes every N-th file, and datatrove's executors for SLURM and Ray can run it as they
are: only the executor at the end changes. A task that is run again skips finished files.
"""

import pathlib
import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep


class ScoreFiles(PipelineStep):
    """Scores files of stories into files of scores."""

    name = "storymeter"
    type = "score"

    def __init__(self, stories, scores, **settings):
        super().__init__()
        self.stories = stories
        self.scores = scores
        self.settings = settings

    def run(self, data=None, rank=0, world_size=1):
        """Scores the files of one task."""
        import storymeter

        run = storymeter.score_files(
            self.stories, self.scores, shard=(rank, world_size), resume=True, **self.settings
        )
        self.stat_update("files", value=len(run.shards))
        self.stat_update("stories", value=run.stories)
        yield from data or ()


def main(stories, scores, tasks, *metrics):
    """Runs all tasks on this machine, two at a time."""
    files = sorted(pathlib.Path(stories).iterdir())
    block = ScoreFiles(files, scores, metrics=metrics or None, threads=1)
    LocalPipelineExecutor(pipeline=[block], tasks=int(tasks), workers=2).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
