//! The answers of the lexicon.

use storymeter_text::lexicon::{Lexicon, LexiconError, PartOfSpeech};
use storymeter_text::morphology::{adjective, noun};
use storymeter_text::negation::{NEGATION_WORDS, is_negation_word};

use PartOfSpeech::{Adjective, Adverb, Noun, Verb};

const TABLE: &str = "\u{feff}Happy|||/r/Antonym|||sad unhappy\nhappy|||/r/NotHasProperty|||\n\nhappy|||NotDesires|||sad tears\n\
                     fish|||/r/NotCapableOf|||walk never";

#[test]
fn antonyms_are_found_by_lemma_and_part_of_speech() {
    let lexicon = Lexicon::embedded();
    assert_eq!(lexicon.antonyms("hot", Adjective), ["cold"]);
    assert_eq!(lexicon.antonyms("Happy", Adjective), ["unhappy"]);
    assert_eq!(lexicon.antonyms("day", Noun), ["night"]);
    assert_eq!(lexicon.antonyms("quickly", Adverb), ["slowly"]);
    assert!(lexicon.antonyms("love", Verb).contains(&"hate"));
    assert!(lexicon.antonyms("hot", Noun).is_empty());
    assert!(lexicon.antonyms("table", Noun).is_empty());
    assert!(lexicon.antonyms("no such word", Noun).is_empty());
}

#[test]
fn antonymy_goes_both_ways() {
    let lexicon = Lexicon::embedded();
    for pos in PartOfSpeech::ALL {
        for lemma in lexicon.lemmas(pos) {
            for antonym in lexicon.antonyms(lemma, pos) {
                assert!(lexicon.antonyms(antonym, pos).contains(&lemma), "{lemma}: {antonym}");
            }
        }
    }
}

#[test]
fn keywords_are_content_words() {
    let lexicon = Lexicon::embedded();
    assert!(lexicon.is_keyword("house", Noun) && lexicon.is_keyword("house", Verb));
    assert!(!lexicon.is_keyword("house", Adverb));
    for word in ["house", "Houses", "wolves", "went", "running", "happiest", "quickly"] {
        assert!(lexicon.is_keyword_word(word), "{word}");
    }
    for word in
        ["the", "has", "was", "will", "not", "never", "hardly", ".", "", "qzxv", "[MALE]", "n't"]
    {
        assert!(!lexicon.is_keyword_word(word), "{word}");
    }
    assert!(
        NEGATION_WORDS.iter().all(|word| is_negation_word(word) && !lexicon.is_keyword_word(word))
    );
}

#[test]
fn synonyms_share_a_synset() {
    let lexicon = Lexicon::embedded();
    assert!(lexicon.synonyms("car", Noun).contains(&"automobile"));
    assert!(!lexicon.synonyms("car", Noun).contains(&"car"));
    let have_common = |a: &[u32], b: &[u32]| a.iter().any(|synset| b.contains(synset));
    let share_synset =
        |a: &str, b: &str| have_common(&lexicon.synsets_of_form(a), &lexicon.synsets_of_form(b));
    assert!(share_synset("cars", "automobile"));
    assert!(share_synset("bought", "purchases"));
    assert!(share_synset("dogs", "dog"));
    assert!(!share_synset("dog", "cat"));
    assert!(!share_synset("qzxv", "qzxv"));
    for pos in PartOfSpeech::ALL {
        for lemma in lexicon.lemmas(pos).step_by(97) {
            let synsets = lexicon.synsets(lemma);
            assert!(synsets.is_sorted());
            for synonym in lexicon.synonyms(lemma, pos) {
                assert!(have_common(&synsets, &lexicon.synsets(synonym)), "{lemma}: {synonym}");
            }
        }
    }
}

#[test]
fn synonyms_and_antonyms_are_those_that_wordnets_own_browser_prints() {
    let lexicon = Lexicon::embedded();
    let mut antonyms_seen = 0;
    for line in
        include_str!("../fixtures/wordnet.tsv").lines().filter(|line| !line.starts_with('#'))
    {
        let fields: Vec<&str> = line.split('\t').collect();
        let list =
            |at: usize| fields[at].split(' ').filter(|word| *word != "-").collect::<Vec<_>>();
        let pos = match fields[0] {
            "noun" => Noun,
            "verb" => Verb,
            "adjective" => Adjective,
            _ => Adverb,
        };
        assert_eq!(lexicon.synonyms(fields[1], pos), list(2), "{line}");
        // Ours may have more, from Open English WordNet.
        let ours = lexicon.antonyms(fields[1], pos);
        assert!(list(3).iter().all(|antonym| ours.contains(antonym)), "{line}: {ours:?}");
        antonyms_seen += list(3).len();
    }
    assert_eq!(antonyms_seen, 297);
}

