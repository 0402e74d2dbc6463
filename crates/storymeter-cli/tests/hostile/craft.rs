//! Faults whose right answer is known: the program must refuse them and name the file, or must
//! read them as they are meant.

use std::fs;
use std::path::PathBuf;

use crate::case::{Change, Expected};
use crate::draw::Draw;
use crate::formats::{
    Zstandard, deep_parquet, long_call_pickle, long_key_pickle, without_dimensions,
};
use crate::stock::Stock;

/// A command line with files that were made for it.
pub struct Crafted {
    pub class: &'static str,
    pub line: String,
    pub changes: Vec<(PathBuf, Change)>,
    pub keeps: Vec<PathBuf>,
    pub expected: Expected,
}

impl Crafted {
    fn new(class: &'static str, line: &str, expected: Expected) -> Self {
        Self { class, line: line.to_owned(), changes: Vec::new(), keeps: Vec::new(), expected }
    }

    /// A case that must be refused with a message that has the text.
    fn refused(class: &'static str, line: &str, text: &str) -> Self {
        Self::new(class, line, Expected::Refusal(vec![text.to_owned()]))
    }

    fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.changes.push((path.into(), Change::Content(content.into())));
        self
    }

    fn change(mut self, path: &str, change: Change) -> Self {
        self.changes.push((path.into(), change));
        self
    }

    /// A file of the user, which must stay as it is.
    fn foreign(mut self, path: &str) -> Self {
        self.keeps.push(path.into());
        self.file(path, "A file of the user.\n")
    }
}

type Craft = fn(&mut Draw, &Stock) -> Crafted;

/// All faults. Those that have many forms stand more than once.
pub const CRAFTED: [Craft; 24] = [
    doubled_key,
    doubled_key,
    two_lists,
    columns_by_key,
    parquet_rows,
    parquet_rows,
    parquet_rows,
    parquet_bit,
    parquet_bit,
    parquet_bit,
    deep_schema,
    tensor_without_dimensions,
    pickle_bomb,
    zstandard_bomb,
    foreign_shard,
    foreign_shard,
    damaged_scores,
    named_pipe,
    criteria_that_fold,
    repeated_ids,
    repeated_ids,
    names_of_fields,
    text_fields,
    text_fields,
];

fn text(stock: &Stock, name: &str) -> String {
    fs::read_to_string(stock.path(name)).unwrap()
}

const JSON: &str = "JSON: doubled keys, two lists, columns";

/// An object of JSONL that has a key twice, with two values.
fn doubled_key(draw: &mut Draw, stock: &Stock) -> Crafted {
    let (line, file, key) = [
        ("score stories.jsonl --metric text-length -o out.jsonl", "stories.jsonl", "story"),
        ("score stories.jsonl --metric bleu", "stories.jsonl", "reference"),
        ("score stories.jsonl --metric text-length --out-dir out", "stories.jsonl", "system"),
        ("perturb stories.jsonl -o out.jsonl", "stories.jsonl", "story"),
        ("suite make stories.jsonl -o out", "stories.jsonl", "story"),
        ("compare scores.jsonl --resamples 20", "scores.jsonl", "system"),
        ("meta table scores.jsonl --draws 5 -o out", "scores.jsonl", "id"),
        ("report scores.jsonl -o out.html", "scores.jsonl", "item"),
    ][draw.below(8)];
    let whole = text(stock, file);
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let at = draw.below(lines.len());
    let second = format!("\"{key}\": \"A value that is given twice.\"");
    // The key stands once more at the beginning or at the end of its object.
    lines[at] = match lines[at].strip_suffix('}') {
        Some(object) if draw.once_in(2) => format!("{object}, {second}}}"),
        _ => lines[at].replacen('{', &format!("{{{second}, "), 1),
    };
    let crafted = Crafted::refused(JSON, line, file).file(file, lines.join("\n") + "\n");
    // Without its header, a file of scores is read for what it says.
    crafted.change(&format!("{file}.meta.json"), Change::Remove)
}

