//! Word forms, compared with those of lemminflect (fixtures made by `tools/word_forms_fixture.py`),
//! and every verb of WordNet inflected and taken back to its base.

use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
use storymeter_text::morphology::verb::{VerbForm, base, base_as, inflect};
use storymeter_text::morphology::{adjective, noun};

/// Rows of a fixture: the word, then for each form lemminflect's choices.
fn rows(fixture: &'static str) -> impl Iterator<Item = (&'static str, Vec<Vec<&'static str>>)> {
    fixture.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (word, forms) = line.split_once('\t').unwrap();
        (word, forms.split('\t').map(|choices| choices.split('/').collect()).collect())
    })
}

#[test]
fn verbs_have_the_forms_that_lemminflect_gives() {
    const FORMS: [VerbForm; 4] =
        [VerbForm::ThirdSingular, VerbForm::Past, VerbForm::PastParticiple, VerbForm::Gerund];
    let (mut all, mut first) = (0, 0);
    let mut different = Vec::new();
    let mut lost = Vec::new();
    for (verb, forms) in rows(include_str!("../fixtures/verb_forms.tsv")) {
        for (form, theirs) in FORMS.into_iter().zip(forms) {
            let ours = inflect(verb, form);
            all += 1;
            first += usize::from(theirs[0] == ours);
            if !theirs.contains(&&*ours) {
                different.push(format!("{ours} ({})", theirs.join("/")));
            }
            // Its lists also have forms with a hyphen or a space ("over-came"), which are not
            // single words.
            let spelt = theirs.into_iter().filter(|word| !word.contains(['-', ' ']));
            lost.extend(spelt.filter(|word| base_as(word, form) != verb));
        }
    }
    println!(
        "verbs: {first} of {all} forms are lemminflect's first choice; ours (theirs): {different:?}"
    );
    println!("verbs: of lemminflect's forms these do not lead back: {lost:?}");
    assert_eq!((first, all), (2391, 2400));
    // American forms where lemminflect has only the British one, and "lain", "proven" by our
    // choice.
    assert_eq!(
        different.join(", "),
        "fit (fitted), leaned (leant), leaped (leapt), leaped (leapt), lain (lied), lit (lighted), proven (proved), \
         smelled (smelt)"
    );
    // "staves" as a form of stay is an error of the list, "staid" and "instals" are rare spellings.
    assert_eq!(lost, ["instals", "staves", "staid"]);
}

#[test]
fn nouns_have_the_plurals_that_lemminflect_gives() {
    let (mut all, mut agree) = (0, 0);
    let (mut different, mut lost) = (Vec::new(), Vec::new());
    for (word, forms) in rows(include_str!("../fixtures/noun_forms.tsv")) {
        let ours = noun::plural(word);
        all += 1;
        if forms[0].contains(&&*ours) {
            agree += 1;
        } else {
            different.push(format!("{ours} ({})", forms[0].join("/")));
        }
        lost.extend(forms[0].iter().copied().filter(|plural| noun::lemma(plural) != word));
        lost.extend(Some(word).filter(|word| noun::lemma(word) != *word));
    }
    println!("nouns: {agree} of {all} agree; ours (theirs): {different:?}; not led back: {lost:?}");
    assert_eq!((agree, all), (588, 600));
    // lemminflect leaves out plurals that are rarely used; "people" is our choice.
    assert_eq!(
        different.join(", "),
        "assistances (assistance), communisms (communism), dusts (dust), heats (heat), mores (more), musics (music), \
         people (persons/person), progresses (progress), researches (research), souths (south), twos (two), wests (west)"
    );
    // Rare Latin, and words that WordNet lists as lemmas of their own.
    assert_eq!(lost, ["areae", "men", "words"]);
}

#[test]
fn adjectives_have_the_comparatives_that_lemminflect_gives() {
    let (mut all, mut agree) = (0, 0);
    let (mut different, mut lost) = (Vec::new(), Vec::new());
    for (word, forms) in rows(include_str!("../fixtures/adjective_forms.tsv")) {
        for (ours, theirs) in
            [adjective::comparative(word), adjective::superlative(word)].into_iter().zip(forms)
        {
            if theirs[0] == "-" {
                continue;
            }
            all += 1;
            if theirs.contains(&&*ours) {
                agree += 1;
            } else {
                different.push(format!("{ours} ({})", theirs.join("/")));
            }
            lost.extend(theirs.into_iter().filter(|form| adjective::lemma(form) != word));
        }
    }
    println!(
        "adjectives: {agree} of {all} agree; ours (theirs): {different:?}; not led back: {lost:?}"
    );
    assert_eq!((agree, all), (121, 140));
    // Words that take either, where we say "more"; "freeer" and its like are errors of the list.
    assert_eq!(
        different.join(", "),
        "more bitter (bitterer), most bitter (bitterest), bluer (blueer), bluest (blueest), more common (commoner), \
         most common (commonest), freer (freeer), freest (freeest), lesser (less), lessest (least), \
         more likely (likelier), most likely (likeliest), less (littler), least (littlest), \
         more modern (moderner), most modern (modernest), truer (trueer), wronger (worse), wrongest (worst)"
    );
    // Forms of several adjectives (much and many, bad and wrong) go to one.
    assert_eq!(lost, ["less", "least", "more", "most", "worse", "worst"]);
}

#[test]
fn every_verb_of_wordnet_comes_back_from_every_form() {
    let (mut all, mut with_form, mut without) = (0, 0, 0);
    for verb in Lexicon::embedded().lemmas(PartOfSpeech::Verb) {
        for form in VerbForm::ALL {
            let word = inflect(verb, form);
            all += 1;
            without += usize::from(base(&word) == verb);
            let found = base_as(&word, form);
            if found == verb {
                with_form += 1;
            } else {
                // The only reason to miss: another verb has the very same form (bath, bathe:
                // bathed).
                assert_eq!(inflect(&found, form), word, "{word} is of {verb}, not of {found}");
            }
        }
    }
    println!(
        "of {all} forms of all WordNet verbs {with_form} come back with the form given, {without} without"
    );
    assert_eq!(all, 43_505);
    assert!(with_form >= 43_409 && without >= 43_382);
}
