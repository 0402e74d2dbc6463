//! OpenMEVA's texts that were made by rule, in its layout and with our own stories.

use std::fs;
use std::path::{Path, PathBuf};

use storymeter_core::Aspect;
use storymeter_meta::openmeva::acts::{
    self, AspectTexts, Corpus, Design, Origin, Part, SkipReason, Text,
};

struct Data(tempfile::TempDir);

impl Data {
    /// A corpus of this name with three test stories and a few tests.
    fn new(corpus: &str) -> Self {
        let data = Self(tempfile::tempdir().unwrap());
        let c = corpus;
        data.add(&format!("{c}/{c}_test_ipt.txt"), "Mara Found a key.\nTheo sat.\nIt Rained.\n");
        data.add(&format!("{c}/{c}_test_opt.txt"), "She Ran.\nHe sang, then left.\nWe Hid.\n");
        data.add(
            &format!("{c}/discrimination_test/{c}_lexical_rept.txt"),
            "0|||Mara found a key.|||She ran.\n1|||Theo sat.|||He sang.\n2||| |||Lost.\n",
        );
        data.add(
            &format!("{c}/discrimination_test/{c}_lexical_rept_perturb.txt"),
            "1|||Theo sat.|||He sang. He sang.|||repeat:sentence\n\n7|||Rain.||| |||x\n",
        );
        data.add(
            &format!("{c}/invariance_test/{c}_typos_perturb.txt"),
            "1|||theo sat .|||he snag, then left.\n0|||mara found a key .|||she rna.\n9|||x|||y\n",
        );
        data
    }

    fn add(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// `acts_data`.
    fn folder(&self) -> PathBuf {
        self.0.path().join("acts_data")
    }

    fn corpus(&self) -> Corpus {
        acts::find(&self.folder()).unwrap().remove(0)
    }

    fn read(&self, aspect: Aspect, origin: Origin) -> Result<AspectTexts, String> {
        let corpus = self.corpus();
        let test = corpus.tests.iter().find(|test| (test.aspect, test.origin) == (aspect, origin));
        acts::read(test.unwrap()).map_err(|error| self.shown(error))
    }

    /// A message without the path of the folder.
    fn shown(&self, message: impl ToString) -> String {
        message.to_string().replace(&format!("{}/", self.folder().display()), "")
    }
}

fn ids<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Vec<&'a str> {
    texts.into_iter().map(|text| text.id.as_str()).collect()
}

#[test]
fn the_folder_is_found_from_above_and_from_below() {
    let data = Data::new("roc");
    let names = |folder: &Path| {
        let corpora = acts::find(folder).map_err(|error| data.shown(error))?;
        Ok(corpora.into_iter().map(|corpus| corpus.name).collect::<Vec<_>>())
    };
    let found: Result<Vec<String>, String> = Ok(vec!["roc".to_owned()]);
    for folder in [data.folder(), data.folder().join("roc"), data.0.path().to_owned()] {
        assert_eq!(names(&folder), found);
        assert!(acts::holds_corpora(&folder));
    }
    data.add("wp/invariance_test/readme", "");
    assert_eq!(names(&data.folder()).unwrap(), ["roc", "wp"]);
    let empty = tempfile::tempdir().unwrap();
    let error = acts::find(empty.path()).unwrap_err().to_string();
    assert!(error.contains("it is not OpenMEVA's acts_data"), "{error}");
    let error = acts::find(&empty.path().join("gone")).unwrap_err().to_string();
    assert!(error.ends_with("there is no such folder"), "{error}");
}

#[test]
fn discrimination_has_two_groups_of_stories() {
    let texts = Data::new("roc").read(Aspect::LexicalRepetition, Origin::Human).unwrap();
    assert_eq!((texts.design, texts.corpus.as_str()), (Design::Unpaired, "roc"));
    assert_eq!(ids(&texts.originals), ["0", "1"]);
    assert_eq!(ids(texts.twins.iter().map(|twin| &twin.text)), ["1"]);
    assert_eq!(texts.twins[0].rule.as_deref(), Some("repeat:sentence"));
    let story = texts.twins[0].text.to_story();
    assert_eq!(story.text, "Theo sat. He sang. He sang.");
    assert_eq!(story.prompt.as_deref(), Some("Theo sat."));
    let skipped: Vec<_> =
        texts.skipped.iter().map(|one| (one.reason, one.lines, one.first)).collect();
    assert_eq!(
        skipped,
        [
            (SkipReason::BlankLine, 1, 2),
            (SkipReason::BlankStory, 1, 3),
            (SkipReason::BlankContext, 1, 3)
        ]
    );
}

#[test]
fn invariance_has_pairs_by_the_number_of_the_line() {
    let data = Data::new("roc");
    let texts = data.read(Aspect::Typo, Origin::Human).unwrap();
    assert_eq!(texts.design, Design::Paired);
    let pair = |at: usize| (&*texts.originals[at].story, &*texts.twins[at].text.story);
    assert_eq!(pair(0), ("He sang, then left.", "he snag, then left."));
    assert_eq!(pair(1), ("She Ran.", "she rna."));
    assert_eq!(ids(&texts.originals), ids(texts.twins.iter().map(|twin| &twin.text)));
    assert_eq!((texts.unlike_contexts, texts.lower_cased), (0, false));
    assert_eq!(
        data.shown(&texts.skipped[0]),
        "roc/invariance_test/roc_typos_perturb.txt: 1 line was left out (first line 3): no \
         original has this number"
    );
}