/// The counts are lines of `cntlist.rev` of WordNet 3.0, and the orders are those of its index.
#[test]
fn senses_have_the_counts_of_wordnets_tagged_texts() {
    let lexicon = Lexicon::embedded();
    for (lemma, pos, counts) in [
        // car%1:06:00:: 1 71, car%1:06:01:: 2 2; the index has five senses.
        ("car", Noun, &[71, 2, 0, 0, 0][..]),
        ("Car", Noun, &[71, 2, 0, 0, 0]),
        // kid%1:18:00:: 1 53; kid%2:32:01:: 1 5, kid%2:32:00:: 2 2
        ("kid", Noun, &[53, 0, 0, 0, 0]),
        ("kid", Verb, &[5, 2]),
        ("buy", Verb, &[102, 2, 0, 0, 0]),
        ("purchase", Verb, &[34]),
        // A satellite adjective whose head has a marker: scared%5:00:00:afraid(p):00 1 9
        ("scared", Adjective, &[9]),
        // several%5:00:00:some(a):00 3 112, several%5:00:00:individual:00 1 16,
        // several%5:00:00:different:00 2 10: the order of the counts is not that of the index.
        ("several", Adjective, &[112, 16, 10]),
        // The most frequent line, acknowledge%2:31:00:: 1 11, is a sense of an earlier WordNet, and
        // so is acknowledge%2:32:02:: 5 2. Of the others, acknowledge%2:32:00:: 2 5 is the first
        // sense of the index, whatever its number says.
        ("acknowledge", Verb, &[5, 3, 2, 1, 0, 0]),
        ("motorcar", Noun, &[1]),
        ("house", Adverb, &[]),
        ("no such word", Noun, &[]),
    ] {
        let senses = lexicon.senses(lemma, pos);
        let found: Vec<u32> = senses.iter().map(|sense| sense.count).collect();
        assert_eq!(found, counts, "{lemma}");
    }
    let admit = lexicon.senses("admit", Verb);
    assert!(
        admit.iter().any(|sense| sense.synset == lexicon.senses("acknowledge", Verb)[0].synset)
    );
    // The first senses of "car" by what they are called otherwise, in WordNet's order.
    let names = ["automobile", "railcar", "gondola"].map(|name| {
        lexicon.senses(name, Noun).iter().map(|sense| sense.synset).collect::<Vec<_>>()
    });
    for (sense, synsets) in lexicon.senses("car", Noun).iter().zip(names) {
        assert!(synsets.contains(&sense.synset), "{sense:?} {synsets:?}");
    }
}

#[test]
fn senses_are_synsets_in_the_order_of_their_counts() {
    let lexicon = Lexicon::embedded();
    let mut total = 0;
    for lemma in PartOfSpeech::ALL.into_iter().flat_map(|pos| lexicon.lemmas(pos)).step_by(7) {
        let senses: Vec<_> =
            PartOfSpeech::ALL.into_iter().map(|pos| lexicon.senses(lemma, pos)).collect();
        for senses in &senses {
            assert!(senses.is_sorted_by_key(|sense| std::cmp::Reverse(sense.count)), "{lemma}");
        }
        let mut synsets: Vec<u32> = senses.iter().flatten().map(|sense| sense.synset).collect();
        synsets.sort_unstable();
        assert_eq!(synsets, lexicon.synsets(lemma), "{lemma}");
        total += senses.iter().flatten().filter(|sense| sense.count > 0).count();
    }
    assert!(total > 3_000, "{total} senses with a count");
}

#[test]
fn close_synonyms_mean_the_same_in_ordinary_sentences() {
    let lexicon = Lexicon::embedded();
    for (lemma, pos, synonyms) in [
        ("car", Noun, &["automobile"][..]),
        ("Doctor", Noun, &["physician"]),
        ("kid", Noun, &["child"]),
        ("couch", Noun, &["sofa"]),
        ("co-worker", Noun, &["colleague"]),
        ("buy", Verb, &["purchase"]),
        ("start", Verb, &["begin"]),
        ("scream", Verb, &["yell"]),
        ("scared", Adjective, &["frightened"]),
        ("large", Adjective, &["big"]),
        ("often", Adverb, &["frequently"]),
        ("maybe", Adverb, &["perhaps", "possibly"]),
        // They need another construction, or are part of fixed phrases ("a big day").
        ("try", Verb, &[]),
        ("need", Verb, &[]),
        ("big", Adjective, &[]),
        // Their synonyms are a function word, a variant, an abbreviation and a mass noun.
        ("nevertheless", Adverb, &["nonetheless"]),
        ("gray", Adjective, &[]),
        ("hour", Noun, &[]),
        ("leaf", Noun, &[]),
        // No sense has most of the uses.
        ("take", Verb, &[]),
        ("run", Verb, &[]),
        ("the", Noun, &[]),
        ("no such word", Noun, &[]),
    ] {
        assert_eq!(lexicon.close_synonyms(lemma, pos), synonyms, "{lemma}");
    }
}

