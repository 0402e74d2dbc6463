//! Prints the entities of texts, one per line: the number of the text, the first character, the one
//! after the last, and the label. The texts come from standard input, with a zero byte between two.
//! `tools/entities_peer.py` compares the output with spaCy's entities.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::Read;

use storymeter_text::entities;

fn main() -> Result<(), Box<dyn Error>> {
    let mut texts = String::new();
    std::io::stdin().read_to_string(&mut texts)?;
    for (number, text) in texts.split('\0').enumerate() {
        for entity in entities::find(text) {
            let characters = |at: usize| text[..at].chars().count();
            let (start, end) = (characters(entity.span.start), characters(entity.span.end));
            println!("{number}\t{start}\t{end}\t{}", entity.label.as_str());
        }
    }
    Ok(())
}
