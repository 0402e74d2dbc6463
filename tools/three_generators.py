#!/usr/bin/env python3
"""Makes examples/three-generators/: 50 prompts, and a story for each by three toy generators.

`atlas` and `birch` fill the same sentences with other words, so neither is better. `cedar` does the
same, but in 30 of its 50 stories it forgets what it was telling: two sentences belong to the story
of another prompt. So it is known who is better, and a comparison can be checked against that.

Usage: python3 tools/three_generators.py examples/three-generators    (Python 3.10 or later)
"""

import csv
import json
import pathlib
import random
import re
import sys

# A plot is a prompt and five sentences. Alternatives are separated by |, and {name} is a slot.
PLOTS = [
    (
        "{who} finds a letter in an old coat.",
        "{Name} bought an old coat at the {place}.|{Name} found an old coat in a box from the {place}.",
        "In the pocket {he} found a letter that had never been opened.|A sealed letter was still in the inner pocket.",
        "{He} asked {his} {kin} whether {he} should read it.|{He} turned the envelope over and looked for an address.",
        "At last {he} took the letter to the street that was written on it.|In the end {he} decided to deliver it.",
        "An old woman opened the door, read the letter and cried for joy.|The man who took it had waited forty years for those words.",
    ),
    (
        "{who} wants to win the baking contest.",
        "{Name} wanted to win the baking contest at the {place}.|The baking contest at the {place} was only a week away, and {Name} had no recipe.",
        "{He} tried a new cake every evening and {his} {kin} tasted it.|Every evening {he} baked a cake and asked {his} {kin} for an honest opinion.",
        "The night before the contest the oven broke.|On the last evening the oven stopped working.",
        "A neighbour let {him} use her kitchen until midnight.|{He} carried the dough across the street to a friend with a better oven.",
        "The cake won second prize, and {Name} shared it with the neighbour.|The judges gave {him} a ribbon and asked for another slice.",
    ),
    (
        "{who} is lost in the fog.",
        "{Name} went for a walk near the {place} when fog came down.|A thick fog rose while {Name} was walking home from the {place}.",
        "Soon {he} could not see {his} own feet.|After a few minutes every path looked the same.",
        "{He} stood still and listened for a sound that {he} knew.|{He} called out, but nobody answered.",
        "Then the bell of the church began to ring.|Far away a dog began to bark.",
        "{He} followed the sound and reached {his} {kin} before dark.|The sound led {him} to {his} own gate, where {his} {kin} was waiting.",
    ),
    (
        "{who} learns to play an instrument.",
        "{Name} found a violin in the attic of the {place}.|{Name} was given an old violin by a man from the {place}.",
        "The first notes sounded like an angry cat.|At first {his} {kin} left the room whenever {he} played.",
        "{He} practised for an hour every day after work.|A teacher in the next street gave {him} lessons on Sundays.",
        "By spring {he} could play a whole song without a mistake.|After a year {he} knew three songs by heart.",
        "{He} played it at the wedding of {his} {kin}, and everybody danced.|At the summer party {his} {kin} asked {him} to play once more.",
    ),
    (
        "{who} looks after a strange animal.",
        "{Name} found a small owl on the road to the {place}.|A young owl was sitting on the ground behind the {place}, and {Name} saw it.",
        "One of its wings was hurt.|It could not fly, because a wing was broken.",
        "{He} put it in a box and fed it with {his} {kin}.|{His} {kin} showed {him} how to bind the wing.",
        "After three weeks it flew from the table to the lamp.|One morning the owl flew twice around the kitchen.",
        "{Name} opened the window that night and watched it fly away.|{He} carried it back to the trees and let it go.",
    ),
    (
        "{who} misses the last train.",
        "{Name} ran to the station, but the last train had left.|When {Name} came out of the {place}, the last train was gone.",
        "{He} had no money for a taxi and it began to rain.|It was cold, and {his} telephone was dead.",
        "A woman at the ticket counter gave {him} a cup of tea.|The man who cleaned the platform offered {him} a chair and a blanket.",
        "They talked about their families until the morning.|They played cards until it grew light.",
        "Since that night {he} has visited the station every week.|When the first train came, {Name} was almost sorry to go.",
    ),
    (
        "{who} repairs a clock that stopped long ago.",
        "The clock of the {place} had not moved for twenty years.|Nobody could remember when the clock of the {place} had stopped.",
        "{Name} asked for the key and climbed up with a lamp.|One day {Name} took {his} tools and opened the case.",
        "Inside {he} found a bird's nest between the wheels.|A coin was stuck between two wheels.",
        "{He} cleaned every part and oiled the chain.|{He} took the clock apart and put it together again with {his} {kin}.",
        "At noon it struck twelve, and people came out of their houses.|When it struck for the first time, the whole street was silent.",
    ),
    (
        "{who} has to give a speech.",
        "{Name} had to give a speech at the {place}.|They asked {Name} to speak at the opening of the {place}.",
        "{He} was so nervous that {he} could not eat.|{He} wrote ten pages and threw nine of them away.",
        "{His} {kin} told {him} to speak as if they were alone.|{He} practised in front of the mirror and in front of {his} {kin}.",
        "On the day itself the paper fell into a glass of water.|When {he} stood up, {he} saw that the pages were in the wrong order.",
        "So {Name} simply told a story from {his} childhood, and everybody laughed.|{He} put them aside and spoke freely, and the people clapped for a long time.",
    ),
    (
        "{who} plants a garden where nothing grows.",
        "Behind the {place} lay a field full of stones.|{Name} rented a piece of dry ground near the {place}.",
        "{Name} carried the stones away, one basket after another.|Everybody said that nothing would grow there.",
        "{He} dug the soil and planted beans with {his} {kin}.|In March {he} sowed beans and sunflowers.",
        "A storm in May washed half of the plants away.|For weeks there was no rain, and {he} brought water in buckets.",
        "In August there were enough beans for the whole street.|By the end of summer the flowers were taller than {his} {kin}.",
    ),
    (
        "{who} meets an old friend by chance.",
        "{Name} was waiting at the {place} when someone called {his} name.|A stranger at the {place} looked at {Name} for a long time.",
        "It was a friend from school whom {he} had not seen for years.|Then {he} recognised the boy who had sat beside {him} at school.",
        "They found a bench and began to talk.|They went to a small cafe and ordered coffee.",
        "The friend still had a photograph of their old class.|They laughed about the teacher who had slept during lessons.",
        "Before they parted, they agreed to meet again with {his} {kin}.|That evening {Name} told {his} {kin} about it for an hour.",
    ),
]

