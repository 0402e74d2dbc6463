//! Columns and fields under any name, delimiters, and tables with one column per system.

use std::sync::Arc;

use storymeter_core::read::{
    FieldNames, Format, RawRecords, ReadOptions, RowFields, RowValue, Rows, ScoreField, Summary,
    open, score_fields, scores,
};
use storymeter_core::{Catalogue, Place, Ratings, Row, Story};

use crate::folder::{Folder, error, error_with, stories};

fn summary(name: &str, content: &str, options: &ReadOptions) -> Summary {
    let folder = Folder::with(name, content);
    let mut reader = open(&[folder.path(name)], options).unwrap();
    reader.by_ref().for_each(|record| drop(record.unwrap()));
    reader.summary()
}

fn read(name: &str, content: &str, options: &ReadOptions) -> Vec<Story> {
    Folder::with(name, content).read(&[name], options).unwrap().0
}

fn named(story: &str, system: &str) -> ReadOptions {
    let fields = FieldNames::default().with(|it| {
        it.story = Some(story.into());
        it.system = Some(system.into());
    });
    ReadOptions::default().with(|it| it.fields = fields)
}

#[test]
fn usual_names_are_found_and_named() {
    for (name, content, line) in [
        (
            "a.csv",
            "prompt_id,generator,completion\n1,M,A door.\n",
            "read 1 story of 1 system from 1 file (csv); story from \"completion\", system from \
             \"generator\", item from \"prompt_id\"",
        ),
        (
            "a.jsonl",
            "{\"text\": \"A door.\"}\n{\"output\": \"A cat.\"}\n",
            "read 2 stories from 1 file (jsonl); story from \"text\" and \"output\"",
        ),
        (
            "a.jsonl",
            "{\"text\": \"no\", \"system\": \"M\", \"story\": \"A door.\", \"model\": {\"a\": 1}}\n",
            "read 1 story of 1 system from 1 file (jsonl); story from \"story\" and not \"text\", \
             system from \"system\" and not \"model\"",
        ),
        (
            "a.tsv",
            "Story\ttext\tID\nA door.\tno\t1\n",
            "read 1 story from 1 file (tsv); story from \"story\" and not \"text\"",
        ),
        ("a.jsonl", "{\"Story\": \"A door.\"}\n", "read 1 story from 1 file (jsonl)"),
        ("a.csv", "id;story\n1;A door, open.\n", "read 1 story from 1 file (csv, separated by ;)"),
        ("a.csv", "id\tstory\n1\tA.\n", "read 1 story from 1 file (csv, separated by tabs)"),
        ("a.csv", "story\nA door; open.\n", "read 1 story from 1 file (csv)"),
        ("a.tsv", "id|story\n1|A door.\n", "read 1 story from 1 file (tsv, separated by |)"),
    ] {
        assert_eq!(summary(name, content, &ReadOptions::default()).to_string(), line);
    }
}

#[test]
fn the_more_usual_name_wins_in_any_order() {
    for line in [
        r#"{"response": "no", "text": "yes", "output": 7}"#,
        r#"{"text": "yes", "output": [], "response": "no"}"#,
        r#"{"story": null, "output": "no", "text": "yes"}"#,
    ] {
        assert_eq!(stories("a.jsonl", line)[0].text, "yes", "{line}");
    }
    assert_eq!(stories("a.csv", "response,text\nno,yes\n")[0].text, "yes");
    // Five sentences are ROCStories, whatever else there is.
    let header = "text,sentence1,sentence2,sentence3,sentence4,sentence5";
    assert_eq!(stories("a.csv", format!("{header}\nno,A,B,C,D,E\n"))[0].text, "A B C D E");
}

#[test]
fn any_name_can_be_given() {
    let options = named("The Tale", "Writer");
    let content = "No;The Tale;Writer;story\n1;\"A; \"\"door\"\"\n.\";M;no\n";
    let story = &read("a.csv", content, &options)[0];
    assert_eq!((story.text.as_str(), story.system.as_deref()), ("A; \"door\"\n.", Some("M")));
    assert_eq!(
        summary("a.csv", content, &options).to_string(),
        "read 1 story of 1 system from 1 file (csv, separated by ;); story from \"The Tale\", \
         system from \"Writer\""
    );
    let lines = "{\"The Tale\": \"A door.\", \"Writer\": 7, \"story\": 3}\n";
    assert_eq!(read("a.jsonl", lines, &options)[0].system.as_deref(), Some("7"));
    // The names also help to recognise a table whose name says nothing.
    assert_eq!(read("tales", content, &options).len(), 1);
}