/// An object with two lists of stories, or with two values of one key.
fn two_lists(draw: &mut Draw, _: &Stock) -> Crafted {
    let line = draw.pick(&[
        "score two.json --metric text-length -o out.jsonl",
        "perturb two.json -o out.jsonl",
        "suite make two.json -o out",
        "score two.json --metric text-length --out-dir out",
    ]);
    let record =
        |id: usize| format!("{{\"id\": \"{id}\", \"story\": \"Mira lost kite {id}. She wept.\"}}");
    let list = |id: usize| format!("[{}, {}]", record(id), record(id + 1));
    let content = match draw.below(5) {
        0 => format!("{{\"data\": {}, \"stories\": {}}}", list(1), list(3)),
        1 => format!("{{\"stories\": {}, \"data\": {}}}", list(1), list(3)),
        2 => format!("{{\"data\": {}, \"data\": {}}}", list(1), list(3)),
        3 => "{\"data\": [{\"story\": \"Mira wept.\", \"story\": \"Ana wept.\"}]}".to_owned(),
        _ => "{\"story\": {\"0\": \"Mira wept.\", \"0\": \"Ana wept.\"}}".to_owned(),
    };
    Crafted::refused(JSON, line, "two.json").file("two.json", content)
}

/// Columns as pandas writes them, whose keys stand in another order in each column.
fn columns_by_key(draw: &mut Draw, _: &Stock) -> Crafted {
    let rows = 2 + draw.below(6);
    let mut column = |value: &dyn Fn(usize) -> String| {
        let mut left: Vec<usize> = (0..rows).collect();
        let cells: Vec<String> = (0..rows)
            .map(|_| {
                let row = left.remove(draw.below(left.len()));
                format!("\"{row}\": \"{}\"", value(row))
            })
            .collect();
        format!("{{{}}}", cells.join(", "))
    };
    let content = format!(
        "{{\"story\": {}, \"system\": {}, \"id\": {}}}",
        column(&|row| ["word"].repeat(row + 1).join(" ")),
        column(&|row| format!("S{row}")),
        column(&|row| format!("i{row}")),
    );
    let cells = (0..rows).map(|row| format!("i{row},S{row},i{row},{}\n", row + 1)).collect();
    let line = "score columns.json --metric text-length --format csv";
    Crafted::new(JSON, line, Expected::Prints(cells)).file("columns.json", content)
}

const PARQUET: &str = "Parquet: row counts, bits, deep schemas";

const READ_PARQUET: &str = "score stories.parquet --metric text-length -o out.jsonl";

/// The rows of `stories.parquet`.
const ROWS: usize = 2;

/// A file of Parquet whose numbers of rows contradict each other.
fn parquet_rows(draw: &mut Draw, stock: &Stock) -> Crafted {
    let Ok(mut bytes) = fs::read(stock.path("stories.parquet")) else {
        return deep_schema(draw, stock);
    };
    // Numbers are written as twice their value. The last one counts the rows of the row group.
    let counts: Vec<usize> =
        (4..bytes.len() - 8).filter(|at| bytes[*at] == 2 * ROWS as u8).collect();
    let at = if draw.once_in(2) { counts.len() - 1 } else { draw.below(counts.len()) };
    bytes[counts[at]] = [0, 2, 6, 40, 3][draw.below(5)];
    let expected = Expected::AllRows("out.jsonl".into(), ROWS);
    Crafted::new(PARQUET, READ_PARQUET, expected).file("stories.parquet", bytes)
}

fn parquet_bit(draw: &mut Draw, stock: &Stock) -> Crafted {
    let Ok(mut bytes) = fs::read(stock.path("stories.parquet")) else {
        return deep_schema(draw, stock);
    };
    let at = draw.below(bytes.len());
    bytes[at] ^= 1 << draw.below(8);
    let expected = Expected::AllRows("out.jsonl".into(), ROWS);
    Crafted::new(PARQUET, READ_PARQUET, expected).file("stories.parquet", bytes)
}

