"""Writes NLTK's tokens of sentences that were written for this project.

    pip install nltk
    python tools/treebank_fixture.py > crates/storymeter-text/tests/fixtures/treebank.tsv

The columns are the sentence, its tokens (NLTKWordTokenizer.tokenize, quotes as `` and ''), and the
spans of the tokens in characters (NLTKWordTokenizer.span_tokenize). All sentences are ASCII, so
characters are bytes.
"""

import nltk
from nltk.tokenize import NLTKWordTokenizer

SENTENCES = r"""
Ann went home.
Ann didn't go home, but Tom did.
I can't stay; I won't stay.
She'd said she'll come, and they've heard we're late.
I'm Tom's brother and it's the dogs' house.
The dogs' house was cold.
He cannot swim and we gotta go, so gimme that.
I'm gonna leave; I wanna sleep. Lemme go!
'Tis late, and 'twas cold.
CAN'T YOU SEE? I DON'T KNOW. IT'S LATE.
It cost $3.50, or 20% of $17.50.
He paid $5,000 for 1,200 apples.
Meet me at 5:30, not at 6.
Note: the shop is closed.
Bread, milk, and eggs: that's all.
"Why?" she asked.
He said, "I will go."
"I will," he said, "but not now."
She read "The Lake" twice.
("Nobody," he said, "knows.")
He waited... and waited.
He waited....
Wait... what?
What?! No!!
Mr. Hill met Dr. Stone in St. Mary's church.
She lives in the U.S. now.
She moved to the U.S.
It was 5 p.m. when he left.
It was (very) dark.
It was dark (very dark).
The list [see below] is {long}.
If a < b and b > c, stop.
He ran -- fast -- home.
A well-known, old-fashioned man.
Tom & Ann own a shop.
Write to ann@home.org or #3 at once.
Read www.example.org today.
The '90s were good.
Rock 'n' roll was loud.
She's John's sister, isn't she?
They'd've gone if he'd asked.
You shouldn't've done it.
O'Brien and D'Arcy left.
That's it!
He is 6'2" tall.
no capitals here, and no final stop
he did n't go , but she 'll come .
`` Why ? '' she asked .
`` I ca n't , '' he said , `` but it 's fine . ''
i 'm gon na leave
The end
...and then it rained.
One, two,three and 4,5.
At 10:15 a.m. it began; by noon it was over.
A 50/50 chance and/or none.
He said: "Go!", and left.
Is it Ann's, Tom's, or the Hills'?
It's 3,000,000 miles away.
Hello , world !
Wow...!
"No."
'It was late,' she said.
""".strip().split("\n")


def main():
    print(f"# nltk {nltk.__version__} NLTKWordTokenizer; python tools/treebank_fixture.py")
    tokenizer = NLTKWordTokenizer()
    for sentence in SENTENCES:
        tokens = tokenizer.tokenize(sentence)
        spans = " ".join(f"{a}:{b}" for a, b in tokenizer.span_tokenize(sentence))
        print(sentence, " ".join(tokens), spans, sep="\t")


if __name__ == "__main__":
    main()