#[test]
fn lines_may_be_counted_from_one() {
    let data = Data::new("roc");
    data.add(
        "roc/invariance_test/roc_typos_perturb.txt",
        "2|||Theo sat.|||He snag.\n3|||It rained.|||We hdi.\n1|||Someone else.|||She rna.\n",
    );
    let texts = data.read(Aspect::Typo, Origin::Human).unwrap();
    assert_eq!(texts.originals[1].story, "We Hid.");
    assert_eq!((texts.originals.len(), texts.unlike_contexts), (3, 1));
}

#[test]
fn originals_of_wp_are_in_small_letters_as_their_twins_are() {
    let texts = Data::new("wp").read(Aspect::Typo, Origin::Human).unwrap();
    assert!(texts.lower_cased);
    assert_eq!(texts.originals[1].to_story().text, "mara found a key. she ran.");
}

#[test]
fn damaged_stories_have_twins_too() {
    let data = Data::new("roc");
    data.add(
        "roc/invariance_test/roc_negative_sample.txt",
        "4|||Mara found a key.|||She ran ran.|||x\nTheo sat.|||He sang sang.\n",
    );
    data.add(
        "roc/invariance_test/roc_negative_sample_typos_perturb.txt",
        "1|||Theo sat.|||He snag sang.\n1|||Theo sat.|||He sangg sang.\n0|||Mara found a key.|||R.\n",
    );
    let texts = data.read(Aspect::Typo, Origin::Damaged).unwrap();
    assert_eq!(ids(&texts.originals), ["1", "1#2", "0"]);
    assert_eq!((texts.originals[1].story.as_str(), texts.renumbered), ("He sang sang.", 1));
    assert_eq!(texts.originals[2].story, "She ran ran.");
}

#[test]
fn what_is_missing_is_listed() {
    let data = Data::new("roc");
    data.add("roc/discrimination_test/roc_time_perturb.txt", "1|||a|||b\n");
    let corpus = data.corpus();
    let tests: Vec<_> = corpus.tests.iter().map(|test| (test.aspect, test.origin)).collect();
    assert_eq!(tests, [(Aspect::LexicalRepetition, Origin::Human), (Aspect::Typo, Origin::Human)]);
    assert_eq!(corpus.missing.len(), 7 + 4 + 5);
    let time = corpus.missing.iter().find(|one| one.aspect == Aspect::Time).unwrap();
    assert_eq!(
        data.shown(time),
        "time (human stories): there is no roc/discrimination_test/roc_time.txt, so \
         roc/discrimination_test/roc_time_perturb.txt is not used"
    );
}

#[test]
fn stories_of_a_part_stand_in_two_files() {
    let data = Data::new("roc");
    let (stories, skipped) = data.corpus().stories(Part::Test).unwrap();
    assert_eq!((stories.len(), skipped.len()), (3, 0));
    assert_eq!(stories[2].to_story().text, "It Rained. We Hid.");
    let error = data.shown(data.corpus().stories(Part::Train).unwrap_err());
    assert!(error.starts_with("roc/roc_train_ipt.txt: "), "{error}");
    data.add("roc/roc_test_opt.txt", "She ran.\n\n");
    let error = data.shown(data.corpus().stories(Part::Test).unwrap_err());
    assert_eq!(
        error.replace(&format!("{}/", data.folder().display()), ""),
        "roc/roc_test_opt.txt: the file ends after 2 lines, but roc/roc_test_ipt.txt has more; \
         their lines must belong together"
    );
    data.add("roc/roc_valid_ipt.txt", "A.\n\nC.\n");
    data.add("roc/roc_valid_opt.txt", "B.\nB.\n\n");
    let (stories, skipped) = data.corpus().stories(Part::Valid).unwrap();
    let reasons: Vec<_> = skipped.iter().map(|one| (one.reason, one.first)).collect();
    assert_eq!(ids(&stories), ["0"]);
    assert_eq!(reasons, [(SkipReason::BlankContext, 2), (SkipReason::BlankStory, 3)]);
}

#[test]
fn wrong_lines_are_named() {
    let data = Data::new("roc");
    let file = "roc/discrimination_test/roc_lexical_rept_perturb.txt";
    for (content, expected) in [
        (
            "1|||a|||b\nno fields\n",
            ":2: the line does not have the form `id|||context|||story|||rule`: it has 1 of these \
             4 fields",
        ),
        (
            "1|||a|||b|||c|||d\n",
            ":1: the line does not have the form `id|||context|||story|||rule`: it has 5 of these \
             4 fields",
        ),
        ("1|||a\0|||b\n", ":1: byte 6 of the line is a NUL"),
    ] {
        data.add(file, content);
        let error = data.read(Aspect::LexicalRepetition, Origin::Human).unwrap_err();
        assert!(error.starts_with(&format!("{file}{expected}")), "{error}");
    }
    data.add(file, b"1|||a|||\xff\n");
    let error = data.read(Aspect::LexicalRepetition, Origin::Human).unwrap_err();
    assert!(error.ends_with("is not UTF-8"), "{error}");
    data.add(file, "");
    assert!(data.read(Aspect::LexicalRepetition, Origin::Human).unwrap().twins.is_empty());
    let typos = "roc/invariance_test/roc_typos_perturb.txt";
    data.add(typos, "one|||a|||b\n");
    assert_eq!(
        data.read(Aspect::Typo, Origin::Human).unwrap_err(),
        format!(
            "{typos}:1: field \"id\": \"one\" is not the number of a line, which the ids of this \
             file must be"
        )
    );
    data.add(typos, "18446744073709551615|||a|||b\n99999999999999999999|||a|||b\n");
    let error = data.read(Aspect::Typo, Origin::Human).unwrap_err();
    assert!(error.starts_with(&format!("{typos}:2: field \"id\"")), "{error}");
}