/// A schema of Parquet that nests deeper than a stack.
fn deep_schema(draw: &mut Draw, _: &Stock) -> Crafted {
    let line = draw.pick(&[
        "score deep.parquet --metric text-length -o out.jsonl",
        "compare deep.parquet --resamples 20",
        "perturb deep.parquet -o out.jsonl",
        "meta table deep.parquet --draws 5",
    ]);
    let depth = [1000, 5000, 50_000, 200_000][draw.below(4)];
    Crafted::refused(PARQUET, line, "deep.parquet").file("deep.parquet", deep_parquet(depth))
}

const WEIGHTS: &str = "weights: tensors without dimensions, pickles that grow";

fn tensor_without_dimensions(draw: &mut Draw, stock: &Stock) -> Crafted {
    let tensor = draw.pick(&["token_embd.weight", "blk.0.attn_q.weight", "output_norm.weight"]);
    let bytes = without_dimensions(fs::read(stock.path("speaker.gguf")).unwrap(), tensor);
    let line =
        "score stories.jsonl --metric perplexity --weights perplexity=speaker.gguf -o out.csv";
    Crafted::refused(WEIGHTS, line, "speaker.gguf").file("speaker.gguf", bytes)
}

fn pickle_bomb(draw: &mut Draw, _: &Stock) -> Crafted {
    let line =
        "score stories.jsonl --metric bertscore:layer-1 --weights bertscore=encoder -o out.jsonl";
    let bytes = match draw.once_in(2) {
        true => long_key_pickle(60_000, 100_000),
        false => long_call_pickle(60_000, 160_000),
    };
    Crafted::refused(WEIGHTS, line, "pytorch_model.bin")
        .change("encoder/model.safetensors", Change::Remove)
        .file("encoder/pytorch_model.bin", bytes)
}

/// Two gigabytes of long records in a file of 75 KB. None of them has a story.
fn zstandard_bomb(draw: &mut Draw, _: &Stock) -> Crafted {
    let line = draw.pick(&[
        "score bomb.jsonl.zst --metric text-length -o out.jsonl",
        "score bomb.jsonl.zst --metric text-length --out-dir out",
        "perturb bomb.jsonl.zst -o out.jsonl",
        "perturb stories.jsonl --donors bomb.jsonl.zst -o out.jsonl",
        "suite make bomb.jsonl.zst -o out",
        "train --stories bomb.jsonl.zst --init encoder --config settings.toml --epochs 1 -o out",
    ]);
    let mut bomb = Zstandard::new();
    for _ in 0..42 {
        bomb.copied(b"{\"x\": \"");
        bomb.repeated(b'a', 400);
        bomb.copied(b"\"}\n");
    }
    Crafted::refused("Zstandard bombs", line, "bomb.jsonl.zst")
        .file("bomb.jsonl.zst", bomb.finish())
}

const SHARDS: &str = "shards: foreign files, damaged scores, pipes";

/// A file of the user that has the name of a shard or of its statistics.
fn foreign_shard(draw: &mut Draw, _: &Stock) -> Crafted {
    let more = draw.pick(&["--resume", "--shard 0/1", "--shard 0/1 --resume"]);
    let line = format!("score stories.jsonl --metric text-length --out-dir out {more}");
    let file = draw.pick(&["stories.jsonl", "stories.jsonl.stats", "stories.jsonl.meta.json"]);
    Crafted::refused(SHARDS, &line, file).foreign(&format!("out/{file}"))
}

