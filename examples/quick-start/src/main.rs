//! Scores, BLEU with a signature, and agreement with ratings.
fn main() -> Result<(), storymeter::Error> {
    let scores = storymeter::score(["Ada ran. She won.", "Ada ran. A whale sang.", "Rain. Rain."])?;
    println!("{:?}", scores.values(scores.find("union")?));
    let bleu = storymeter::metric("bleu")?.corpus_score(&["a cat sat down"], &["a cat sat up now"])?;
    println!("{bleu}  {}", bleu.signature());
    let tau = storymeter::correlate(&scores, &[5.0, 2.0, 1.0])?.kendall;
    println!("tau {:.2}, n = {}", tau.value, tau.n);
    Ok(())
}