#[test]
fn a_name_that_is_not_there_is_an_error_that_lists_what_is() {
    let options = named("Tale", "Writer");
    assert_eq!(
        error_with("a.csv", "No,Tales,Writer\n1,x,M\n", &options),
        "a.csv:1: there is no column \"Tale\"; did you mean \"Tales\"? The columns are: No, Tales, \
         Writer"
    );
    assert_eq!(
        error_with("a.jsonl", "{\"Tale\": \"x\"}\n", &options),
        "a.jsonl:1: there is no field \"Writer\"; the fields are: Tale"
    );
    assert_eq!(
        error_with("a.csv", "Tale\nx\n", &named("Tale", "Tale")),
        "a.csv:1: field \"Tale\": the column is asked for twice"
    );
}

#[test]
fn a_wide_table_has_one_story_per_system_and_row() {
    let options = options_of_wide();
    let content = "prompt,gpt2,llama,reference\nA door.,\"It, opened.\",It fell.,It shut.\n\
                   A cat.,It came.,It left.,It sat.\n";
    let stories = read("a.csv", content, &options);
    let seen: Vec<_> = stories
        .iter()
        .map(|story| (story.id.as_str(), story.system.as_deref().unwrap(), story.text.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("0", "gpt2", "It, opened."),
            ("0", "llama", "It fell."),
            ("1", "gpt2", "It came."),
            ("1", "llama", "It left."),
        ]
    );
    assert_eq!((stories[3].item(), stories[3].prompt.as_deref()), ("1", Some("A cat.")));
    assert_eq!(stories[3].references, ["It sat."]);
    let line = summary("a.csv", content, &options).to_string();
    assert_eq!(line, "read 4 stories of 2 systems from 1 file (csv)");
    // The column of ids may have any name, and pandas adds one without a name.
    let fields = FieldNames::default().with(|it| it.id = Some("key".into()));
    let options = ReadOptions::default().with(|it| {
        it.fields = fields;
        it.wide = true;
    });
    let stories = read("a.tsv", "\tkey\tgpt2\tstory\n0\tk7\tA door.\tA cat.\n", &options);
    assert_eq!((stories[1].id.as_str(), stories[1].system.as_deref()), ("k7", Some("story")));
    assert_eq!(stories.len(), 2);
    // Ratings are no stories.
    let content = "id,gpt2,human.plot,human/fun\n7,A door.,4,5\n";
    let stories = read("a.csv", content, &options_of_wide());
    assert_eq!((stories.len(), stories[0].system.as_deref()), (1, Some("gpt2")));
}

fn options_of_wide() -> ReadOptions {
    ReadOptions::default().with(|it| it.wide = true)
}

#[test]
fn a_wide_table_must_be_a_table_with_systems() {
    let options = ReadOptions::default().with(|it| it.wide = true);
    assert_eq!(
        error_with("a.csv", "id,prompt\n1,A door.\n", &options),
        "a.csv:1: no column has the name of a system; the columns are: id, prompt"
    );
    assert_eq!(
        error_with("a.csv", "id,gpt2,gpt2\n1,x,y\n", &options),
        "a.csv:1: field \"gpt2\": columns 2 and 3 have the same name; keep one of them"
    );
    assert_eq!(
        error_with("a.jsonl", "{\"gpt2\": \"x\"}\n", &options),
        "a.jsonl: one column per system is read from CSV and TSV, but the format of this is jsonl"
    );
    let many: Vec<String> = (0..1001).map(|n| format!("s{n}")).collect();
    let message = error_with("a.csv", many.join(",") + "\n", &options);
    assert_eq!(message, "a.csv:1: the table has 1001 systems, but at most 1000 are read");
}