WOMEN = "Alma Bela Clara Dunja Edith Flora Greta Hanna Ida Jola Kaja Lotte Mira Nele Olga".split()
MEN = "Anton Boris Cyril David Emil Fabian Georg Hugo Ivan Jonas Karel Leo Milan Nils Otto".split()
KIN = ["sister", "brother", "uncle", "aunt", "cousin", "neighbour", "grandmother", "father"]
PLACES = ["market", "library", "harbour", "town hall", "museum", "school", "old mill", "railway hotel"]
WHO = [
    "A retired sailor", "A young teacher", "A shy student", "A tired nurse", "A travelling cook",
]


def fill(sentence, people):
    """One of the alternatives of a sentence, with the slots filled."""
    name, woman, kin, place, choose = people
    text = choose.choice(sentence.split("|"))
    he, him, his = ("she", "her", "her") if woman else ("he", "him", "his")
    words = {"Name": name, "he": he, "He": he.capitalize(), "him": him, "his": his,
             "His": his.capitalize(), "kin": kin, "place": place}
    return text.format(**words)


def people(choose):
    woman = choose.random() < 0.5
    name = choose.choice(WOMEN if woman else MEN)
    return name, woman, choose.choice(KIN), choose.choice(PLACES), choose


def story(plot, choose):
    who = people(choose)
    return [fill(sentence, who) for sentence in plot[1:]]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    prompts = [(plot, who) for who in WHO for plot in PLOTS]
    choose = random.Random("three generators")
    choose.shuffle(prompts)
    forgotten = set(choose.sample(range(len(prompts)), 30))
    rows = []
    for number, (plot, who) in enumerate(prompts):
        texts = {name: story(plot, random.Random(f"{name} {number}")) for name in
                 ("atlas", "birch", "cedar")}
        if number in forgotten:
            other = choose.choice([another for another in PLOTS if another is not plot])
            texts["cedar"][2:4] = story(other, random.Random(f"other {number}"))[2:4]
        prompt = plot[0].format(who=who)
        rows.append([prompt] + [" ".join(texts[name]) for name in ("atlas", "birch", "cedar")])
    with open(folder / "stories.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["prompt", "atlas", "birch", "cedar"])
        writer.writerows(rows)
    # The same stories with what is known about them, because they were made so: how many of their
    # five sentences belong to the story.
    with open(folder / "rated.jsonl", "w", encoding="utf-8") as rated, \
            open(folder / "cohesion.csv", "w", newline="", encoding="utf-8") as own:
        writer = csv.writer(own, lineterminator="\n")
        writer.writerow(["id", "system", "cohesion"])
        for number, (prompt, *stories) in enumerate(rows):
            for name, text in zip(("atlas", "birch", "cedar"), stories):
                spoilt = name == "cedar" and number in forgotten
                rated.write(json.dumps({
                    "id": str(number), "system": name, "item": str(number), "prompt": prompt,
                    "story": text, "human": {"whole": [3 if spoilt else 5]},
                }) + "\n")
                writer.writerow([number, name, f"{cohesion(text):.4f}"])


def cohesion(text):
    """A small metric of our own: the mean share of words that a sentence has in common with all
    sentences before it."""
    words = [set(re.findall(r"[a-z]+", sentence.lower())) for sentence in text.split(". ")]
    shares = [len(now & set.union(*words[:at])) / len(now) for at, now in enumerate(words) if at]
    return sum(shares) / len(shares)


main()
