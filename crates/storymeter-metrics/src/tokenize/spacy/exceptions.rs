//! The special cases of English: contractions, abbreviations and emoticons.

use std::collections::HashMap;

/// Words that are cut in a way of their own, or left whole.
pub(super) struct Exceptions {
    /// The lengths in bytes of the tokens of each word.
    parts: HashMap<String, Box<[u8]>>,
    /// The same words, in a fixed order.
    words: Vec<String>,
    longest: usize,
}

impl Exceptions {
    pub(super) fn get(&self, word: &str) -> Option<&[u8]> {
        if word.len() > self.longest { None } else { self.parts.get(word).map(|parts| &**parts) }
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        self.get(word).is_some()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    pub(super) fn english() -> Self {
        let mut cases = Cases(Vec::new());
        cases.pronouns();
        cases.question_words();
        cases.verbs();
        cases.times();
        CUT.iter().for_each(|parts| cases.add(parts));
        WHOLE.split_whitespace().for_each(|word| cases.add(&[word]));
        EMOTICONS.split_whitespace().for_each(|word| cases.add(&[word]));
        ('a'..='z').chain(['ä', 'ö', 'ü']).for_each(|letter| cases.add(&[&format!("{letter}.")]));
        ['c', 'f', 'k', 'C', 'F', 'K']
            .iter()
            .for_each(|unit| cases.add(&["°", &unit.to_string(), "."]));
        [" ", "\t", "\n", "\u{a0}"].iter().for_each(|space| cases.add(&[space]));
        // These words only look like a contraction without its apostrophe ("ill", "were").
        cases.0.retain(|(word, _)| !NO_EXCEPTIONS.contains(&word.to_lowercase().as_str()));
        cases.0.sort();
        cases.0.dedup();
        let longest = cases.0.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
        let words = cases.0.iter().map(|(word, _)| word.clone()).collect();
        Self { parts: cases.0.into_iter().collect(), words, longest }
    }
}

struct Cases(Vec<(String, Box<[u8]>)>);

impl Cases {
    /// Adds a word given as its tokens, and the same word written with typographic apostrophes.
    fn add(&mut self, parts: &[&str]) {
        self.0.push((parts.concat(), parts.iter().map(|part| part.len() as u8).collect()));
        if parts.iter().any(|part| part.contains('\'')) {
            let curly: Vec<String> = parts.iter().map(|part| part.replace('\'', "’")).collect();
            self.0.push((curly.concat(), curly.iter().map(|part| part.len() as u8).collect()));
        }
    }

    /// Adds a word with these endings: in lower case and with a capital letter, and with and
    /// without the apostrophes.
    fn contract(&mut self, word: &str, endings: &[&[&str]]) {
        for word in [word.to_owned(), capitalised(word)] {
            for ending in endings {
                let bare: Vec<String> = ending.iter().map(|part| part.replace('\'', "")).collect();
                self.add(&[&[word.as_str()], *ending].concat());
                self.add(
                    &[&[word.as_str()][..], &bare.iter().map(String::as_str).collect::<Vec<_>>()]
                        .concat(),
                );
            }
        }
    }

    fn pronouns(&mut self) {
        for pronoun in ["i", "you", "he", "she", "it", "we", "they"] {
            self.contract(pronoun, &[&["'ll"], &["'ll", "'ve"], &["'d"], &["'d", "'ve"]]);
        }
        self.contract("i", &[&["'m"], &["'m", "a"]]);
        ["i", "you", "we", "they"].iter().for_each(|pronoun| self.contract(pronoun, &[&["'ve"]]));
        ["you", "we", "they"].iter().for_each(|pronoun| self.contract(pronoun, &[&["'re"]]));
        ["he", "she", "it"].iter().for_each(|pronoun| self.contract(pronoun, &[&["'s"]]));
    }

    fn question_words(&mut self) {
        let all = [
            "who", "what", "when", "where", "why", "how", "there", "that", "this", "these", "those",
        ];
        for word in all {
            self.contract(word, &[&["'ll"], &["'ll", "'ve"], &["'d"], &["'d", "'ve"]]);
            if !matches!(word, "these" | "those") {
                self.contract(word, &[&["'s"]]);
            }
            if !matches!(word, "that" | "this") {
                self.contract(word, &[&["'re"], &["'ve"]]);
            }
        }
    }