#[test]
fn prose_is_not_taken_for_a_table() {
    for text in [
        "He gave her no answer, text, call or letter.\n",
        "Text, she thought; a text.\nNo.\n",
        "\"Story, please,\" said Mo.\n",
    ] {
        assert_eq!(Format::detect(std::path::Path::new("-"), text.as_bytes()), Some(Format::Text));
    }
}

#[test]
fn columns_of_ratings_stand_beside_the_story_in_every_format() {
    let options = ReadOptions::default();
    for (name, content) in [
        ("a.csv", "story,human.plot,human/fun,mood\nRain fell.,3,,sad\nSnow fell.,4.5,2,NA\n"),
        ("a.csv", "story;Human.plot;human/fun\nRain fell.;3;NA\nSnow fell.;4,5;2\n"),
        ("a.tsv", "story\thuman.plot\thuman:fun\nRain fell.\t3\t\nSnow fell.\t4.5\t2\n"),
        (
            "a.jsonl",
            "{\"story\": \"Rain fell.\", \"human.plot\": 3, \"human/fun\": null}\n\
             {\"human/fun\": [2], \"story\": \"Snow fell.\", \"human.plot\": 4.5}\n",
        ),
        (
            "a.json",
            "{\"story\": [\"Rain fell.\", \"Snow fell.\"], \"human.plot\": [3, 4.5],\n \
             \"human/fun\": [null, 2]}",
        ),
    ] {
        let stories = read(name, content, &options);
        let rating = |story: usize, criterion: &str| stories[story].ratings.get(criterion);
        assert_eq!(rating(0, "plot"), Some(&[Some(3.0)][..]), "{content}");
        assert_eq!(rating(0, "fun"), Some(&[None][..]), "{content}");
        assert_eq!(rating(1, "plot"), Some(&[Some(4.5)][..]), "{content}");
        assert_eq!(rating(1, "fun"), Some(&[Some(2.0)][..]), "{content}");
    }
    assert_eq!(
        error("a.csv", "story,human.plot\nRain fell.,3\nSnow fell.,good\n"),
        "a.csv:3: field \"human.plot\": \"good\" is not a finite number"
    );
    assert_eq!(
        error("a.csv", "story,human.plot,human/plot\nRain fell.,3,4\n"),
        "a.csv:1: field \"human/plot\": the column \"human.plot\" has ratings on the same criterion"
    );
}

/// The ten names. Each is a field of stories, and all but the texts are known in scores.
const TEN: [&str; 10] = [
    "Text",
    "StoryID",
    "GENERATOR",
    "prompt_id",
    "Prompt",
    "References",
    "Human_plot",
    "human/fun",
    "HUMAN.style",
    "human:mood",
];
const CELLS: [[&str; 10]; 2] = [
    ["A door opened.", "a", "rain", "p", "Doors", "It shut.", "1", "2", "3", "4"],
    ["A cat came.", "b", "tale", "p", "Cats", "It fell.", "5", "4", "3", "2"],
];

fn is_number(column: usize) -> bool {
    column >= 6
}

fn lines(delimiter: &str) -> String {
    let row = |cells: &[&str; 10], union: &str| cells.join(delimiter) + delimiter + union + "\n";
    row(&TEN, "union") + &row(&CELLS[0], "0.5") + &row(&CELLS[1], "0.25")
}

fn objects() -> Vec<serde_json::Value> {
    let row = |(cells, union): (&[&str; 10], f64)| {
        let field = |at: usize| match is_number(at) {
            true => (TEN[at].to_owned(), serde_json::json!(cells[at].parse::<f64>().unwrap())),
            false => (TEN[at].to_owned(), serde_json::json!(cells[at])),
        };
        let union = ("union".to_owned(), serde_json::json!(union));
        serde_json::Value::Object((0..10).map(field).chain([union]).collect())
    };
    CELLS.iter().zip([0.5, 0.25]).map(row).collect()
}

/// The files with the ten columns and one column of scores, in every format.
fn ten_columns() -> Folder {
    let jsonl: String = objects().iter().map(|row| format!("{row}\n")).collect();
    let folder = Folder::with("a.jsonl", jsonl);
    folder.add("a.csv", lines(","));
    folder.add("a.tsv", lines("\t"));
    #[cfg(feature = "parquet")]
    parquet(&folder.path("a.parquet"));
    folder
}

