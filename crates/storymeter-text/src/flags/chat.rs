//! Words of a chat model to its user, before and after a story.

use super::units::{Unit, head, tail, units};
use super::words::{begin, have, have_one};

/// How sure it is that a unit speaks to the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Address {
    /// It does.
    Sure,
    /// It does if a neighbour does.
    Perhaps,
    /// It does not, as far as can be told.
    No,
}

/// What a story may be called.
#[rustfmt::skip]
const STORIES: [&str; 28] = [
    "story", "stories", "tale", "narrative", "piece", "version", "draft", "fiction", "rewrite", "revision",
    "continuation", "scene", "opening", "ending", "chapter", "attempt", "go", "take", "flash", "vignette",
    "response", "text", "prompt", "fable", "fairytale", "microfiction", "rest", "result",
];

/// Words that are only said about a text that somebody ordered.
#[rustfmt::skip]
const ORDERS: [&str; 19] = [
    "requested", "request", "prompt", "based", "incorporates", "incorporating", "includes", "including", "using",
    "featuring", "features", "inspired", "words", "word", "follows", "meets", "sentence", "elements", "style",
];

/// Words of somebody who tells of his own life, and not of a model.
const OWN_LIFE: [&str; 8] = ["me", "my", "we", "our", "us", "myself", "was", "happened"];

/// The length of the words to the user that a text begins with.
pub(super) fn leading(text: &str) -> Option<usize> {
    let window = head(text);
    let is_whole = window.len() == text.len();
    let found = units(window, true);
    let (mut end, mut greeted) = (None, false);
    for (index, unit) in found.iter().enumerate() {
        // A unit that reaches the end of the window may go on behind it.
        if !is_whole && unit.range.end == window.trim_end().len() {
            break;
        }
        let alone = index == 0 && found.len() > 1;
        let address = before(unit, alone, greeted);
        greeted |= address == Address::Sure || interjection(&unit.words).1;
        match address {
            Address::Sure => end = Some(unit.range.end),
            Address::Perhaps => {
                // What follows the announcement on the same line belongs to the story.
                let behind = end.is_some() && !unit.begins_line && !unit.ends_line;
                if behind && found[index - 1].colon {
                    break;
                }
                if end.is_some() && unit.ends_line {
                    end = Some(unit.range.end);
                }
            }
            Address::No => break,
        }
    }
    end.or_else(|| named(text))
}

/// The length of a line such as "Title: The Well", which a text follows.
fn named(text: &str) -> Option<usize> {
    const NAMES: [&str; 6] =
        ["title", "story title", "genre", "word count", "the title", "short story title"];
    let end = head(text).find('\n')?;
    let line = &text[..end];
    let bare = line.trim_start_matches(['#', '*', '_', ' ']);
    let name = bare.split_once(':')?.0.trim_end_matches(['*', '_']).to_lowercase();
    let has_story = || text[end..].contains(char::is_alphanumeric);
    (NAMES.contains(&name.as_str()) && line.len() <= 150 && has_story()).then_some(end)
}

/// Whether a unit before a story speaks to the user: the `first` of several, or one behind others
/// that did.
fn before(unit: &Unit, first: bool, greeted: bool) -> Address {
    if is_label(unit) {
        return Address::Sure;
    }
    if unit.words.is_empty() {
        return Address::Perhaps;
    }
    let (skipped, polite) = interjection(&unit.words);
    let core = &unit.words[skipped..];
    let polite = polite || greeted;
    if core.is_empty() {
        // "Certainly!" in a paragraph of its own, or before an announcement.
        let alone = first && unit.loud && unit.begins_line && unit.ends_line;
        return if alone { Address::Sure } else { Address::Perhaps };
    }
    if announces(unit, core, polite) {
        return Address::Sure;
    }
    let promised = promises(unit, core, polite);
    if promised != Address::No {
        return promised;
    }
    let asides = [
        "i hope you|this|it",
        "hope you",
        "enjoy $",
        "i have tried|written|kept|included|used|made|aimed|set",
        "i tried|kept|wrote",
        "let me know|try",
        "feel free",
        "here we go",
        "here goes",
        "it is|has|contains|uses .. # words",
    ];
    // "Ooh, I love this idea!"
    let cheer = first && unit.loud && core.len() <= 10;
    let aside = cheer || core.len() <= 30 && asides.iter().any(|aside| begin(core, aside));
    if aside && !unit.quoted { Address::Perhaps } else { Address::No }
}

