//! The options of all verbs that read stories.

use std::path::{Path, PathBuf};

use clap::Args;
use storymeter::input::Inputs;
use storymeter_core::read::{
    DuplicateIds, FieldNames, Format, OneText, ReadOptions, Skipped, Summary,
};
use storymeter_core::repeated::Repeated;

use crate::args::Common;

/// The stories that a verb reads, and how.
#[derive(Debug, Clone, Default, Args)]
pub struct InputArgs {
    /// Files or folders of stories, or - for standard input: JSONL, JSON, CSV, TSV, Parquet, plain
    /// text, the layouts of UNION and HANNA, and the outputs of lm-evaluation-harness, promptfoo,
    /// Inspect and other tools, compressed with gzip or Zstandard or not. The
    /// format is found from the name and the content. A .txt or .md file is one story. In a folder
    /// of folders, each folder is a system
    #[arg(required_unless_present = "text", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A story, instead of a file. The option may be given several times
    #[arg(long, value_name = "STORY", conflicts_with = "files")]
    pub text: Vec<String>,
    #[command(flatten)]
    pub read: ReadArgs,
}

/// The heading of these options in the help of a verb.
const INPUT: &str = "Options of the input";

/// How stories are read.
#[derive(Debug, Clone, Default, Args)]
pub struct ReadArgs {
    /// The format of the stories, if it is not found from the name and the content: jsonl, json,
    /// csv, tsv, text (the whole file is one story), blocks (stories separated by blank lines),
    /// lines (one story per line), union, roc, wp, hanna, mags (OpenMEVA), lm-eval, promptfoo,
    /// inspect, eq-bench, openai (batches, answers and conversations), sharegpt or parquet
    #[arg(long, value_name = "FORMAT", help_heading = INPUT)]
    pub input_format: Option<Format>,
    /// The column or field of the story, if it has none of the usual names, such as story, text and
    /// output. In JSON it may be a path, as all names may: response.body.choices.0.message.content
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    pub story_col: Option<String>,
    /// The column or field of the system. Usual names are system, model and generator
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    pub system_col: Option<String>,
    /// The column or field of the item, which the stories of several systems have in common
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    pub item_col: Option<String>,
    /// The column or field of the prompt
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    pub prompt_col: Option<String>,
    /// The column or field of the reference
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    pub reference_col: Option<String>,
    /// The column or field of the id
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    pub id_col: Option<String>,
    /// The table has one column per system: the columns whose cells look like stories. The others
    /// are named in the line about what was read
    #[arg(long, conflicts_with_all = ["story_col", "system_col"], help_heading = INPUT)]
    pub wide: bool,
    /// The columns that are the systems of a table with one column per system
    #[arg(long, value_name = "NAME,...", value_delimiter = ',',
        conflicts_with_all = ["story_col", "system_col"], help_heading = INPUT)]
    pub system_cols: Vec<String>,
    /// Make ids unique, instead of stopping at the second story of a system with the same id: 7
    /// becomes 7#2, and the next one 7#3
    #[arg(long, help_heading = INPUT)]
    pub renumber: bool,
    /// Skip bad records and report them on standard error, instead of stopping at the first one
    #[arg(long, help_heading = INPUT)]
    pub skip_bad: bool,
}

impl ReadArgs {
    /// How the input is read.
    pub fn options(&self) -> ReadOptions {
        let fields = FieldNames::default().with(|it| {
            it.story = self.story_col.clone();
            it.system = self.system_col.clone();
            it.id = self.id_col.clone();
            it.item = self.item_col.clone();
            it.prompt = self.prompt_col.clone();
            it.reference = self.reference_col.clone();
        });
        let duplicates = if self.renumber { DuplicateIds::Renumber } else { DuplicateIds::Refuse };
        ReadOptions::default().with(|it| {
            it.format = self.input_format;
            it.fields = fields;
            it.wide = self.wide;
            it.system_columns.clone_from(&self.system_cols);
            it.duplicates = duplicates;
            it.skip_bad = self.skip_bad;
        })
    }

    /// A file that is read in this way. A story without any text is a bad record.
    pub fn file(&self, path: &Path) -> Inputs {
        Inputs::new(vec![path.to_owned()], self.options())
    }
}

impl InputArgs {
    /// The inputs, read in this way.
    pub fn inputs(&self, options: ReadOptions) -> Inputs {
        if self.text.is_empty() {
            Inputs::new(self.files.clone(), options)
        } else {
            Inputs::texts(self.text.clone(), options)
        }
    }

    /// Reports what was read, unless the user typed it.
    pub fn report_read(&self, common: &Common, summary: &Summary) {
        if self.text.is_empty() {
            report_read(common, summary);
        }
    }
}

/// Reports on standard error what was read.
pub fn report_read(common: &Common, summary: &Summary) {
    if common.quiet {
        return;
    }
    let hint = match summary.one_text {
        Some(OneText::Blocks(count)) => {
            format!("; --input-format blocks reads its {count} blocks as stories")
        }
        Some(OneText::Lines(count)) => {
            format!("; --input-format lines reads its {count} lines as stories")
        }
        _ => String::new(),
    };
    crate::note(&format!("{summary}{hint}"));
}

/// Reports on standard error how many records were skipped, and why the first ones were bad.
pub fn report_skipped(common: &Common, skipped: &Skipped) {
    if skipped.count == 0 || common.quiet {
        return;
    }
    crate::note(&match skipped.count {
        1 => "1 bad record was skipped:".to_owned(),
        count => format!("{count} bad records were skipped:"),
    });
    for message in Repeated::gathered(&skipped.messages) {
        crate::note(&format!("  {message}"));
    }
    let more = skipped.count - skipped.messages.len() as u64;
    if more > 0 {
        crate::note(&format!("  and {more} more"));
    }
}