const FILES: &[&str] = &[
    "a.jsonl",
    "a.csv",
    "a.tsv",
    #[cfg(feature = "parquet")]
    "a.parquet",
];

#[cfg(feature = "parquet")]
fn parquet(path: &std::path::Path) {
    use parquet::basic::{ConvertedType, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;
    let column = |(at, name): (usize, &&str)| {
        let (physical, converted) = match is_number(at) {
            true => (Physical::DOUBLE, ConvertedType::NONE),
            false => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let column = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(converted);
        Arc::new(column.build().unwrap())
    };
    let columns = TEN.iter().chain(&["union"]).enumerate().map(column).collect();
    let schema = Type::group_type_builder("any").with_fields(columns).build().unwrap().into();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for at in 0..11 {
        let mut column = group.next_column().unwrap().unwrap();
        if at == 10 {
            column.typed::<DoubleType>().write_batch(&[0.5, 0.25], None, None).unwrap();
        } else if is_number(at) {
            let numbers = CELLS.map(|row| row[at].parse::<f64>().unwrap());
            column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
        } else {
            let texts = CELLS.map(|row| ByteArray::from(row[at]));
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn the_same_ten_names_are_stories_in_every_format() {
    let folder = ten_columns();
    let expected = |[text, id, system, item, prompt, reference, ratings @ ..]: [&str; 10]| {
        let mut all = Ratings::new();
        for (criterion, rating) in ["plot", "fun", "style", "mood"].into_iter().zip(ratings) {
            all.push(criterion, rating.parse().ok());
        }
        Story {
            id: id.into(),
            system: Some(system.into()),
            item: Some(item.into()),
            prompt: Some(prompt.into()),
            text: text.into(),
            references: vec![reference.into()],
            ratings: all,
            ..Story::default()
        }
    };
    let expected = CELLS.map(expected);
    for name in FILES {
        let (stories, _) = folder.read(&[name], &ReadOptions::default()).unwrap();
        assert_eq!(stories, expected, "{name}");
    }
    // A frame, whose columns are looked up once.
    let columns: Vec<&str> = TEN.into_iter().chain(["union"]).collect();
    let fields =
        RowFields::find(&columns, &FieldNames::default(), "column", Place::file("frame")).unwrap();
    let cell = |value: &serde_json::Value| RowValue::parse(&value.to_string()).unwrap();
    let record = |row: serde_json::Value| fields.record(|at| cell(&row[columns[at]]));
    let rows: Arc<dyn Rows> = Arc::new(objects().into_iter().map(record).collect::<Vec<_>>());
    let records = RawRecords::from_rows("frame", &rows, &ReadOptions::default());
    let stories: Vec<Story> = records.map(|raw| raw.unwrap().parse().unwrap().story).collect();
    assert_eq!(stories, expected);
}

#[test]
fn the_same_ten_names_are_scores_in_every_format() {
    let folder = ten_columns();
    for name in FILES {
        let table = scores(&folder.path(name), &Catalogue::default()).unwrap();
        let row = |row: &Row| (row.id.clone(), row.system.clone(), row.item.clone());
        let rows: Vec<_> = table.rows().iter().map(row).collect();
        let expected = [("a", "rain"), ("b", "tale")];
        let expected =
            expected.map(|(id, system)| (id.to_owned(), Some(system.to_owned()), "p".to_owned()));
        assert_eq!(rows, expected, "{name}");
        for (key, values) in [
            ("union", [0.5, 0.25]),
            ("plot", [1.0, 5.0]),
            ("fun", [2.0, 4.0]),
            ("style", [3.0, 3.0]),
            ("mood", [4.0, 2.0]),
        ] {
            assert_eq!(table.column(key).unwrap().values(), values.map(Ok), "{name}: {key}");
        }
        assert_eq!(table.columns().len(), 5, "{name}");
    }
    // A frame, whose columns are looked up once.
    let named = |field| match field {
        ScoreField::Story(field) => field.names()[0].to_owned(),
        ScoreField::Ratings(criterion) => criterion,
        other => panic!("{other:?} has a name"),
    };
    let names = TEN.map(str::to_owned);
    let fields = score_fields(&names, &Place::file("frame")).unwrap().into_iter().map(named);
    let expected =
        ["story", "id", "system", "item", "prompt", "reference", "plot", "fun", "style", "mood"];
    assert!(fields.eq(expected));
}

#[test]
fn scores_without_an_id_or_an_item_have_the_same_rows_in_every_format() {
    for (csv, expected) in [
        ("system,prompt,m\nx,p,1\ny,p,2\n", ["p", "p"]),
        ("system,prompt,m\nx,p,1\nx,p,2\n", ["0", "1"]),
        ("system,m\nx,1\ny,2\n", ["0", "1"]),
    ] {
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().unwrap();
        let object = |cells: Vec<&str>| {
            let field = |(name, cell): (&&str, &str)| match cell.parse::<f64>() {
                Ok(number) => format!("\"{name}\": {number}"),
                Err(_) => format!("\"{name}\": \"{cell}\""),
            };
            let fields: Vec<String> = names.iter().zip(cells).map(field).collect();
            format!("{{{}}}\n", fields.join(", "))
        };
        let folder = Folder::with("a.jsonl", lines.map(object).collect::<String>());
        folder.add("a.csv", csv);
        for name in ["a.jsonl", "a.csv"] {
            let table = scores(&folder.path(name), &Catalogue::default()).unwrap();
            let ids: Vec<&str> = table.rows().iter().map(|row| row.id.as_str()).collect();
            assert_eq!(ids, expected, "{name}: {csv}");
        }
    }
}

#[test]
fn only_columns_that_look_like_stories_are_systems() {
    let story = |word: &str| format!("{word} {}", "walked over the hill to the sea ".repeat(4));
    let row = |n: usize| {
        let (a, b) = (story(&format!("Mara{n}")), story(&format!("Theo{n}")));
        format!("{n},k{n},A door number {n}.,{},{a},{b},sad,{n}.5,4\n", story("Write"))
    };
    let head = "id,uuid,topic,writing_prompt,atlas,birch,mood,length,human.plot\n";
    let content: String = (0..5).fold(head.to_owned(), |table, n| table + &row(n));
    let line = summary("a.csv", &content, &options_of_wide()).to_string();
    assert_eq!(
        line,
        "read 10 stories of 2 systems from 1 file (csv); left out the columns \"human.plot\" \
         (ratings), \"uuid\" (few words), \"topic\" (prompts), \"writing_prompt\" (prompts), \
         \"mood\" (few words), \"length\" (numbers)"
    );
    // Other columns can be chosen, whatever is in them.
    let chosen = |names: &[&str]| {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        ReadOptions::default().with(|it| it.system_columns = names)
    };
    let stories = read("a.csv", &content, &chosen(&["birch", "mood"]));
    let systems: Vec<_> = stories.iter().filter_map(|story| story.system.as_deref()).collect();
    assert_eq!(systems[..2], ["birch", "mood"]);
    assert_eq!((stories.len(), stories[1].text.as_str()), (10, "sad"));
    let line = summary("a.csv", &content, &chosen(&["birch"])).to_string();
    assert_eq!(line, "read 5 stories of 1 system from 1 file (csv)");
    let message = error_with("a.csv", &content, &chosen(&["beech"]));
    assert!(
        message.starts_with("a.csv:1: there is no column \"beech\"; the columns are: id, uuid")
    );
    // One text over and over is no system, and neither is a table without stories.
    let same = (0..5).fold("atlas,birch\n".to_owned(), |table, n| {
        table + &format!("{},{}\n", story(&format!("Mara{n}")), story("Follow"))
    });
    let line = summary("a.csv", &same, &options_of_wide()).to_string();
    assert!(line.ends_with("left out the column \"birch\" (repeated texts)"), "{line}");
    assert_eq!(
        error_with("a.csv", "n,mood\n1,sad\n2,glad\n", &options_of_wide()),
        "a.csv:1: no column has stories; there are: \"n\" (numbers), \"mood\" (few words)"
    );
}