/// The number of words such as "okay" and "of course" at the beginning, and whether they are
/// polite.
fn interjection(words: &[String]) -> (usize, bool) {
    const POLITE: usize = 13;
    // The first thirteen are what a model says to its user; people begin tales with the others.
    const STARTS: [&str; 20] = [
        "as requested",
        "as promised",
        "as you asked|requested",
        "sure thing",
        "sure",
        "certainly",
        "of course",
        "absolutely",
        "definitely",
        "gladly",
        "with pleasure",
        "no problem",
        "happy to help",
        "my pleasure",
        "okay",
        "ok",
        "alright",
        "all right",
        "great",
        "yes",
    ];
    let (mut skipped, mut polite) = (0, false);
    while let Some(at) = STARTS.iter().position(|start| begin(&words[skipped..], start)) {
        skipped += STARTS[at].split(' ').count();
        polite |= at < POLITE;
    }
    (skipped, polite)
}

/// "Story:", "Here it is:" and the like, alone before a colon.
fn is_label(unit: &Unit) -> bool {
    const LABELS: [&str; 18] = [
        "story",
        "short story",
        "the story",
        "your story",
        "my story",
        "a story",
        "story continuation",
        "continuation",
        "generated story",
        "final story",
        "final answer",
        "response",
        "narrative",
        "output",
        "story begins",
        "revised story",
        "here it is",
        "here you go",
    ];
    unit.colon && !unit.quoted && LABELS.contains(&unit.words.join(" ").as_str())
}

/// "Here is a 500-word story about a fox:".
fn announces(unit: &Unit, core: &[String], polite: bool) -> bool {
    let starts =
        ["here is|are", "below is|are|you", "here you go|are", "the following is", "here it is"];
    if unit.quoted && !unit.colon || !starts.iter().any(|start| begin(core, start)) {
        return false;
    }
    let early = &core[..core.len().min(30)];
    let for_user = have(early, "for you")
        || have(early, "you asked|requested|wanted|gave|provided|described")
        || have(early, "is|are your")
        || have(early, "your prompt|request|idea|story");
    let named = have_one(early, &STORIES);
    let stands_alone = unit.begins_line && unit.ends_line;
    let ordered = have_one(early, &ORDERS);
    let private = have_one(early, &OWN_LIFE);
    if polite || for_user {
        return named || unit.colon || core.len() <= 4 || (for_user && unit.ends_line);
    }
    let indefinite = begin(core, "here|below is a|an|one|another");
    named
        && !private
        && ((unit.colon && (unit.ends_line || ordered))
            || (indefinite && (ordered || stands_alone)))
}

/// "I'd be happy to write that.", "What a great prompt!", "Thank you for the prompt."
fn promises(unit: &Unit, core: &[String], polite: bool) -> Address {
    let offers = [
        "i am|would be? happy|glad|delighted|thrilled|excited to help|write|create|craft|assist|share|tell|provide",
        "i would love to help|write|create|craft",
        "i can certainly|definitely|absolutely|gladly? help|write|do|create",
        "i will write|create|craft|do|try|give|use",
        "let me write|craft|create|spin|try|give",
        "allow me to write|craft|create|spin",
        "i have written|created|crafted|come",
        "i can not write|do|include .. but here",
    ];
    let praise = [
        "thank|thanks you? for the|your|this|sharing|providing .. prompt|request|idea|details|premise",
        "that|this|what .. great|fun|fantastic|wonderful|interesting|intriguing|lovely|fascinating|cool prompt|premise|idea|request|concept",
        "great|fun|fantastic|wonderful|interesting|intriguing|lovely prompt|premise|idea|request|concept",
        "love|i .. this prompt",
    ];
    if unit.quoted {
        return Address::No;
    }
    let about = have_one(core, &["story", "prompt", "request", "tale", "narrative", "piece"])
        || have(core, "with|write|create|do that|this|it|one");
    let offered = about && offers.iter().any(|offer| begin(core, offer));
    let open = polite || unit.colon || unit.ends_line || have(core, "you|your");
    if offered && open || core.len() <= 20 && praise.iter().any(|praise| begin(core, praise)) {
        Address::Sure
    } else if offered {
        Address::Perhaps
    } else {
        Address::No
    }
}

/// Where the words to the user at the end of a text begin.
pub(super) fn trailing(text: &str) -> Option<usize> {
    let window = tail(text);
    let offset = text.len() - window.len();
    let found = units(window, false);
    let mut start = None;
    for (index, unit) in found.iter().enumerate().rev() {
        // The first unit of the window may have begun before it.
        if index == 0 && offset > 0 {
            break;
        }
        match after(unit) {
            Address::Sure => start = Some(index),
            Address::Perhaps => {}
            Address::No => break,
        }
    }
    let mut start = start?;
    // A remark that stands in a paragraph of its own before the first sure one goes with it.
    let goes_with =
        |unit: &Unit| unit.begins_line && !unit.words.is_empty() && after(unit) == Address::Perhaps;
    while start > 0 && goes_with(&found[start - 1]) {
        start -= 1;
    }
    Some(offset + found[start].range.start)
}