/// A digit of a score is another one, and the file has its old size.
fn damaged_scores(draw: &mut Draw, stock: &Stock) -> Crafted {
    let mut bytes = fs::read(stock.path("shards/stories.jsonl")).unwrap();
    let digits: Vec<usize> = (2..bytes.len())
        .filter(|at| bytes[*at].is_ascii_digit() && bytes[at - 1] == b':' && bytes[at - 2] == b'"')
        .collect();
    let at = digits[draw.below(digits.len())];
    bytes[at] = if bytes[at] == b'9' { b'4' } else { bytes[at] + 1 };
    let line =
        draw.pick(&["merge shards --resamples 20 -o out.jsonl", "merge shards --resamples 20"]);
    Crafted::refused(SHARDS, line, "stories.jsonl").file("shards/stories.jsonl", bytes)
}

/// A pipe without a writer in place of a file beside the scores.
fn named_pipe(draw: &mut Draw, _: &Stock) -> Crafted {
    let refusal = |name: &str| Expected::Refusal(vec![name.to_owned()]);
    let (line, pipe, expected) = match draw.below(5) {
        0 => ("merge shards", "shards/stories.jsonl.stats", refusal("stories.jsonl.stats")),
        1 => ("merge shards -o out.jsonl", "shards/stories.jsonl.stats", refusal("jsonl.stats")),
        2 => ("model show model", "model/storymeter.json", refusal("storymeter.json")),
        3 => ("compare scores.jsonl", "scores.jsonl.meta.json", Expected::Anything),
        _ => ("meta table scores.jsonl -o out", "scores.jsonl.meta.json", Expected::Anything),
    };
    Crafted::new(SHARDS, line, expected).change(pipe, Change::Fifo)
}

/// Two criteria whose names are the same once they are names of heads.
fn criteria_that_fold(draw: &mut Draw, _: &Stock) -> Crafted {
    let (one, two) = [("plot_logic", "plot-logic"), ("plot-logic", "plot_logic")][draw.below(2)];
    let line = "train --rated rated.jsonl --init encoder --config criteria.toml -o out";
    let records = (0..12).map(|n| {
        let (first, second) = (1 + n % 5, 1 + (n * 3) % 5);
        format!(
            "{{\"id\": \"{n}\", \"story\": \"Mira lost kite {n}. It hung in the old barn.\", \
             \"human\": {{\"{one}\": {first}, \"{two}\": {second}}}}}\n"
        )
    });
    let expected = Expected::Refusal(vec![one.to_owned(), two.to_owned()]);
    Crafted::new("names: criteria, ids, fields", line, expected)
        .file("rated.jsonl", records.collect::<String>())
}

/// Scores in which every system has the same ids, beside a file that is joined by them.
fn repeated_ids(draw: &mut Draw, _: &Stock) -> Crafted {
    let systems = draw.once_in(2);
    let errors = draw.once_in(2);
    let each = || (0..3).flat_map(|s| (0..8).map(move |i| (s, i)));
    let score = |s: usize, i: usize| (s * 5 + i * 3) % 7;
    let table = each().map(|(s, i)| {
        format!(
            "{{\"id\": \"{i}\", \"system\": \"S{s}\", \"item\": \"{i}\", \
             \"scores\": {{\"bleu\": {}}}, \"human\": {{\"fun\": {}}}}}\n",
            score(s, i),
            1 + (s + i * i) % 5
        )
    });
    let system = |s: usize| match systems {
        true => format!("\"system\": \"S{s}\", "),
        false => String::new(),
    };
    let joined = each().filter(|(s, _)| systems || *s == 0).map(|(s, i)| match errors {
        true => format!("{{\"id\": \"{i}\", {}\"errors\": [\"logic\", null]}}\n", system(s)),
        false => format!("{{\"id\": \"{i}\", {}\"scores\": {{\"bleu\": {}}}}}\n", system(s), s + i),
    });
    let file = if errors { "errors.jsonl" } else { "drift.jsonl" };
    let option = if errors { "--errors" } else { "--drift" };
    let line = format!("meta table table.jsonl {option} {file} --draws 5");
    let expected = match systems {
        true => Expected::Prints(Vec::new()),
        false => Expected::Refusal(vec![file.to_owned()]),
    };
    Crafted::new("names: criteria, ids, fields", &line, expected)
        .file("table.jsonl", table.collect::<String>())
        .file(file, joined.collect::<String>())
}

