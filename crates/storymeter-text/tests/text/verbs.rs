//! Forms and bases of verbs.

use storymeter_text::morphology::verb::{VerbForm, base, base_as, inflect};

fn forms(verb: &str) -> String {
    VerbForm::ALL.map(|form| inflect(verb, form)).join(" ")
}

#[test]
fn regular_verbs_follow_the_spelling_rules() {
    assert_eq!(forms("walk"), "walk walks walked walked walking");
    assert_eq!(forms("stop"), "stop stops stopped stopped stopping");
    assert_eq!(forms("hope"), "hope hopes hoped hoped hoping");
    assert_eq!(forms("try"), "try tries tried tried trying");
    assert_eq!(forms("play"), "play plays played played playing");
    assert_eq!(forms("die"), "die dies died died dying");
    assert_eq!(forms("panic"), "panic panics panicked panicked panicking");
    assert_eq!(forms("watch"), "watch watches watched watched watching");
    assert_eq!(forms("fix"), "fix fixes fixed fixed fixing");
    assert_eq!(forms("agree"), "agree agrees agreed agreed agreeing");
    assert_eq!(forms("visit"), "visit visits visited visited visiting");
    assert_eq!(forms("prefer"), "prefer prefers preferred preferred preferring");
    assert_eq!(forms("travel"), "travel travels traveled traveled traveling");
    assert_eq!(forms("control"), "control controls controlled controlled controlling");
    assert_eq!(forms("quiz"), "quiz quizzes quizzed quizzed quizzing");
    assert_eq!(forms("rain"), "rain rains rained rained raining");
    assert_eq!(forms("show"), "show shows showed shown showing");
    assert_eq!(forms("echo"), "echo echoes echoed echoed echoing");
    assert_eq!(forms("singe"), "singe singes singed singed singeing");
    assert_eq!(forms("ski"), "ski skis skied skied skiing");
}

#[test]
fn irregular_verbs_come_from_the_table() {
    assert_eq!(forms("be"), "be is was been being");
    assert_eq!(forms("have"), "have has had had having");
    assert_eq!(forms("do"), "do does did done doing");
    assert_eq!(forms("go"), "go goes went gone going");
    assert_eq!(forms("write"), "write writes wrote written writing");
    assert_eq!(forms("undergo"), "undergo undergoes underwent undergone undergoing");
    assert_eq!(forms("lie"), "lie lies lay lain lying");
    assert_eq!(forms("put"), "put puts put put putting");
}

#[test]
fn the_base_is_the_verb_that_gives_the_form() {
    for (form, verb) in [
        ("hoped", "hope"),
        ("hopped", "hop"),
        ("stopped", "stop"),
        ("tried", "try"),
        ("lying", "lie"),
        ("left", "leave"),
        ("found", "find"),
        ("saw", "see"),
        ("felt", "feel"),
        ("thought", "think"),
        ("was", "be"),
        ("were", "be"),
        ("are", "be"),
        ("'m", "be"),
        ("’m", "be"),
        ("'ve", "have"),
        ("’d", "have"),
        ("unclipped", "unclip"),
        ("has", "have"),
        ("does", "do"),
        ("goes", "go"),
        ("passes", "pass"),
        ("leaves", "leave"),
        ("dies", "die"),
        ("dying", "die"),
        ("dyeing", "dye"),
        ("staring", "stare"),
        ("starring", "star"),
        ("singing", "sing"),
        ("mimicked", "mimic"),
        ("travelled", "travel"),
        ("traveled", "travel"),
        ("need", "need"),
        ("bring", "bring"),
        ("falling", "fall"),
        ("missed", "miss"),
        ("freed", "free"),
    ] {
        assert_eq!(base(form), verb, "{form}");
    }
}

#[test]
fn a_known_form_settles_words_that_are_forms_of_two_verbs() {
    assert_eq!(base_as("found", VerbForm::Base), "found");
    assert_eq!(base_as("found", VerbForm::Past), "find");
    assert_eq!(base_as("lay", VerbForm::Past), "lie");
    assert_eq!(base_as("lay", VerbForm::Base), "lay");
    assert_eq!(base_as("saw", VerbForm::Base), "saw");
    assert_eq!(base_as("wound", VerbForm::PastParticiple), "wind");
    assert_eq!(base_as("wound", VerbForm::Base), "wound");
    // A wrong form is no reason to give up.
    assert_eq!(base_as("went", VerbForm::Base), "go");
}

#[test]
fn letter_case_is_carried_over() {
    assert_eq!(base("Went"), "Go");
    assert_eq!(base("WENT"), "GO");
    assert_eq!(inflect("Try", VerbForm::Past), "Tried");
    assert_eq!(inflect("TRY", VerbForm::Past), "TRIED");
}

#[test]
fn verbs_nobody_listed_get_the_likeliest_base() {
    for (form, verb) in [
        ("googled", "google"),
        ("blorped", "blorp"),
        ("zonking", "zonk"),
        ("florped", "florp"),
        ("plogging", "plog"),
    ] {
        assert_eq!(base(form), verb, "{form}");
    }
    assert_eq!(base("été"), "été");
    assert_eq!(base(""), "");
}