#[test]
fn close_synonyms_are_some_of_the_synonyms() {
    let lexicon = Lexicon::embedded();
    let counts = PartOfSpeech::ALL.map(|pos| {
        let mut found = 0;
        for lemma in lexicon.lemmas(pos) {
            let synonyms = lexicon.synonyms(lemma, pos);
            for close in lexicon.close_synonyms(lemma, pos) {
                assert!(synonyms.contains(&close), "{lemma}: {close}");
                assert!(lexicon.is_keyword(close, pos), "{lemma}: {close}");
                found += 1;
            }
        }
        found
    });
    assert!(counts.iter().all(|count| (50..600).contains(count)), "{counts:?}");
}

#[test]
fn every_lemma_is_found_again_and_there_are_as_many_as_in_wordnet() {
    let lexicon = Lexicon::embedded();
    // Lemmas without "_" in WordNet 3.0's index files: 57,506, 8,700, 20,983 and 3,767 lines; the
    // table of newer antonyms brings a few more.
    let counts = PartOfSpeech::ALL.map(|pos| lexicon.lemmas(pos).count());
    for (count, lines) in counts.into_iter().zip([57_506, 8_700, 20_983, 3_767]) {
        assert!((lines..lines + 400).contains(&count), "{count} for {lines}");
    }
    for pos in PartOfSpeech::ALL {
        let mut lemmas = lexicon.lemmas(pos);
        assert!(
            lemmas.all(|lemma| lexicon.is_keyword(lemma, pos) || !lexicon.is_keyword_word(lemma))
        );
    }
}

#[test]
fn a_table_of_the_user_replaces_the_lexicon() {
    let lexicon = Lexicon::from_conceptnet(TABLE.as_bytes(), "table.txt").unwrap();
    assert_eq!(lexicon.antonyms("happy", Adjective), ["sad", "unhappy", "tears"]);
    assert_eq!(lexicon.antonyms("fish", Noun), ["walk", "never"]);
    assert!(lexicon.antonyms("hot", Adjective).is_empty());
    assert!(lexicon.is_keyword_word("fish") && lexicon.is_keyword_word("walked"));
    assert!(!lexicon.is_keyword_word("house") && !lexicon.is_keyword_word("never"));
}

#[test]
fn a_table_of_the_user_extends_the_lexicon() {
    let lexicon = Lexicon::embedded().extended_with(TABLE.as_bytes(), "table.txt").unwrap();
    assert_eq!(lexicon.antonyms("happy", Adjective), ["sad", "unhappy", "tears"]);
    assert_eq!(lexicon.antonyms("hot", Adjective), ["cold"]);
    let twice =
        lexicon.extended_with("happy|||/r/Antonym|||gloomy".as_bytes(), "second.txt").unwrap();
    assert_eq!(twice.antonyms("happy", Adjective), ["gloomy", "sad", "unhappy", "tears"]);
}

#[test]
fn a_list_of_keywords_holds_whatever_the_antonyms_are() {
    let list = "seats 132|||NNS 131|||VBZ 1\nWalk\nthe 9\n. 425595|||. 425595\nnot 3\n";
    let keywords = |lexicon: &Lexicon| lexicon.with_keywords(list.as_bytes(), "words.txt").unwrap();
    let (wordnet, own) = (
        keywords(Lexicon::embedded()),
        keywords(&Lexicon::from_conceptnet(TABLE.as_bytes(), "table.txt").unwrap()),
    );
    for lexicon in [&wordnet, &own] {
        assert!(lexicon.is_keyword_word("seats") && lexicon.is_keyword_word("walked"));
        // The list has the form of the text, not the lemma.
        assert!(lexicon.is_keyword_form("seats", "seat", Noun));
        assert!(!lexicon.is_keyword("seat", Noun) && !lexicon.is_keyword_word("house"));
        assert!(!lexicon.is_keyword_word("the") && !lexicon.is_keyword_word("not"));
    }
    assert_eq!(wordnet.antonyms("hot", Adjective), ["cold"]);
    assert!(own.antonyms("hot", Adjective).is_empty());
    let refuse =
        |list: &[u8]| Lexicon::embedded().with_keywords(list, "words.txt").unwrap_err().to_string();
    assert_eq!(refuse(b"the\n. 3\n"), "words.txt: the table is empty");
    assert_eq!(refuse(b"house\n\xff"), "words.txt:2: the line is not UTF-8 text");
}

