fn main() -> Result<(), storymeter::Error> {
    let scores = storymeter::score(["Ada ran. She won.", "Ada ran. A whale sang.", "Rain. Rain."])?;
    println!("{:?}", scores.column("union")?.values());
    let bleu = storymeter::metric("bleu")?;
    let bleu = bleu.corpus_score(&["the cat sat on the mat"], &["the cat sat on a mat"])?;
    println!("{bleu}  {}", bleu.signature());
    let tau = storymeter::correlate(&scores, &[5.0, 2.0, 1.0])?.kendall;
    println!("tau {:.2}, n = {}", tau.value, tau.n);
    Ok(())
}