    fn verbs(&mut self) {
        let modal = [
            "ca", "could", "do", "does", "did", "had", "may", "might", "must", "need", "ought",
            "sha", "should", "wo", "would",
        ];
        modal.iter().for_each(|verb| self.contract(verb, &[&["n't"], &["n't", "'ve"]]));
        for verb in ["could", "might", "must", "should", "would"] {
            self.contract(verb, &[&["'ve"]]);
        }
        for verb in ["ai", "are", "is", "was", "were", "have", "has", "dare"] {
            self.contract(verb, &[&["n't"]]);
        }
    }

    fn times(&mut self) {
        for hour in 1..=12 {
            for period in ["a.m.", "am", "p.m.", "pm"] {
                self.add(&[&hour.to_string(), period]);
            }
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Words that are not contractions, although they look like some.
const NO_EXCEPTIONS: [&str; 8] = ["ill", "its", "hell", "shell", "shed", "were", "well", "whore"];

/// Words that are cut in a way of their own.
const CUT: [&[&str]; 18] = [
    &["y'", "all"],
    &["y", "all"],
    &["how", "'d", "'y"],
    &["How", "'d", "'y"],
    &["not", "'ve"],
    &["not", "ve"],
    &["Not", "'ve"],
    &["Not", "ve"],
    &["can", "not"],
    &["Can", "not"],
    &["gon", "na"],
    &["Gon", "na"],
    &["got", "ta"],
    &["Got", "ta"],
    &["let", "'s"],
    &["Let", "'s"],
    &["c'm", "on"],
    &["C'm", "on"],
];

/// Words that are left whole.
const WHOLE: &str = r#"
    doin doin' Doin Doin' goin goin' Goin Goin' nothin nothin' Nothin Nothin' nuthin nuthin' Nuthin
    Nuthin' ol ol' Ol Ol' somethin somethin' Somethin Somethin' lovin lovin' Lovin Lovin' havin
    havin' Havin Havin' em 'em ll 'll nuff 'nuff 's 'S ‘s ‘S 're 'd 'cause 'Cause 'cos 'Cos 'coz
    'Coz 'cuz 'Cuz 'bout ma'am Ma'am o'clock O'clock and/or w/o Mt. Ak. Ala. Apr. Ariz. Ark. Aug.
    Calif. Colo. Conn. Dec. Del. Feb. Fla. Ga. Ia. Id. Ill. Ind. Jan. Jul. Jun. Kan. Kans. Ky. La.
    Mar. Mass. Mich. Minn. Miss. N.C. N.D. N.H. N.J. N.M. N.Y. Neb. Nebr. Nev. Nov. Oct. Okla. Ore.
    Pa. S.C. Sep. Sept. Tenn. Va. Wash. Wis. a.m. p.m. Adm. Bros. co. Co. Corp. D.C. Dr. e.g. E.g.
    E.G. Gen. Gov. i.e. I.e. I.E. Inc. Jr. Ltd. Md. Messrs. Mo. Mont. Mr. Mrs. Ms. Ph.D. Prof. Rep.
    Rev. Sen. St. vs. v.s. C++ ' '' \") <space> — \t \n
"#;

/// Emoticons, which are left whole.
const EMOTICONS: &str = r"
    :) :-) :)) :-)) :))) :-))) (: (-: =) (= :] :-] [: [-: [= =] :o) (o: :} :-} 8) 8-) (-8 ;) ;-) (;
    (-; :( :-( :(( :-(( :((( :-((( ): )-: =( >:( :') :'-) :'( :'-( :/ :-/ =/ =| :| :-| ]= =[ :1 :P
    :-P :p :-p :O :-O :o :-o :0 :-0 :() >:o :* :-* :3 :-3 =3 :> :-> :X :-X :x :-x :D :-D ;D ;-D =D
    xD XD xDD XDD 8D 8-D ^_^ ^__^ ^___^ >.< >.> <.< ._. ;_; -_- -__- v.v V.V v_v V_V o_o o_O O_o O_O
    0_o o_0 0_0 o.O O.o O.O o.o 0.0 o.0 0.o @_@ <3 <33 <333 </3 (^_^) (-_-) (._.) (>_<) (*_*) (¬_¬)
    ಠ_ಠ ಠ︵ಠ (ಠ_ಠ) ¯\(ツ)/¯ (╯°□°）╯︵┻━┻ ><(((*>
";