#[test]
fn a_description_tells_lexicons_apart() {
    let table = |text: &str| Lexicon::from_conceptnet(text.as_bytes(), "table.txt").unwrap();
    let description = table("a|||/r/Antonym|||b").description();
    assert!(description.starts_with("antonyms:1:"), "{description}");
    assert_eq!(description, table("a|||/r/Antonym|||b\n\n").description());
    assert_ne!(description, table("a|||/r/Antonym|||c").description());
    assert_eq!(Lexicon::embedded().description(), "wordnet");
    let both = Lexicon::embedded().with_keywords("house".as_bytes(), "words.txt").unwrap();
    assert!(both.description().starts_with("wordnet+keywords:1:"));
}

#[test]
fn a_table_without_end_is_refused_and_a_large_one_is_read_quickly() {
    let refuse = |table: &mut dyn std::io::Read| {
        Lexicon::from_conceptnet(std::io::BufReader::new(table), "table.txt").unwrap_err()
    };
    for byte in [0, b'a'] {
        let error = refuse(&mut std::io::repeat(byte)).to_string();
        assert_eq!(error, "table.txt:1: the line has more than 1048576 bytes");
    }
    let long = format!("a|||{}|||b", "x".repeat(1_000_000));
    let error = refuse(&mut long.as_bytes()).to_string();
    assert!(error.len() < 300, "{} characters", error.len());
    // Looking for each of these tails among those before it would take minutes.
    let tails = |line: u32| (0..20_000).map(move |tail| format!("{:x} ", line * 20_000 + tail));
    let table: String = (0..20)
        .map(|line| format!("a|||/r/Antonym|||{}\n", tails(line).collect::<String>()))
        .collect();
    let begin = std::time::Instant::now();
    let lexicon = Lexicon::from_conceptnet(table.as_bytes(), "table.txt").unwrap();
    assert_eq!(lexicon.antonyms("a", Noun).len(), 399_999, "all but the word itself");
    assert!(begin.elapsed() < std::time::Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn a_wrong_table_is_refused_with_file_and_line() {
    let refuse =
        |table: &[u8]| Lexicon::from_conceptnet(table, "table.txt").unwrap_err().to_string();
    assert_eq!(
        refuse(b"a|||/r/Antonym|||b\nc|||/r/IsA|||d"),
        "table.txt:2: unknown relation \"/r/IsA\"; known are /r/Antonym, /r/NotDesires, /r/NotCapableOf, /r/NotHasProperty"
    );
    assert_eq!(
        refuse(b"happy sad"),
        "table.txt:1: 1 field; a line is head|||/r/Antonym|||tail tail"
    );
    assert_eq!(
        refuse(b" |||/r/Antonym|||b"),
        "table.txt:1: the head is empty; a line is head|||/r/Antonym|||tail tail"
    );
    assert_eq!(refuse(b"a|||/r/Antonym|||b\n\xff"), "table.txt:2: the line is not UTF-8 text");
    assert!(matches!(
        Lexicon::from_conceptnet("\n \n".as_bytes(), "table.txt"),
        Err(LexiconError::Empty { place }) if place == "table.txt"
    ));
}

#[test]
fn penn_tags_name_parts_of_speech() {
    let tags = ["NNS", "NNP", "VBD", "JJR", "RB", "MD", "PRP", "."];
    assert_eq!(
        tags.map(PartOfSpeech::from_penn),
        [Some(Noun), Some(Noun), Some(Verb), Some(Adjective), Some(Adverb), None, None, None]
    );
}

#[test]
fn nouns_and_adjectives_have_lemmas() {
    for (form, lemma) in [
        ("dogs", "dog"),
        ("babies", "baby"),
        ("boxes", "box"),
        ("wolves", "wolf"),
        ("Children", "Child"),
        ("MICE", "MOUSE"),
        ("feet", "foot"),
        ("women", "woman"),
        ("firemen", "fireman"),
        ("glasses", "glass"),
        ("gas", "gas"),
        ("bus", "bus"),
        ("news", "news"),
        ("species", "species"),
        ("boss", "boss"),
        ("heroes", "hero"),
        ("leaves", "leaf"),
        ("us", "us"),
        ("people", "people"),
        ("ties", "tie"),
        ("James", "James"),
        ("horses", "horse"),
        ("", ""),
        ("ß", "ß"),
    ] {
        assert_eq!(noun::lemma(form), lemma, "{form}");
    }
    for (form, lemma) in [
        ("bigger", "big"),
        ("biggest", "big"),
        ("happier", "happy"),
        ("nicest", "nice"),
        ("taller", "tall"),
        ("better", "good"),
        ("worst", "bad"),
        ("clever", "clever"),
        ("honest", "honest"),
        ("eager", "eager"),
        ("Free", "Free"),
        ("freest", "free"),
    ] {
        assert_eq!(adjective::lemma(form), lemma, "{form}");
    }
}