/// What a user may want to have changed or continued.
#[rustfmt::skip]
const CHANGES: [&str; 40] = [
    "story", "version", "change", "changes", "changed", "revision", "revisions", "revise", "revised", "tweaks",
    "tweak", "adjustments", "adjust", "adjusted", "edits", "edit", "continue", "continued", "continuation", "longer",
    "shorter", "genre", "tone", "ending", "else", "expand", "expanded", "modify", "modified", "modifications",
    "feedback", "improvements", "rewrite", "chapter", "sequel", "prompt", "different", "further", "assistance",
    "style",
];

/// Whether a unit behind a story speaks to the user.
fn after(unit: &Unit) -> Address {
    let words = &unit.words;
    if words.is_empty() || is_word_count(words) {
        return if words.is_empty() { Address::Perhaps } else { Address::Sure };
    }
    if unit.quoted && !begin(words, "this story") {
        return Address::No;
    }
    let own_line = unit.begins_line && unit.ends_line;
    if is_hope(words) || is_offer(words, own_line) || is_remark(words, unit.begins_line) {
        return Address::Sure;
    }
    let asides = [
        "enjoy $",
        "happy reading|writing $",
        "thank you|u? $",
        "thanks $",
        "thanks|thank you? again $",
        "i am .. happy to",
        "i would be happy to",
        "i can",
        "just let me know",
        "please let me know",
        "let me know",
        "feel free",
        "it is|has|contains .. # words $",
        "what do|did you think $",
    ];
    let aside = words.len() <= 25 && asides.iter().any(|aside| begin(words, aside));
    if aside { Address::Perhaps } else { Address::No }
}

/// "(Word count: 512)", "Approximately 500 words."
fn is_word_count(words: &[String]) -> bool {
    const OTHERS: [&str; 14] = [
        "word",
        "words",
        "count",
        "wordcount",
        "total",
        "approximately",
        "approx",
        "about",
        "exactly",
        "roughly",
        "number",
        "of",
        "length",
        "around",
    ];
    let is_number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
    words.len() <= 7
        && words.iter().any(is_number)
        && have_one(words, &["word", "words", "wordcount"])
        && words.iter().all(|word| is_number(word) || OTHERS.contains(&word.as_str()))
}

/// "I hope you enjoyed the story!", "I hope this meets your needs."
fn is_hope(words: &[String]) -> bool {
    let verbs = "enjoy|enjoyed|like|liked|love|loved|found|find";
    let hoped = begin(words, "i|we? really|do|sincerely|truly? hope that? you|this|it|the|my");
    if !hoped {
        return false;
    }
    #[rustfmt::skip]
    const OBJECTS: [&str; 26] = [
        "it", "this", "the", "story", "tale", "my", "little", "short", "reading", "as", "much", "i", "enjoyed",
        "writing", "so", "far", "piece", "that", "and", "happy", "one", "your", "sweet", "narrative", "stories", "bit",
    ];
    let from_verb = (0..words.len()).find(|&at| begin(&words[at..], verbs));
    let only_story = from_verb.is_some_and(|at| {
        let objects = &words[at + 1..];
        !objects.is_empty() && objects.iter().all(|word| OBJECTS.contains(&word.as_str()))
    });
    let about_order =
        have(words, "this|it|story|tale .. meets|captures|fits|satisfies|matches|suits")
            || (have(words, "this|it helps") && have_one(words, &["story", "you", "your"]))
            || (have_one(words, &["story", "tale", "prompt"])
                && have(words, verbs)
                && words.len() <= 20);
    only_story || about_order || have(words, "what you were|are looking for")
}

/// "Would you like me to continue?", "Let me know if you'd like any changes."
fn is_offer(words: &[String], own_line: bool) -> bool {
    let changes =
        have_one(words, &CHANGES) || (own_line && have_one(words, &["more", "another", "stories"]));
    let questions = [
        "would you like me to",
        "would|do you like|want another|more",
        "would you like a different|longer|shorter|new|sequel|second",
        "would you like to hear|see|read|continue|explore|change|know",
        "do you want me to",
        "shall|should i continue|go|keep|expand|write",
        "want me to",
        "is there anything else i|you",
        "is there something else",
    ];
    let requests = [
        "please? just? let me know",
        "please? feel free to",
        "if you would|want|need|have|wish|prefer|are",
        "i can also?",
        "i am|would be? .. happy|glad to",
        "do not hesitate to",
        "should you",
    ];
    let asked = questions.iter().any(|question| begin(words, question));
    let requested = requests.iter().any(|request| begin(words, request));
    let to_me = have(words, "let me know|have")
        || have(words, "i can|could|would|will|am")
        || have(words, "feel free")
        || have(words, "just|please ask|say|tell")
        || have(words, "hesitate");
    asked
        || (requested && changes && to_me && have_one(words, &["you", "it", "story", "free", "me"]))
        || (own_line && begin(words, "please? let me know what you think"))
        || begin(words, "please? let me know if you want|need|would anything")
}

