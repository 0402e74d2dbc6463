//! Texts that are no stories.

use proptest::prelude::*;
use storymeter_text::kind::{Language, TextKind, unlike_a_story};

/// The only kind that a text looks like.
fn kind(text: &str) -> Option<TextKind> {
    let found = unlike_a_story(text);
    assert!(found.len() <= 1, "{found:?}: {text}");
    found.first().copied()
}

#[test]
fn stories_are_not_doubted_however_they_are_laid_out() {
    for story in [
        "Nadia wanted to paint the fence before the rain came. She bought two buckets of white \
         paint. Her neighbour lent her a brush. The first drops fell when she reached the gate.",
        // Tokenised, in small letters, with masked names.
        "[FEMALE] wanted to paint the fence . she did n't have a brush . `` take mine , '' said \
         [MALE] . they worked until it was dark .",
        // One sentence per line, and paragraphs of dialogue.
        "Nadia wanted to paint the fence.\nShe bought two buckets of paint.\nHer neighbour lent \
         her a brush.\nThe first drops fell when she reached the gate.\n",
        "\"Is it finished?\" he asked.\n\n\"Almost,\" she said, and dipped the brush again.\n\n\
         \"It will rain.\"\n\n\"Then it will rain,\" said Nadia, and went on.\n",
        "&ldquo;Is it finished?&rdquo;\n\n&ldquo;Almost,&rdquo; she said, and dipped the brush into \
         the paint again.\n\n&ldquo;It will rain soon.&rdquo;\n\n&ldquo;Then it will rain.&rdquo;",
        // Wrapped at a narrow width.
        "Nadia wanted to paint the fence before the\nrain came, so she bought two buckets of\nwhite \
         paint and asked her neighbour for\na brush, which he gave her with a smile\nand without a \
         word.\n",
        // Some words of another language, a number and a quoted list.
        "\"Guten Morgen,\" said the baker, as he did every day at 6.30. Nadia asked for bread, \
         milk, eggs and butter. He had only bread. She paid and walked home in the snow.",
        "NADIA WANTED TO PAINT THE FENCE. SHE BOUGHT TWO BUCKETS OF PAINT. HER NEIGHBOUR LENT HER \
         A BRUSH. THEN THE RAIN CAME AND SHE HAD TO STOP.",
    ] {
        assert_eq!(kind(story), None, "{story}");
    }
}

#[test]
fn other_languages_are_named_where_their_small_words_are_known() {
    use Language::*;
    for (language, text) in [
        (German, "Am Abend ging der alte Mann mit seinem Hund in den Wald. Es war kalt und still."),
        (
            French,
            "Le soir, la vieille dame est allée dans la forêt avec son chien. Il faisait froid.",
        ),
        (
            Spanish,
            "Por la noche el viejo se fue al bosque con su perro. Hacía frío y no había luz.",
        ),
        (
            Italian,
            "La sera il vecchio andò nel bosco con il suo cane. Era freddo e non c'era luce.",
        ),
        (
            Portuguese,
            "À noite o velho foi para a floresta com o seu cão. Estava frio e não havia luz.",
        ),
        (Dutch, "In de avond ging de oude man met zijn hond naar het bos. Het was koud en stil."),
        (OtherLetters, "Вечером старик пошёл с собакой в лес. Было холодно и тихо."),
        (OtherLetters, "晚上，老人带着狗走进了森林。天气很冷，也很安静。"),
        (Unknown, "Illalla vanha mies meni koiransa kanssa metsään. Oli kylmä ja hiljaista."),
    ] {
        assert_eq!(kind(text), Some(TextKind::OtherLanguage(language)), "{text}");
    }
}

#[test]
fn poems_are_known_by_open_lines_or_by_rhymes() {
    let open = "The harbour lamps go out\nOne after another\nAnd nobody counts\nThe boats that \
                came home";
    let rhymed = "The moon came up above the bay.\nThe children had gone home to play.\nThe cat \
                  crept out without a light.\nIt hunted moths throughout the night.";
    assert_eq!(kind(open), Some(TextKind::Poem));
    assert_eq!(kind(rhymed), Some(TextKind::Poem));
}

#[test]
fn lists_are_known_by_bullets_numbers_short_lines_or_commas() {
    for list in [
        "For the trip:\n- a tent\n- two sleeping bags\n- matches\n- a map of the hills",
        "1. Boil the water in a large pot.\n2. Add the salt.\n3. Add the noodles.\n4. Wait.",
        "Boil the water. You need: (1) a pot, (2) some salt, (3) the noodles and (4) patience.",
        "Milk\nEggs\nBread\nButter\nApples",
        "2 eggs\n200 g flour\n1 spoon of sugar\nMix and bake for half an hour.",
        "milk, eggs, bread, butter, two apples, a bag of rice, soap, candles",
    ] {
        assert_eq!(kind(list), Some(TextKind::List), "{list}");
    }
}

#[test]
fn scripts_are_known_by_their_speakers() {
    let script = "ANNA: Where did you put the key?\nTOM: Under the mat, as always.\nANNA (angry): \
                  It is not there.\nTOM: Then somebody has taken it.";
    assert_eq!(kind(script), Some(TextKind::Script));
}

#[test]
fn code_and_markup_are_known_by_their_marks() {
    let python = "import sys\n\ndef total(prices):\n    result = 0\n    for price in prices:\n        \
                  result = result + price\n    return result\n\nprint(total([3, 4]))";
    let c = "int main(void) {\n  int count = 0;\n  while (count < 10) { count = count + 1; }\n  return \
             count;\n}";
    let html = "<html>\n<body>\n<p>A story about a fence.</p>\n</body>\n</html>";
    for code in [python, c, html] {
        assert_eq!(kind(code), Some(TextKind::Code), "{code}");
    }
}

#[test]
fn news_is_known_by_its_sources() {
    let dateline = "HARBOURTOWN (Coast Press) - A ferry with ninety passengers ran aground near the \
                    old pier early this morning. Nobody was hurt. The ferry was towed away at noon.";
    let sources = "The town council will close the swimming pool in May, a spokeswoman said on \
                   Tuesday. Repairs would cost two million crowns, according to the mayor. Residents \
                   have protested for weeks.";
    assert_eq!(kind(dateline), Some(TextKind::News));
    assert_eq!(kind(sources), Some(TextKind::News));
}

#[test]
fn short_texts_and_texts_without_sentence_ends_are_found() {
    assert_eq!(kind("He went home. He was happy."), Some(TextKind::VeryShort));
    assert_eq!(kind("Hello"), Some(TextKind::VeryShort));
    let endless = "then she went to the shop and bought a brush and ".repeat(7);
    assert_eq!(kind(&endless), Some(TextKind::Unpunctuated));
    assert_eq!(kind(""), None);
    assert_eq!(kind(" ... !? "), None);
}

#[test]
fn a_german_list_is_both() {
    let text = "Für die Reise brauchen wir noch:\n- das Zelt aus dem Keller\n- eine Karte von dem \
                Berg\n- Brot und Käse für den Abend";
    let found = unlike_a_story(text);
    assert_eq!(found, [TextKind::OtherLanguage(Language::German), TextKind::List]);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}", lines in "([-a-zA-Z0-9.:;(){}#* ]{0,12}\n){0,9}") {
        unlike_a_story(&text);
        unlike_a_story(&lines);
    }
}
