//! Hidden states of texts, computed once for all metrics that use the same model.
//!
//! A metric says which layers it wants when it is built. When the first metric of a batch asks for
//! its texts, one pass through the model keeps the layers of all metrics, and the others find them
//! there. References are also kept across batches, up to a limit of memory, because all systems of
//! an item have the same one.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use storymeter_core::{MetricError, Prepared, Request, Rows, Signature, TextCache};
use storymeter_encoder::{Batch, Outputs, portions};

use crate::absent::{Reason, row};
use crate::models::{OpenModel, failed};
use crate::recent::Recent;
use crate::windows::{Window, windows};

/// The most bytes of states of references that are kept across batches.
const KEPT_BYTES: usize = 512 << 20;

/// The token ids of a text.
pub(crate) struct TextTokens {
    /// The ids, with the special tokens.
    pub ids: Vec<u32>,
    /// The number of tokens that are not special.
    pub words: usize,
    /// Whether the text is longer than what is read of it.
    pub is_cut: bool,
}

/// The hidden states of a text.
pub(crate) struct TextStates {
    /// Its tokens.
    pub tokens: Arc<TextTokens>,
    width: usize,
    /// The layers in ascending order, each with one row per token. Rows have length 1.
    layers: Vec<(usize, Vec<f32>)>,
    derived: Mutex<Vec<Derived>>,
    /// The bytes of what was derived from all texts of the reader.
    derived_bytes: Arc<AtomicUsize>,
}

/// What a metric computed from the states, with its size in bytes.
struct Derived {
    name: String,
    thing: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

impl Drop for TextStates {
    fn drop(&mut self) {
        let bytes = lock(&self.derived).iter().map(|one| one.bytes).sum();
        self.derived_bytes.fetch_sub(bytes, Relaxed);
    }
}

impl TextStates {
    /// The states after a layer, one row per token, each divided by its Euclidean norm.
    ///
    /// # Panics
    /// If the layer was not announced with [`Reader::want`].
    pub(crate) fn layer(&self, layer: usize) -> &[f32] {
        let found = self.layers.iter().find(|(known, _)| *known == layer);
        &found.expect("the layer was announced").1
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether the text has no token besides the special ones.
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.words == 0
    }

    /// Something that is computed from the states, such as the depths of tokens. It is kept with
    /// them, as a value of so many bytes.
    pub(crate) fn derived<T: Send + Sync + 'static>(
        &self,
        name: &str,
        bytes: impl FnOnce(&T) -> usize,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let find = |known: &[Derived]| {
            let found = known.iter().find(|one| one.name == name && one.thing.is::<T>());
            found.and_then(|one| Arc::clone(&one.thing).downcast().ok())
        };
        if let Some(known) = find(&lock(&self.derived)) {
            return known;
        }
        let thing = Arc::new(make());
        let mut derived = lock(&self.derived);
        if let Some(known) = find(&derived) {
            return known;
        }
        let (kept, bytes) = (Arc::clone(&thing) as Arc<dyn Any + Send + Sync>, bytes(&thing));
        derived.push(Derived { name: name.to_owned(), thing: kept, bytes });
        self.derived_bytes.fetch_add(bytes, Relaxed);
        thing
    }

    /// The bytes of the states, without what was derived from them.
    fn bytes(&self) -> usize {
        self.layers.iter().map(|(_, states)| size_of_val(states.as_slice())).sum()
    }
}

/// The states of a story and of its references.
pub(crate) struct StoryStates {
    /// The story.
    pub story: Arc<TextStates>,
    /// Its references, in order.
    pub references: Vec<Arc<TextStates>>,
}

impl StoryStates {
    /// Whether the story or one of its references is longer than what was read of it.
    pub(crate) fn is_cut(&self) -> bool {
        self.story.tokens.is_cut || self.references.iter().any(|text| text.tokens.is_cut)
    }
}

/// Reads texts with one model, for all metrics that use it in the same way.
pub(crate) struct Reader {
    model: Arc<OpenModel>,
    /// Whether long texts are read in windows, and not cut.
    whole: bool,
    /// What the tokeniser adds to a text, and how much of it stands before the text.
    special: Vec<u32>,
    before: usize,
    name: String,
    wanted: Mutex<BTreeSet<usize>>,
    recent: Mutex<Recent<TextStates>>,
    derived_bytes: Arc<AtomicUsize>,
}

impl Reader {
    /// The reader of a model, which all metrics share that read texts whole or that all cut them.
    ///
    /// # Errors
    /// Returns an error if the folder of the model has no tokeniser that can be used.
    pub(crate) fn shared(
        request: &Request<'_>,
        model: Arc<OpenModel>,
        whole: bool,
    ) -> Result<Arc<Self>, MetricError> {
        let long = if whole { "whole" } else { "cut" };
        let name = format!("{} {long}", model.path().display());
        request.resources.shared(&name, || Self::new(request.key, model, whole, name.clone()))
    }