/// Names of fields that one format knew and another one did not.
fn names_of_fields(draw: &mut Draw, _: &Stock) -> Crafted {
    let class = "names: criteria, ids, fields";
    let scores = |name: &str| {
        let line = |s: usize, i: usize| {
            format!(
                "{{\"id\": \"{i}\", \"{name}\": \"Gen{s}\", \"scores\": {{\"bleu\": {}}}}}\n",
                s + i
            )
        };
        (0..2)
            .flat_map(|s| (0..4).map(move |i| (s, i)))
            .map(|(s, i)| line(s, i))
            .collect::<String>()
    };
    let prints = |texts: &[&str]| Expected::Prints(texts.iter().map(ToString::to_string).collect());
    match draw.below(4) {
        0 => Crafted::new(class, "compare mine.jsonl --resamples 20", prints(&["Gen0", "Gen1"]))
            .file("mine.jsonl", scores("generator")),
        1 => Crafted::new(
            class,
            "meta table mine.jsonl --draws 5 --show systems",
            Expected::Anything,
        )
        .file("mine.jsonl", scores("generator")),
        2 => {
            let line = "score mine.csv --metric text-length --format jsonl";
            Crafted::new(class, line, prints(&["\"fun\":[4.0]"]))
                .file("mine.csv", "id,story,human.fun\n1,One two.,4\n2,Three.,3\n")
        }
        _ => {
            let line = "score mine.csv --metric text-length --format jsonl";
            Crafted::new(class, line, prints(&["\"fun\":[4.0]"]))
                .file("mine.csv", "id,story,human/fun\n1,One two.,4\n2,Three.,3\n")
        }
    }
}

/// Lines of scores whose words or flags cannot be what this program wrote.
fn text_fields(draw: &mut Draw, stock: &Stock) -> Crafted {
    let many: Vec<String> = (0..10_000).map(|number| format!("\"flag {number}\"")).collect();
    let fields = [
        "\"words\": -1".to_owned(),
        "\"words\": \"12\"".to_owned(),
        "\"words\": 1.5".to_owned(),
        "\"words\": 18446744073709551615".to_owned(),
        "\"words\": [1]".to_owned(),
        "\"flags\": \"cut\"".to_owned(),
        "\"flags\": {\"cut\": true}".to_owned(),
        "\"flags\": [1]".to_owned(),
        "\"flags\": [\"\"]".to_owned(),
        "\"flags\": [\"cut\\u001b[2J\"]".to_owned(),
        format!("\"flags\": [{}]", many.join(", ")),
        format!("\"flags\": [\"{}\"]", "x".repeat(100_000)),
    ];
    let field = &fields[draw.below(fields.len())];
    let line = [
        "compare scores.jsonl --resamples 20",
        "meta table scores.jsonl --draws 5 -o out",
        "report scores.jsonl -o out.html",
    ][draw.below(3)];
    let whole = text(stock, "scores.jsonl");
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let at = draw.below(lines.len());
    let name = if field.starts_with("\"words") { "words" } else { "flags" };
    // What the line says already would be there twice.
    let mut object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&lines[at]).unwrap();
    object.remove(name);
    let object = serde_json::Value::Object(object).to_string();
    lines[at] = object.replacen('{', &format!("{{{field}, "), 1);
    let crafted = Crafted::refused("text fields: words and flags", line, "scores.jsonl");
    let crafted = crafted.file("scores.jsonl", lines.join("\n") + "\n");
    crafted.change("scores.jsonl.meta.json", Change::Remove)
}
