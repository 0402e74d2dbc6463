//! Tells code, lists, scripts and poems from prose by how their lines look.

use super::TextKind;

/// Fewer lines than this show no pattern.
const FEWEST_LINES: usize = 4;

/// A line of a poem has at most this many words. Lines of prose that was wrapped have more.
const LINE_OF_VERSE: usize = 10;

/// A line of a plain list has at most this many words.
const LINE_OF_LIST: usize = 3;

/// A list that is numbered in the running text has a number in this many words.
const WORDS_PER_ITEM: usize = 40;

/// A line that is not empty.
struct Line<'a> {
    text: &'a str,
    words: usize,
}

impl Line<'_> {
    /// Whether it ends as a sentence, a quotation or an announcement does.
    fn is_closed(&self) -> bool {
        self.text.ends_with(['.', '!', '?', '…', '"', '”', '’', '\'', ')', ':', '*'])
    }

    fn begins_with_capital(&self) -> bool {
        self.text.chars().find(|c| c.is_alphabetic()).is_some_and(char::is_uppercase)
    }
}

/// What the lines of a text look like, if not like prose.
pub(super) fn find(text: &str) -> Option<TextKind> {
    let lines: Vec<Line<'_>> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.contains(char::is_alphanumeric) || line.contains(['{', '}']))
        .map(|text| Line { text, words: text.split_whitespace().count() })
        .collect();
    if is_code(text, &lines) {
        Some(TextKind::Code)
    } else if is_list(text, &lines) {
        Some(TextKind::List)
    } else if is_script(&lines) {
        Some(TextKind::Script)
    } else if is_poem(&lines) {
        Some(TextKind::Poem)
    } else {
        None
    }
}

/// Whether at least half of the lines, and at least `fewest`, have a property.
fn half(lines: &[Line<'_>], fewest: usize, has: impl Fn(&Line<'_>) -> bool) -> bool {
    let found = lines.iter().filter(|line| has(line)).count();
    found >= fewest && 2 * found >= lines.len()
}

