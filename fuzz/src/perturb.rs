//! What `perturb` reads beside stories.

use std::sync::LazyLock;

use storymeter_core::rng::StreamId;
use storymeter_core::{Aspect, Story};
use storymeter_perturb::aspect::{Paraphrases, Triples, TwinMaker};
use storymeter_perturb::{Config, DonorSampler, Donors, Perturber, undo};
use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
use storymeter_text::tagger::Tagger;

static STORY: LazyLock<Story> = LazyLock::new(|| Story {
    id: "1".to_owned(),
    text: "Mia had an old red kite. It did not fly. She was happy. The rain fell.".to_owned(),
    ..Story::default()
});

fn perturb(donors: &Donors, lexicon: &Lexicon) {
    let config = Config::default().checked().unwrap();
    let perturber = Perturber::new(config, donors, lexicon, Tagger::embedded());
    for draw in 0..4 {
        if let Ok(sample) = perturber.perturb(&STORY, 1, StreamId::Draw { record: 0, draw }) {
            assert!(!sample.techniques.is_empty());
        }
    }
}

/// Prepared donors. Their checksum is made right, because it would keep all damage away from the
/// parser. What was read is used, written and read back.
pub fn donors(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    let start = bytes.len().min(MAGIC + 8);
    let (head, body) = bytes.split_at_mut(start);
    if let Some(sum) = head.get_mut(MAGIC..) {
        let right = body.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        sum.iter_mut().zip(right.to_le_bytes()).for_each(|(byte, right)| *byte = right);
    }
    let Ok(donors) = Donors::from_bytes(&bytes) else { return };
    perturb(&donors, Lexicon::embedded());
    let mut written = Vec::new();
    donors.write_to(&mut written).unwrap();
    assert_eq!(Donors::from_bytes(&written).unwrap().len(), donors.len());
}

/// The number of bytes at the beginning of every donor file.
const MAGIC: usize = 20;

/// A table of antonyms, alone and added to WordNet's, and the same bytes as a list of keywords.
pub fn antonyms(bytes: &[u8]) {
    static DONORS: LazyLock<Donors> =
        LazyLock::new(|| Donors::from_bytes(include_bytes!("../tiny/donors.bin")).unwrap());
    if let Ok(lexicon) = Lexicon::from_conceptnet(bytes, "fuzz") {
        for word in ["old", "happy", "have"] {
            assert!(lexicon.antonyms(word, PartOfSpeech::Adjective).iter().all(|w| !w.is_empty()));
        }
        perturb(&DONORS, &lexicon);
    }
    let _ = Lexicon::embedded().extended_with(bytes, "fuzz");
    if let Ok(lexicon) = Lexicon::embedded().with_keywords(bytes, "fuzz") {
        perturb(&DONORS, &lexicon);
    }
}

/// Tables of paraphrases and of facts, and twins of a story with whatever was accepted.
pub fn suite_tables(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (lexicon, tagger) = (Lexicon::embedded(), Tagger::embedded());
    let donors = DonorSampler::new(0, 10).finish_without_keywords();
    let story = Story::from(text);
    let mut maker = TwinMaker::new(&donors, lexicon, tagger);
    let (paraphrases, triples) = (Paraphrases::parse(text, "fuzz"), Triples::parse(text, "fuzz"));
    if let Ok(table) = &paraphrases {
        maker = maker.with_paraphrases(table);
    }
    if let Ok(table) = &triples {
        maker = maker.with_triples(table);
    }
    let open = maker.open(&story);
    for aspect in Aspect::ALL {
        if let Ok(twin) = open.twin(aspect, 1, 0) {
            assert_eq!(undo(&twin.text, &twin.edits).unwrap(), story.text);
        }
    }
}
