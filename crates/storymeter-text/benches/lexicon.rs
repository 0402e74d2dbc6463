//! Speed of lookups, inflection, masked names, and counting and drawing words.
//!
//! `benches/peers/lemmas.sh` runs another library beside it.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
use storymeter_text::morphology::{noun, verb};
use storymeter_text::names::Delexicaliser;
use storymeter_text::vocabulary::VocabularyBuilder;

/// All forms of the 600 verbs of the fixture.
fn verb_forms() -> Vec<String> {
    let fixture = include_str!("../tests/fixtures/verb_forms.tsv");
    let rows = fixture.lines().filter(|line| !line.starts_with('#'));
    rows.flat_map(|row| {
        row.split('\t').map(|form| form.split('/').next().unwrap_or(form).to_owned())
    })
    .collect()
}

fn words(c: &mut Criterion) {
    let lexicon = Lexicon::embedded();
    let forms = verb_forms();
    let verbs: Vec<&str> = forms.iter().step_by(5).map(String::as_str).collect();
    let nouns: Vec<String> =
        lexicon.lemmas(PartOfSpeech::Noun).step_by(57).map(noun::plural).collect();
    let adjectives: Vec<&str> = lexicon.lemmas(PartOfSpeech::Adjective).step_by(17).collect();

    let mut group = c.benchmark_group("words");
    group.throughput(Throughput::Elements(forms.len() as u64));
    group.bench_function("base of a verb form", |b| {
        b.iter(|| forms.iter().map(|form| verb::base(black_box(form)).len()).sum::<usize>());
    });
    group.throughput(Throughput::Elements(verbs.len() as u64));
    group.bench_function("past of a verb", |b| {
        b.iter(|| {
            verbs
                .iter()
                .map(|base| verb::inflect(black_box(base), verb::VerbForm::Past).len())
                .sum::<usize>()
        });
    });
    group.throughput(Throughput::Elements(nouns.len() as u64));
    group.bench_function("lemma of a noun", |b| {
        b.iter(|| nouns.iter().map(|form| noun::lemma(black_box(form)).len()).sum::<usize>());
    });
    group.throughput(Throughput::Elements(adjectives.len() as u64));
    group.bench_function("antonyms", |b| {
        b.iter(|| {
            let antonyms = adjectives
                .iter()
                .map(|word| lexicon.antonyms(black_box(word), PartOfSpeech::Adjective).len());
            antonyms.sum::<usize>()
        });
    });
    group.bench_function("close synonyms", |b| {
        b.iter(|| {
            let synonyms = adjectives
                .iter()
                .map(|word| lexicon.close_synonyms(black_box(word), PartOfSpeech::Adjective).len());
            synonyms.sum::<usize>()
        });
    });
    group.throughput(Throughput::Elements(forms.len() as u64));
    group.bench_function("is it a keyword", |b| {
        b.iter(|| forms.iter().filter(|form| lexicon.is_keyword_word(black_box(form))).count());
    });
    group.bench_function("synsets of a form", |b| {
        let synsets = |form: &String| lexicon.synsets_of_form(black_box(form)).len();
        b.iter(|| forms.iter().map(synsets).sum::<usize>());
    });
    group.finish();
}

fn vocabulary(c: &mut Criterion) {
    // A corpus whose k-th word has a frequency in proportion to 1/k, as in real texts.
    let words: Vec<&str> = Lexicon::embedded().lemmas(PartOfSpeech::Noun).step_by(3).collect();
    let tokens: Vec<(&str, u8)> = (1..=200_000_u64)
        .map(|i| {
            let uniform =
                (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1u64 << 53) as f64;
            let rank = (words.len() as f64).powf(uniform) as usize - 1;
            (words[rank], (rank % 12) as u8)
        })
        .collect();
    let count = || {
        let mut builder = VocabularyBuilder::new();
        tokens.iter().for_each(|(word, tag)| builder.add(word, *tag));
        builder
    };
    let vocabulary = count().build();

    let mut group = c.benchmark_group("vocabulary");
    group.throughput(Throughput::Elements(tokens.len() as u64));
    group.bench_function("count tokens", |b| b.iter(count));
    group.throughput(Throughput::Elements(1));
    group.bench_function("draw a word", |b| {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        b.iter(|| vocabulary.sample(black_box(3), &mut rng).map(str::len));
    });
    group.finish();
}

fn names(c: &mut Criterion) {
    let story = "Susan woke up late. Mark had already left for work without her. She called Will, but he was in Paris \
                 until May. Grace drove Susan to the office in the end. They were only ten minutes late.";
    let delexicaliser = Delexicaliser::embedded();
    let mut group = c.benchmark_group("names");
    group.throughput(Throughput::Bytes(story.len() as u64));
    group.bench_function("mask a story", |b| {
        b.iter(|| delexicaliser.delexicalise(black_box(story)).names.len())
    });
    group.finish();
}

criterion_group!(benches, words, vocabulary, names);
criterion_main!(benches);