fn median_words(lines: &[Line<'_>]) -> usize {
    let mut words: Vec<usize> = lines.iter().map(|line| line.words).collect();
    words.sort_unstable();
    words.get(words.len() / 2).copied().unwrap_or(0)
}

/// Code has many marks that prose does not have, or lines that look like statements.
fn is_code(text: &str, lines: &[Line<'_>]) -> bool {
    let marks = text.chars().filter(|c| matches!(c, '{' | '}' | '=' | '<' | '>' | '\\'));
    let (marks, letters) = (marks.count(), text.chars().filter(|c| c.is_alphabetic()).count());
    (marks >= 8 && 12 * marks > letters) || half(lines, 3, |line| is_statement(line.text))
}

fn is_statement(line: &str) -> bool {
    const STARTS: [&str; 16] = [
        "def ",
        "class ",
        "import ",
        "from ",
        "return",
        "fn ",
        "let ",
        "const ",
        "var ",
        "function ",
        "#include",
        "public ",
        "if ",
        "for ",
        "while ",
        "print",
    ];
    let has_marks = || line.contains(['(', '{', '=', ';']) && !line.ends_with(['.', '!', '?']);
    line.ends_with([';', '{', '}'])
        || line.ends_with("):")
        || (line.starts_with('<') && line.ends_with('>'))
        || line.contains(" = ")
        || line.contains("==")
        || (STARTS.iter().any(|start| line.starts_with(start)) && has_marks())
}

/// Lines with bullets, numbers or headings; very short lines; or items that are numbered in the
/// running text.
fn is_list(text: &str, lines: &[Line<'_>]) -> bool {
    let is_item = |line: &Line<'_>| has_bullet(line.text) || line.text.starts_with('#');
    let words = |wanted: &dyn Fn(&Line<'_>) -> bool| -> usize {
        lines.iter().filter(|line| wanted(line)).map(|line| line.words).sum()
    };
    // A story may have a list in it, so that most lines are items and most words are not.
    (half(lines, 3, is_item) && 3 * words(&is_item) >= words(&|_| true) && !is_dialogue(lines))
        || (lines.len() >= FEWEST_LINES
            && median_words(lines) <= LINE_OF_LIST
            && half(lines, FEWEST_LINES, |line| !line.is_closed()))
        || counts_on(text)
        || is_enumeration(text)
}

/// Whether a line begins as an item of a list does: `-`, `*`, `•`, `3.`, `3)`, `(3)`, `a)`, `[ ]`.
fn has_bullet(line: &str) -> bool {
    let bullet = ["- ", "* ", "• ", "– ", "+ ", "[ ]", "[x]", "· "];
    if bullet.iter().any(|bullet| line.starts_with(bullet)) {
        return true;
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    let inner = first.trim_start_matches('(').trim_end_matches([')', '.', ':']);
    let marked = inner.len() < first.len();
    let number = !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_digit());
    let letter = inner.len() == 1 && first.ends_with(')');
    // Lines of a recipe: "2 eggs", "200 g flour".
    let amount = number && !marked && inner.len() <= 4;
    (marked && ((number && inner.len() <= 3) || letter)) || amount
}

/// Whether lines behind dashes are speech: most of them end as sentences do, and somebody asks or
/// somebody is said to speak.
fn is_dialogue(lines: &[Line<'_>]) -> bool {
    let speech = lines.iter().filter(|line| {
        line.text.starts_with(['-', '–']) && line.text.ends_with(['.', '!', '?', '…', '"', '”'])
    });
    let asks = |line: &&Line<'_>| {
        line.text.contains('?') || [" said", " asked"].iter().any(|verb| line.text.contains(verb))
    };
    2 * speech.clone().count() > lines.len() && speech.clone().any(|line| asks(&line))
}

/// Whether the words of a text count on, `1.` `2.` `3.` `4.` (or with brackets), with few words
/// between the numbers.
fn counts_on(text: &str) -> bool {
    let (mut reached, mut words) = (0, 0);
    for word in text.split_whitespace() {
        words += 1;
        let inner = word.trim_start_matches('(').trim_end_matches([')', '.', ':']);
        if inner.len() < word.len() && inner.parse() == Ok(reached + 1) {
            reached += 1;
        }
    }
    reached >= 4 && words <= WORDS_PER_ITEM * reached
}

/// Whether a text is a row of items between commas, with hardly a sentence: "milk, eggs, bread".
fn is_enumeration(text: &str) -> bool {
    let count = |mark: char| text.chars().filter(|c| *c == mark).count();
    let words = text.split_whitespace().count();
    let commas = count(',');
    commas >= 5 && 3 * commas >= words && 6 * (count('.') + count('!')) <= commas
}

/// Lines that begin with a speaker (`ANNA:` or `Anna (whispering):`), or headings of scenes.
fn is_script(lines: &[Line<'_>]) -> bool {
    let scene = |line: &Line<'_>| line.text.starts_with("INT.") || line.text.starts_with("EXT.");
    half(lines, 3, |line| has_speaker(line.text)) || lines.iter().filter(|l| scene(l)).count() >= 2
}

fn has_speaker(line: &str) -> bool {
    let Some((name, speech)) = line.split_once(':') else { return false };
    let name = name.split('(').next().unwrap_or_default().trim();
    let words = name.split_whitespace();
    let is_name = |word: &str| word.starts_with(char::is_uppercase);
    !name.is_empty()
        && words.clone().count() <= 3
        && words.clone().all(is_name)
        && !speech.is_empty()
}

/// Short lines that break off inside sentences, or that rhyme.
fn is_poem(lines: &[Line<'_>]) -> bool {
    // A letter has short lines too: the greeting, the date and the name.
    let has_paragraph = lines.iter().any(|line| line.words > 2 * LINE_OF_VERSE);
    if lines.len() < FEWEST_LINES || median_words(lines) > LINE_OF_VERSE || has_paragraph {
        return false;
    }
    let open = lines.iter().filter(|line| !line.is_closed()).count();
    let capitals = lines.iter().filter(|line| line.begins_with_capital()).count();
    // Prose that was wrapped at a narrow width goes on in small letters.
    let verse_begins = 10 * capitals >= 7 * lines.len() || capitals == 0;
    (10 * open >= 6 * lines.len() && verse_begins) || rhymes(lines)
}

/// Whether two thirds of the lines rhyme with one of the two before them or after them.
fn rhymes(lines: &[Line<'_>]) -> bool {
    let ends: Vec<Option<(String, String)>> = lines.iter().map(|line| rhyme(line.text)).collect();
    let matches =
        |one: usize, two: usize| match (&ends[one], ends.get(two).and_then(Option::as_ref)) {
            (Some((word, sound)), Some((other, same))) => word != other && sound == same,
            _ => false,
        };
    let rhymed = (0..lines.len()).filter(|&at| {
        (1..=2).any(|step| matches(at, at + step) || (at >= step && matches(at, at - step)))
    });
    3 * rhymed.count() >= 2 * lines.len()
}

/// The last word of a line, and its letters from the last vowel on, which stand for its sound. A
/// silent e and endings that any two verbs share are not counted as a sound.
fn rhyme(line: &str) -> Option<(String, String)> {
    let word = line.split_whitespace().next_back()?;
    let word: String =
        word.chars().filter(|c| c.is_alphabetic()).collect::<String>().to_lowercase();
    let letters: Vec<char> = word.chars().collect();
    let is_vowel = |c: &char| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let silent =
        letters.len() > 3 && letters.ends_with(&['e']) && !is_vowel(&letters[letters.len() - 2]);
    let spoken = letters.len() - usize::from(silent);
    let last = letters[..spoken].iter().rposition(is_vowel)?;
    let first = letters[..last].iter().rposition(|c| !is_vowel(c)).map_or(0, |at| at + 1);
    let sound: String = letters[first..].iter().collect();
    (sound.len() >= 2 && !["ing", "ed", "er", "es"].contains(&sound.as_str()))
        .then_some((word, sound))
}
