//! The same story, written down differently. Its score should hardly change.
//!
//! The rewriting does not use the code with which the model makes texts alike.

use storymeter_checks::Result;
use storymeter_core::Story;
use storymeter_text::treebank::detokenize;

/// The name of a way to write a story down, and the function that rewrites a text. The number is
/// the position of the story in its set.
pub type Variant = (&'static str, fn(&str, usize) -> String);

/// The ways that are tried on stories that are tokenised and in lower case, with placeholders for
/// names.
pub const VARIANTS: [Variant; 5] = [
    ("lower-cased", |text, _| text.to_lowercase()),
    ("detokenised", |text, _| detokenised(text)),
    ("other names", named),
    ("other quotes", |text, _| curly(text)),
    ("as people write", |text, at| curly(&capitalised(&detokenised(&named(text, at))))),
];

/// The stories and their prompts, written down differently.
pub fn all(stories: &[Story], rewrite: fn(&str, usize) -> String) -> Vec<Story> {
    let one = |(at, story): (usize, &Story)| Story {
        text: rewrite(&story.text, at),
        prompt: story.prompt.as_ref().map(|prompt| rewrite(prompt, at)),
        // The sentences of the original are elsewhere now.
        sentences: Vec::new(),
        ..story.clone()
    };
    stories.iter().enumerate().map(one).collect()
}

/// Joins the tokens: `did n't go .` becomes `didn't go.`
fn detokenised(text: &str) -> String {
    detokenize(&text.split_whitespace().collect::<Vec<_>>())
}

/// Replaces placeholders by names, which are the same throughout a story and others in the next.
fn named(text: &str, at: usize) -> String {
    const MALE: [&str; 6] = ["Robert", "Kevin", "Brian", "Pablo", "Ahmed", "Dwight"];
    const FEMALE: [&str; 6] = ["Susan", "Karen", "Linda", "Consuelo", "Fatima", "Gwen"];
    const NEUTRAL: [&str; 4] = ["Casey", "Jamie", "Robin", "Jordan"];
    text.replace("[MALE]", MALE[at % MALE.len()])
        .replace("[FEMALE]", FEMALE[at / 2 % FEMALE.len()])
        .replace("[NEUTRAL]", NEUTRAL[at / 3 % NEUTRAL.len()])
}

/// Replaces straight quotes by curly ones; double quotes open and close in turn.
fn curly(text: &str) -> String {
    let mut open = false;
    let straight = text.replace("``", "\"").replace("''", "\"");
    straight
        .chars()
        .map(|c| match c {
            '\'' => '’',
            '"' => {
                open = !open;
                if open { '“' } else { '”' }
            }
            other => other,
        })
        .collect()
}

/// Writes a capital letter at the beginning of sentences, and for the word I.
fn capitalised(text: &str) -> String {
    let mut start = true;
    let words: Vec<String> = text
        .split(' ')
        .map(|word| {
            let mut letters = word.chars();
            let alone = matches!(word, "i" | "i'm" | "i'd" | "i'll" | "i've");
            let first =
                letters.next().filter(|_| start || alone).map(|c| c.to_uppercase().to_string());
            start = word.ends_with(['.', '!', '?']);
            first.map_or_else(|| word.to_owned(), |first| first + letters.as_str())
        })
        .collect();
    words.join(" ")
}

fn a_story_is_rewritten_as_people_write() -> Result {
    let text = "[MALE] did n't go . `` i ca n't , '' said [FEMALE] 's mom !";
    let written: Vec<String> = VARIANTS.iter().map(|(_, rewrite)| rewrite(text, 1)).collect();
    assert_eq!(written[0], "[male] did n't go . `` i ca n't , '' said [female] 's mom !");
    assert!(written[1].starts_with("[MALE] didn't go."), "{}", written[1]);
    assert_eq!(written[2], "Kevin did n't go . `` i ca n't , '' said Susan 's mom !");
    assert_eq!(written[3], "[MALE] did n’t go . “ i ca n’t , ” said [FEMALE] ’s mom !");
    assert!(written[4].starts_with("Kevin didn’t go. "), "{}", written[4]);
    assert!(written[4].ends_with("said Susan’s mom!"), "{}", written[4]);
    Ok(())
}

storymeter_checks::checks!(a_story_is_rewritten_as_people_write);