    fn new(
        metric: &str,
        model: Arc<OpenModel>,
        whole: bool,
        name: String,
    ) -> Result<Self, MetricError> {
        let tokenizer = model.tokenizer(metric)?;
        let special = tokenizer.encode("", usize::MAX).0;
        let before = usize::from(tokenizer.start().is_some()).min(special.len());
        Ok(Self {
            model,
            whole,
            special,
            before,
            name,
            wanted: Mutex::default(),
            recent: Mutex::new(Recent::new(KEPT_BYTES)),
            derived_bytes: Arc::default(),
        })
    }

    /// Announces the layers that a metric will ask for.
    ///
    /// # Errors
    /// Returns an error if the model has fewer layers.
    pub(crate) fn want(
        &self,
        metric: &str,
        layers: impl IntoIterator<Item = usize>,
    ) -> Result<(), MetricError> {
        let most = self.model.model().config().layers;
        let mut wanted = lock(&self.wanted);
        for layer in layers {
            if layer > most {
                let problem = format!(
                    "the model {} has {most} layers, so there is no layer {layer}",
                    self.model.name()
                );
                return Err(MetricError::Failed {
                    metric: metric.to_owned(),
                    source: problem.into(),
                });
            }
            wanted.insert(layer);
        }
        Ok(())
    }

    /// The number of columns of hidden states.
    pub(crate) fn width(&self) -> usize {
        self.model.model().config().hidden
    }

    /// The special tokens that the tokeniser adds to a text.
    pub(crate) fn special(&self) -> &[u32] {
        &self.special
    }

    /// The number of token ids.
    pub(crate) fn vocabulary(&self) -> usize {
        self.model.model().config().vocabulary
    }

    /// Adds the model to a signature.
    pub(crate) fn sign(&self, signature: Signature) -> Signature {
        self.model.sign(signature)
    }

    /// Adds what happens to long texts to a signature.
    pub(crate) fn sign_length(&self, signature: Signature) -> Signature {
        let longest = self.model.longest();
        let long = if self.whole { "windows" } else { "cut" };
        signature.with("long", "l", format!("{long}-{longest}"))
    }

    /// The token ids of a text. They are kept with the text.
    pub(crate) fn tokens(&self, text: &TextCache<'_>) -> Arc<TextTokens> {
        if let Some(known) = text.recall::<TextTokens>(&self.name) {
            return known;
        }
        text.keep(&self.name, Arc::new(self.tokenise(text.text())))
    }

    fn tokenise(&self, text: &str) -> TextTokens {
        // `Reader::shared` has checked that there is one.
        let Ok(tokenizer) = self.model.model().tokenizer() else {
            return TextTokens { ids: Vec::new(), words: 0, is_cut: false };
        };
        let limit = if self.whole { usize::MAX } else { self.model.longest() };
        let stripped = text.trim_matches(is_python_space);
        // A blank before the first word makes byte-level tokenisers treat it like any other word,
        // as bert-score does. Word pieces do not depend on it.
        let (ids, left_out) = match stripped {
            "" => tokenizer.encode("", limit),
            _ => tokenizer.encode(&format!(" {stripped}"), limit),
        };
        let words = ids.len().saturating_sub(self.special.len());
        TextTokens { ids, words, is_cut: left_out > 0 }
    }

