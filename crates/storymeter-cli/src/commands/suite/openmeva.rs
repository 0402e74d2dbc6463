//! `storymeter suite run` on OpenMEVA's own data.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use storymeter::suite::{OpenMeva, human_tasks};
use storymeter_core::file::StagedFolder;
use storymeter_meta::openmeva::{HumanTasks, Options};
use storymeter_meta::suite::prepare;
use storymeter_meta::view::{Sheet, text};

use super::chosen;
use super::run::{RunArgs, words};
use crate::Outcome;
use crate::args::Common;
use crate::format::{PrintFormat, emphasis};
use crate::output::{Output, failed};
use crate::progress;

/// The typed result of the tasks with people.
const HUMAN: &str = "human.json";
/// The same numbers as a table.
const HUMAN_TABLE: &str = "human.csv";

/// Scores rated stories and texts made by rule, whichever there are.
pub fn run(args: &RunArgs, data: &OpenMeva, common: &Common) -> anyhow::Result<Outcome> {
    let suites = data.suites(&chosen(&args.aspects))?;
    let mut files = data.rated.clone();
    files.extend(data.corpora.iter().map(|corpus| corpus.folder.clone()));
    let inputs = args.inputs(&files)?;
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    if !args.scores.is_empty() && !suites.is_empty() {
        bail!("--scores: OpenMEVA's texts have no ids of their own; use --metric for them");
    }
    if matches!(args.format, PrintFormat::Json | PrintFormat::Jsonl)
        && suites.len() + usize::from(!data.rated.is_empty()) > 1
    {
        bail!("--format: the data has several results; use -o, which writes a file for each");
    }
    let bar = progress::Shown::new(common);
    let scorer = args
        .computes()
        .then(|| {
            let scorer = args.scorer.scorer().seed(args.seed).build()?;
            args.scorer.refuse_unused_model(&scorer, false)?;
            anyhow::Ok(scorer)
        })
        .transpose()?;

    let mut printed = String::new();
    let (mut notes, mut folders, mut human) = (Vec::new(), Vec::new(), None);
    if !data.rated.is_empty() {
        let mut rated = match &scorer {
            Some(scorer) => data.score_rated(scorer, bar.progress())?,
            None => Vec::new(),
        };
        if !args.scores.is_empty() {
            if !rated.is_empty() {
                bail!("--scores and --metric: give one of them for rated stories");
            }
            rated.push(data.join_rated(&storymeter::read_all(&args.scores)?)?);
        }
        let options = Options {
            criterion: args.criterion.clone(),
            raters_needed: args.error_raters as usize,
            ..Options::default()
        };
        let tasks = human_tasks(&rated, &options)?;
        printed += &shown(&tasks, args)?;
        human = args.output.as_deref().map(|folder| stage(&tasks, folder, &inputs, args));
    }
    for named in suites {
        let Some(scorer) = &scorer else { break };
        let scores = named.suite.score(scorer, bar.progress())?;
        let result = scores.analyse(&named.suite, &args.options(&bar))?;
        if args.format.is_for_people() {
            let title = format!("OpenMEVA's texts of {}", named.name);
            printed += &format!("\n{}", words(std::iter::once(title), args.format));
        }
        printed += &args.printed(&result, common.quiet)?;
        notes.extend(named.notes);
        notes.extend(scores.notes);
        if let Some(folder) = &args.output {
            folders.push(prepare(&result, &folder.join(&named.name), &inputs, args.cells())?);
        }
    }
    drop(bar);
    let human = human.transpose()?;
    let mut out = Output::open(None, args.format.reader())?;
    out.write_all(printed.as_bytes())?;
    let written = out.finish();
    if !failed(&written) {
        human.map_or(Ok(Vec::new()), |staged| staged.commit(&[HUMAN.to_owned()]))?;
        for folder in folders {
            folder.commit()?;
        }
    }
    written?;
    if !common.quiet {
        crate::notes(&notes);
    }
    Ok(Outcome::Done)
}

/// The tasks with people in the format that the user wants.
fn shown(tasks: &HumanTasks, args: &RunArgs) -> anyhow::Result<String> {
    let sheets = tasks.sheets();
    let all = |sheet: &&Sheet| sheet.id == "all";
    Ok(match args.format {
        PrintFormat::Json | PrintFormat::Jsonl => {
            format!("{}\n", serde_json::to_string_pretty(tasks)?)
        }
        PrintFormat::Csv => {
            sheets.iter().find(all).map_or_else(String::new, |all| text::csv(all, args.cells()))
        }
        PrintFormat::Table | PrintFormat::Markdown | PrintFormat::Latex => {
            let sentences = tasks.conclusions().into_iter().map(|(_, sentence)| sentence);
            let sheets: Vec<&Sheet> = sheets.iter().filter(|sheet| !all(sheet)).collect();
            let tables = args.format.tables(&sheets, emphasis(false)).unwrap_or_default();
            format!("{}\n{tables}", words(sentences, args.format))
        }
    })
}

/// The files of the tasks with people, which get their names later.
fn stage(
    tasks: &HumanTasks,
    folder: &Path,
    inputs: &[&Path],
    args: &RunArgs,
) -> anyhow::Result<StagedFolder> {
    let older = [HUMAN.to_owned()];
    let mut staged = StagedFolder::new(folder)?;
    let table = tasks.sheets().into_iter().find(|sheet| sheet.id == "all");
    if let Some(table) = table {
        staged.write(HUMAN_TABLE, text::csv(&table, args.cells()).as_bytes())?;
    }
    staged.write(HUMAN, format!("{}\n", serde_json::to_string_pretty(tasks)?).as_bytes())?;
    staged.check_inputs(inputs, &older)?;
    staged.check_targets(&older)?;
    Ok(staged)
}