/// "Thanks for reading!", "Note: this story has 500 words."
fn is_remark(words: &[String], begins_line: bool) -> bool {
    let about_order = have_one(words, &ORDERS)
        || have_one(
            words,
            &["story", "themes", "theme", "reader", "readers", "genre", "narrative"],
        );
    let about = [
        "this story|tale|narrative|piece is|was|has|uses|contains|meets|incorporates|includes|follows|explores|captures|aims|focuses|highlights|demonstrates|combines|shows",
        "the story incorporates|includes|uses|explores|captures|meets|highlights|contains|follows|is .. words",
        "in this story i",
    ];
    let thanks = begin(words, "thank|thanks you? so? much? for reading|listening .. $")
        || begin(words, "thank|thanks you? so? much? for the|your|this .. prompt|request|idea $");
    (thanks && words.len() <= 9)
        || (begins_line && begin(words, "please? note|disclaimer") && about_order)
        || (begins_line
            && about_order
            && words.len() > 5
            && about.iter().any(|remark| begin(words, remark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_announces_its_story() {
        for preamble in [
            "Sure, here is your story:",
            "Certainly! Below is a short story about a lighthouse keeper.",
            "**Story:**",
            "Here's a 500-word story about a fox and a clockmaker:",
            "Of course! I'd be happy to write a story for you. Here it is:",
            "Absolutely! Here's a tale based on your prompt:",
            "Here is the story you requested.",
            "What a great prompt! Here's my take on it:",
            "Certainly!",
            "Sure! I'll write a story about that.",
            "Title: The Well",
        ] {
            let text = format!("{preamble}\n\nThe lamp went out at nine. Nobody saw it.");
            assert_eq!(leading(&text), Some(preamble.len()), "{preamble}");
        }
        let inline = "Sure! Here's a story for you: The lamp went out.";
        assert_eq!(leading(inline), inline.find(" The"));
    }

    #[test]
    fn people_say_such_words_too() {
        for text in [
            "Sure, he had a key. But who did not?",
            "\"Sure, here is your story,\" said the editor.",
            "Here is the house where I was born. It has a red door.",
            "Here is a story about my dad. He was a smith.",
            "Here lies the dog: he was old.",
            "Of course it rained. It always did on Sundays.",
            "Certainly the lamp had been lit. I lit it.",
            "Okay, so this happened yesterday. I was at work.",
            "This is a story about a boy. His name was Sam.",
            "I would love to write a story one day. But first there was the war.",
        ] {
            assert_eq!(leading(text), None, "{text}");
        }
    }

    #[test]
    fn a_model_asks_what_its_user_thinks() {
        for outro in [
            "I hope you enjoyed it!",
            "I hope you enjoyed the story! Let me know if you would like another one.",
            "Let me know if you would like me to change the ending.",
            "(Word count: 512)",
            "Word count: 498",
            "Would you like me to continue?",
            "**Note:** This story has exactly 300 words.",
            "Thanks for reading!",
            "If you want a longer version, just let me know.",
            "Is there anything else I can help you with?",
            "I hope this story meets your expectations.",
        ] {
            for gap in [" ", "\n\n"] {
                let story = "The lamp went out at nine. Nobody saw it.";
                let text = format!("{story}{gap}{outro}");
                // A note is one only on a line of its own.
                if gap == " " && outro.contains("Note") {
                    continue;
                }
                assert_eq!(trailing(&text), Some(story.len() + gap.len()), "{text}");
            }
        }
    }

    #[test]
    fn people_in_stories_ask_and_hope_too() {
        for text in [
            "He left. \"I hope you enjoyed it!\"",
            "He put down the tray. “Would you like me to continue? Let me know.”",
            "He left. I hope you enjoy the sea, my love.",
            "He left. Let me know if you come home.",
            "Let me know if you want the red one changed. Love, Anna",
            "He left. I can still see him.",
            "He left. This story is what I tell my children.",
            "He thanked her for the soup. He had eaten 512 words.",
        ] {
            assert_eq!(trailing(text), None, "{text}");
        }
    }
}