    /// The states of these stories and of their references.
    ///
    /// # Errors
    /// Returns an error if the model fails.
    pub(crate) fn read(
        &self,
        metric: &str,
        stories: &[Prepared<'_>],
    ) -> Result<Vec<StoryStates>, MetricError> {
        let mut texts = Texts::default();
        let places: Vec<(usize, Vec<usize>)> = stories
            .iter()
            .map(|story| {
                let text = texts.add(&story.text, false);
                (text, story.references.iter().map(|text| texts.add(text, true)).collect())
            })
            .collect();
        let states = self.read_texts(metric, &texts.distinct)?;
        let get = |place: usize| Arc::clone(&states[place]);
        Ok(places
            .into_iter()
            .map(|(story, references)| StoryStates {
                story: get(story),
                references: references.into_iter().map(get).collect(),
            })
            .collect())
    }

    /// The rows of a metric that compares the states of stories and references. Stories of which
    /// something was not read are counted.
    ///
    /// # Errors
    /// Returns an error if the model fails.
    pub(crate) fn rows<R: Reason, const N: usize>(
        &self,
        metric: &str,
        stories: &[Prepared<'_>],
        scores: impl Fn(&StoryStates) -> [Result<f64, R>; N] + Sync,
    ) -> Result<Rows, MetricError> {
        let texts = self.read(metric, stories)?;
        let rows = texts.par_iter().flat_map_iter(|texts| row(scores(texts))).collect();
        let cut = texts.iter().filter(|texts| texts.is_cut()).count();
        Ok(Rows::from_values(2 * N, rows).truncated(cut as u64))
    }

    /// The states of different texts.
    fn read_texts(
        &self,
        metric: &str,
        texts: &[(&TextCache<'_>, bool)],
    ) -> Result<Vec<Arc<TextStates>>, MetricError> {
        let layers: Vec<usize> = lock(&self.wanted).iter().copied().collect();
        let name = format!("{} {layers:?}", self.name);
        let mut found: Vec<Option<Arc<TextStates>>> = texts
            .iter()
            .map(|(text, _)| {
                let known = || lock(&self.recent).get(&name, text.text());
                text.recall(&name).or_else(|| known().map(|states| text.keep(&name, states)))
            })
            .collect();
        let missing: Vec<usize> = (0..texts.len()).filter(|&at| found[at].is_none()).collect();
        let tokens: Vec<Arc<TextTokens>> =
            missing.par_iter().map(|&at| self.tokens(texts[at].0)).collect();
        for (at, states) in missing.into_iter().zip(self.compute(metric, &layers, &tokens)?) {
            let (text, is_reference) = texts[at];
            let states = text.keep(&name, Arc::new(states));
            if is_reference {
                let derived = || self.derived_bytes.load(Relaxed);
                lock(&self.recent).keep((&name, text.text()), &states, states.bytes(), derived);
            }
            found[at] = Some(states);
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Takes texts through the model, similar lengths together.
    fn compute(
        &self,
        metric: &str,
        layers: &[usize],
        texts: &[Arc<TextTokens>],
    ) -> Result<Vec<TextStates>, MetricError> {
        let mut parts: Vec<(usize, Part)> = texts
            .iter()
            .enumerate()
            .flat_map(|(text, tokens)| self.parts(tokens).into_iter().map(move |part| (text, part)))
            .collect();
        parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.ids.len()));
        let width = self.width();
        let mut states: Vec<TextStates> = texts
            .iter()
            .map(|tokens| TextStates {
                tokens: Arc::clone(tokens),
                width,
                layers: layers
                    .iter()
                    .map(|&layer| (layer, vec![0.0; tokens.ids.len() * width]))
                    .collect(),
                derived: Mutex::default(),
                derived_bytes: Arc::clone(&self.derived_bytes),
            })
            .collect();
        let outputs = Outputs::new().layers(layers.iter().copied());
        for group in portions(&parts, self.model.tokens_at_once(), |(_, part)| part.ids.len()) {
            let batch: Batch = group.iter().map(|(_, part)| part.ids.as_slice()).collect();
            let run = self.model.model().run(&batch, &outputs);
            let run = run.map_err(|error| failed(metric, error))?;
            for (sequence, (text, part)) in group.iter().enumerate() {
                for (layer, states) in &mut states[*text].layers {
                    let rows = &run.layer(*layer).sequence(sequence)[part.skip * width..];
                    let to = &mut states[part.to * width..][..part.count * width];
                    to.copy_from_slice(&rows[..to.len()]);
                }
            }
        }
        states.par_iter_mut().for_each(|text| {
            text.layers.par_iter_mut().for_each(|(_, states)| normalise(states, width));
        });
        Ok(states)
    }

    /// What of a text goes through the model at once: all of it, or its windows.
    fn parts(&self, tokens: &TextTokens) -> Vec<Part> {
        let (ids, longest) = (&tokens.ids, self.model.longest());
        if ids.len() <= longest {
            return vec![Part { ids: ids.clone(), skip: 0, to: 0, count: ids.len() }];
        }
        // Each window has the special tokens around it, of which the first and the last are kept.
        let (before, after) = (self.before, self.special.len() - self.before);
        let words = &ids[before..ids.len() - after];
        windows(words.len(), longest.saturating_sub(self.special.len()).max(1))
            .into_iter()
            .map(|Window { read, kept }| {
                let begins = if kept.start == 0 { before } else { 0 };
                let ends = if kept.end == words.len() { after } else { 0 };
                Part {
                    ids: [&ids[..before], &words[read.clone()], &ids[ids.len() - after..]].concat(),
                    skip: before + kept.start - read.start - begins,
                    to: before + kept.start - begins,
                    count: kept.len() + begins + ends,
                }
            })
            .collect()
    }
}

/// A sequence for the model, and where its states belong.
struct Part {
    ids: Vec<u32>,
    /// The first token that is kept.
    skip: usize,
    /// The place of that token in the text.
    to: usize,
    /// The number of tokens that are kept.
    count: usize,
}

/// The white space that Python's `strip` removes.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Divides each row by its Euclidean norm. A row of zeros stays as it is.
fn normalise(rows: &mut [f32], width: usize) {
    for row in rows.chunks_exact_mut(width) {
        let squares: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        if squares > 0.0 {
            let norm = squares.sqrt();
            row.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
        }
    }
}

/// Different texts in order, each with whether it is a reference.
#[derive(Default)]
struct Texts<'a> {
    distinct: Vec<(&'a TextCache<'a>, bool)>,
    places: FxHashMap<&'a str, usize>,
}

impl<'a> Texts<'a> {
    fn add(&mut self, text: &'a TextCache<'a>, is_reference: bool) -> usize {
        let place = *self.places.entry(text.text()).or_insert(self.distinct.len());
        match self.distinct.get_mut(place) {
            Some((_, known)) => *known |= is_reference,
            None => self.distinct.push((text, is_reference)),
        }
        place
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is locked here is ever left half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::{A, B, C, write_masked_model_of};
    use storymeter_core::Story;

    /// A reader with the tiny model, which reads 64 tokens at once.
    fn reader(whole: bool) -> Reader {
        let folder = tempfile::tempdir().unwrap();
        write_masked_model_of(folder.path(), 30522, 64);
        let model = OpenModel::of_test(folder.path());
        Reader::new("test", model, whole, "tiny".to_owned()).unwrap()
    }

    fn story(text: &str, reference: &str) -> Story {
        Story { references: vec![reference.to_owned()], ..Story::from(text) }
    }

    #[test]
    fn one_pass_keeps_the_layers_of_all_metrics() {
        let reader = reader(false);
        reader.want("first", [2]).unwrap();
        reader.want("second", [0, 1]).unwrap();
        let story = story(A, C);
        let prepared = [Prepared::new(0, &story)];
        let first = reader.read("first", &prepared).unwrap();
        let second = reader.read("second", &prepared).unwrap();
        assert!(Arc::ptr_eq(&first[0].story, &second[0].story), "no second pass");
        for layer in 0..=2 {
            let states = first[0].story.layer(layer);
            assert_eq!(states.len(), first[0].story.tokens.ids.len() * 32);
            let norm: f32 = states[..32].iter().map(|x| x * x).sum();
            assert!((norm - 1.0).abs() < 1e-6, "layer {layer} has rows of length {norm}");
        }
    }

    #[test]
    fn references_are_kept_across_batches_and_stories_are_not() {
        let reader = reader(false);
        reader.want("test", [1]).unwrap();
        let stories = [story(A, C), story(B, C), story(A, B)];
        let read =
            |at: usize| reader.read("test", &[Prepared::new(0, &stories[at])]).unwrap().remove(0);
        let (first, second, third) = (read(0), read(1), read(2));
        assert!(Arc::ptr_eq(&first.references[0], &second.references[0]));
        assert!(!Arc::ptr_eq(&first.story, &third.story));
        assert_eq!(first.story.layer(1), third.story.layer(1));
    }

    #[test]
    fn windows_keep_one_row_per_token_and_both_special_tokens() {
        let (cut, whole) = (reader(false), reader(true));
        let long = [A, B, C].join(" ");
        let story = story(&long, A);
        let read = |reader: &Reader| {
            reader.want("test", [2]).unwrap();
            reader.read("test", &[Prepared::new(0, &story)]).unwrap().remove(0)
        };
        let (cut, whole) = (read(&cut), read(&whole));
        assert_eq!(cut.story.tokens.ids.len(), 64);
        assert!(cut.is_cut() && !whole.is_cut());
        assert_eq!(whole.story.tokens.ids.len(), 39 + 39 + 40 + 2);
        let rows = whole.story.layer(2).chunks_exact(32);
        assert!(rows.clone().all(|row| row.iter().any(|x| *x != 0.0)), "no row was forgotten");
        // The first window is the text that was cut. The special token and the first 46 of its 62
        // words are kept, because the second window begins with word 31.
        let equal = rows.zip(cut.story.layer(2).chunks_exact(32)).filter(|(a, b)| a == b).count();
        assert_eq!(equal, 1 + 46);
        // A text that fits is read as ever.
        assert_eq!(cut.references[0].layer(2), whole.references[0].layer(2));
    }

    #[test]
    fn what_is_derived_is_made_once_and_counted() {
        let reader = reader(false);
        reader.want("test", [1]).unwrap();
        let story = story(A, C);
        let states = reader.read("test", &[Prepared::new(0, &story)]).unwrap();
        let make = || states[0].story.derived("length", |_| 1000, || A.len());
        let (first, again) = (make(), make());
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(reader.derived_bytes.load(Relaxed), 1000);
        drop(states);
        assert_eq!(reader.derived_bytes.load(Relaxed), 0);
    }
}
