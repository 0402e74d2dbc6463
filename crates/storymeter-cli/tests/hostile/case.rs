//! A case: a command line, the files that it reads, and what is wrong with them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::craft::{CRAFTED, Crafted};
use crate::draw::Draw;
use crate::lines::LINES;
use crate::mutate::{TEXTS, mutate};
use crate::options::{OPTIONS, VALUES};
use crate::stock::{Stock, class_of};

/// Lines that only odd values of options can upset, or that are worth less often.
const RARE: [&str; 8] = [
    "model average model model -o out",
    "model pull tiny --from shop",
    "model list",
    "model list --format json",
    "metrics",
    "metrics show bleu",
    "completions bash",
    "score stories.jsonl",
];

/// The flags whose values are outputs.
const OUTPUTS: [&str; 6] = ["-o", "--output", "--out-dir", "--save-donors", "--log", "--figures"];

/// Where standard output goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stdout {
    Kept,
    Full,
    Closed,
}

/// What a case must lead to, beside what all cases promise.
pub enum Expected {
    Anything,
    /// The program succeeds and prints these texts.
    Prints(Vec<String>),
    /// Exit code 2, and a message that has these texts.
    Refusal(Vec<String>),
    /// Exit code 2, or an output with so many lines.
    AllRows(PathBuf, usize),
}

/// What is done to a path of the folder after the files were copied.
pub enum Change {
    Content(Vec<u8>),
    /// A file with permissions.
    Mode(&'static str, u32),
    Remove,
    Folder,
    /// A symbolic link to something else.
    Link(PathBuf),
    /// A symbolic link to the file itself, which has another name now.
    Rename,
    HardLink(PathBuf),
    /// A named pipe that nobody writes to.
    Fifo,
}

/// A command line with its files, before it is run.
pub struct Case {
    pub class: &'static str,
    args: Vec<OsString>,
    /// Names of the stock that are copied into the folder.
    inputs: Vec<String>,
    pub stdin: Option<String>,
    pub stdout: Stdout,
    changes: Vec<(PathBuf, Change)>,
    /// Paths that the run may write to, with all that is below them.
    pub outputs: Vec<PathBuf>,
    /// Files of the user that must stay as they are, although they stand where outputs go.
    pub keeps: Vec<PathBuf>,
    pub expected: Expected,
}

impl Case {
    pub fn new(seed: u64, number: u64, stock: &Stock) -> Self {
        // The first cases are the lines themselves, so that all of them are known to work.
        let mut lines = LINES.iter().chain(&RARE);
        if let Some(line) = lines.nth(usize::try_from(number).unwrap_or(usize::MAX)) {
            return Self::parse(line, stock);
        }
        let mut draw = Draw::new(seed, number);
        if draw.once_in(5) {
            return Self::craft(CRAFTED[draw.below(CRAFTED.len())](&mut draw, stock), stock);
        }
        let line = if draw.once_in(20) { draw.pick(&RARE) } else { draw.pick(&LINES) };
        let mut case = Self::parse(line, stock);
        if ["score", "perturb"].contains(&case.verb()) && draw.once_in(4) {
            case.args.push("--skip-bad".into());
        }
        for trouble in 0..1 + draw.below(6) / 4 + draw.below(10) / 9 {
            let class = match draw.below(20) {
                0..13 => case.spoil_content(&mut draw, stock),
                13..15 => case.spoil_input(&mut draw, stock),
                15..17 => case.spoil_output(&mut draw),
                _ => case.spoil_option(&mut draw),
            };
            if trouble == 0 {
                case.class = class;
            }
        }
        case
    }

    /// The case in which nothing is wrong.
    fn parse(line: &str, stock: &Stock) -> Self {
        let (line, stdin) = match line.split_once(" < ") {
            Some((line, file)) => (line, Some(file.to_owned())),
            None => (line, None),
        };
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        // The first word is the verb, and one of them is called like a folder of the stock.
        let words = line.split([' ', '=', '#']).skip(1).chain(stdin.as_deref());
        let mut inputs: Vec<String> = Vec::new();
        let names = stock.names();
        for word in words {
            let top = word.split('/').next().unwrap_or_default();
            for name in [top.to_owned(), format!("{top}.meta.json")] {
                if names.contains(&name) && !inputs.contains(&name) {
                    inputs.push(name);
                }
            }
        }
        let outputs = match line.split_once(" shop") {
            Some(("model manifest", _)) => vec!["shop/manifest.json".into()],
            Some(_) => vec!["installed".into()],
            None => Vec::new(),
        };
        let (class, stdout, changes) = (NOTHING_WRONG, Stdout::Kept, Vec::new());
        let (keeps, expected) = (Vec::new(), Expected::Anything);
        Self { class, args, inputs, stdin, stdout, changes, outputs, keeps, expected }
    }

    /// The case of a fault whose right answer is known.
    fn craft(crafted: Crafted, stock: &Stock) -> Self {
        let Crafted { class, line, changes, keeps, expected } = crafted;
        Self { class, changes, keeps, expected, ..Self::parse(&line, stock) }
    }

    /// The arguments, and what the shell would need to run them.
    pub fn args(&self) -> &[OsString] {
        &self.args
    }

    /// The command line and what is wrong with its files, for people.
    pub fn line(&self) -> String {
        let words: Vec<String> = self
            .args
            .iter()
            .map(|word| {
                let word = word.to_string_lossy();
                let word: String = word.chars().take(60).collect();
                let plain = |c: char| c.is_ascii_graphic() && !"'\"\\$`*<>|&;()#".contains(c);
                if !word.is_empty() && word.chars().all(plain) { word } else { format!("{word:?}") }
            })
            .collect();
        let from = self.stdin.as_ref().map(|file| format!(" < {file}")).unwrap_or_default();
        let to = match self.stdout {
            Stdout::Kept => "",
            Stdout::Full => " > /dev/full",
            Stdout::Closed => " >&-",
        };
        let changes = self.changes.iter().map(|(path, change)| {
            let what = match change {
                Change::Content(bytes) => format!("is spoilt ({} bytes)", bytes.len()),
                Change::Mode(_, mode) => format!("has permissions {mode:o}"),
                Change::Remove => "is missing".to_owned(),
                Change::Folder => "is a folder".to_owned(),
                Change::Link(target) => format!("links to {}", target.display()),
                Change::Rename => "is a link to the file".to_owned(),
                Change::HardLink(target) => format!("is also called {}", target.display()),
                Change::Fifo => "is a named pipe".to_owned(),
            };
            format!("; {} {what}", path.display())
        });
        format!("storymeter {}{from}{to}{}", words.join(" "), changes.collect::<String>())
    }

    pub fn verb(&self) -> &str {
        self.args.first().and_then(|verb| verb.to_str()).unwrap_or_default()
    }

    pub fn has(&self, argument: &str) -> bool {
        self.args.iter().any(|word| {
            word == argument
                || word.to_str().is_some_and(|word| {
                    word.strip_prefix(argument).is_some_and(|rest| rest.starts_with('='))
                })
        })
    }

    /// The values of the flags that name outputs.
    pub fn named_outputs(&self) -> impl Iterator<Item = &OsStr> {
        let separate =
            self.args.windows(2).filter(|two| OUTPUTS.iter().any(|flag| two[0] == *flag));
        let joined = self.args.iter().filter_map(|word| {
            let word = word.as_bytes();
            let value = OUTPUTS
                .iter()
                .find_map(|flag| word.strip_prefix(flag.as_bytes())?.strip_prefix(b"="));
            value.map(OsStr::from_bytes)
        });
        separate.map(|two| two[1].as_os_str()).chain(joined)
    }

    /// Whether a file is one of corpus statistics. It is complete before anything is scored, and
    /// stays if that fails.
    pub fn gathers(&self, path: &Path) -> bool {
        self.args.windows(2).any(|two| two[0] == "--corpus-stats" && Path::new(&two[1]) == path)
    }

    /// Whether standard output is for people, not for programs.
    pub fn prints_for_people(&self) -> bool {
        let samples = self.verb() == "perturb" && !self.has("--show") && !self.has("--stats");
        let programs = self.has("--format") || self.has("--json") || self.verb() == "completions";
        let output = self.named_outputs().any(|output| output == "-" || output == "/dev/stdout");
        !samples && !programs && !output
    }

    /// Makes the folder of the case.
    pub fn set_up(&self, folder: &Path, stock: &Stock) {
        for name in &self.inputs {
            copy(&stock.path(name), &folder.join(name));
        }
        for (path, change) in &self.changes {
            // A case may name any path of the machine, but it changes files of its own folder only.
            let mut parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
            let inside = |part| matches!(part, Component::Normal(_));
            if !parts.next().is_some_and(inside) || !parts.all(inside) {
                continue;
            }
            let path = folder.join(path);
            if !matches!(change, Change::Rename) {
                let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            }
            if let Some(parent) = path.parent() {
                let _ = fs::create_dir_all(parent);
            }
            // A change may not fit to an earlier one. Then the earlier one stands.
            let _ = match change {
                Change::Content(bytes) => fs::write(&path, bytes),
                Change::Mode(content, mode) => {
                    use std::os::unix::fs::PermissionsExt as _;
                    let permissions = fs::Permissions::from_mode(*mode);
                    fs::write(&path, content).and_then(|()| fs::set_permissions(&path, permissions))
                }
                Change::Remove => Ok(()),
                Change::Folder => fs::create_dir_all(&path)
                    .and_then(|()| fs::write(path.join(KEPT), "A file of the user.\n")),
                Change::Link(target) => symlink(target, &path),
                Change::Rename => {
                    let real = path.with_extension("real");
                    let target = PathBuf::from(real.file_name().unwrap_or_default());
                    fs::rename(&path, &real).and_then(|()| symlink(target, &path))
                }
                Change::HardLink(target) => fs::hard_link(folder.join(target), &path),
                Change::Fifo => Command::new("mkfifo").arg(&path).status().map(drop),
            };
        }
    }

    /// One of the files that are read, relative to the folder.
    fn some_file(&self, draw: &mut Draw, stock: &Stock) -> Option<PathBuf> {
        let mut files = Vec::new();
        let name = self.inputs.get(draw.below(self.inputs.len()))?;
        collect(&stock.path(name), Path::new(name), &mut files);
        files.get(draw.below(files.len())).cloned()
    }

    fn spoil_content(&mut self, draw: &mut Draw, stock: &Stock) -> &'static str {
        let Some(file) = self.some_file(draw, stock) else { return self.spoil_option(draw) };
        let read = |file: &Path| fs::read(stock.path(&file.to_string_lossy())).unwrap_or_default();
        let mut all = Vec::new();
        stock.names().iter().for_each(|name| collect(&stock.path(name), name.as_ref(), &mut all));
        let other = if draw.once_in(3) { file.clone() } else { all[draw.below(all.len())].clone() };
        let class = class_of(&file);
        let content = match draw.below(25) {
            0 => read(&other),
            _ => mutate(read(&file), draw, &read(&other)),
        };
        self.changes.push((file, Change::Content(content)));
        class
    }

    /// Puts something else than an ordinary file where a file is read.
    fn spoil_input(&mut self, draw: &mut Draw, stock: &Stock) -> &'static str {
        let Some(file) = self.some_file(draw, stock) else { return self.spoil_option(draw) };
        // A pipe without an end is read until the disk is full, and who skips bad records waits
        // for the next one.
        let endless = self.stdin.as_deref() == file.to_str() || self.has("--skip-bad");
        let change = match draw.below(9) {
            3 | 4 if endless => Change::Remove,
            0 => Change::Remove,
            1 => Change::Folder,
            2 => Change::Link("/dev/null".into()),
            3 => Change::Link("/dev/zero".into()),
            4 => Change::Link("/dev/full".into()),
            5 => Change::Link("nowhere".into()),
            6 => Change::Link(file.file_name().map(PathBuf::from).unwrap_or_default()),
            7 => Change::Rename,
            _ => Change::Mode("", 0o644),
        };
        self.changes.push((file, change));
        "inputs that are no ordinary files"
    }

    fn spoil_output(&mut self, draw: &mut Draw) -> &'static str {
        let class = "outputs: links, folders, devices, old files";
        let flag = |word: &OsString| OUTPUTS.iter().any(|flag| word == flag);
        let at: Vec<usize> = (1..self.args.len()).filter(|at| flag(&self.args[at - 1])).collect();
        let Some(at) = at.get(draw.below(at.len())).copied() else {
            // These write a file, and then only say so.
            if !self.outputs.is_empty() {
                return self.spoil_option(draw);
            }
            self.stdout = if draw.once_in(2) { Stdout::Full } else { Stdout::Closed };
            return class;
        };
        let out = PathBuf::from(&self.args[at]);
        let input = self.inputs.first().cloned().unwrap_or_default();
        // New files may be written into a folder that is also read.
        let file = input.contains('.');
        let change = match draw.below(15) {
            0 => Some(Change::Mode("old\n", 0o600)),
            1 => Some(Change::Mode("old\n", 0o444)),
            2 => Some(Change::Folder),
            3 => Some(Change::Link("elsewhere".into())),
            4 => Some(Change::Link(out.clone())),
            5 if file => Some(Change::Link(input.clone().into())),
            6 if file => Some(Change::HardLink(input.clone().into())),
            _ => None,
        };
        match change {
            Some(change) => {
                // A dangling link leads to a new file.
                self.outputs.extend(["elsewhere".into(), "elsewhere.meta.json".into()]);
                self.changes.push((out, change));
            }
            None => {
                let values =
                    [&input, "/dev/null", "/dev/full", "nowhere/out", "", "/dev/stdout", "-"];
                self.args[at] = draw.pick(&values).into();
            }
        }
        class
    }

    fn spoil_option(&mut self, draw: &mut Draw) -> &'static str {
        let verb = self.verb().to_owned();
        let options =
            OPTIONS.iter().find(|(name, _)| *name == verb).map_or(&[][..], |(_, all)| all);
        let value: OsString = match draw.below(12) {
            0..6 => draw.pick(&VALUES).into(),
            6..9 => draw.pick(&TEXTS).replace('\0', "").into(),
            9 => "x".repeat(5000).into(),
            10 => OsString::from_vec(b"\xff\xfeout".to_vec()),
            _ => self.inputs.first().cloned().unwrap_or_default().into(),
        };
        let given: Vec<usize> = (2..self.args.len()).collect();
        if draw.once_in(3) && !given.is_empty() {
            let at = given[draw.below(given.len())];
            self.args[at] = value;
        } else if let Some(option) = options.get(draw.below(options.len())) {
            if draw.once_in(2) {
                let mut joined = OsString::from(format!("{option}="));
                joined.push(value);
                self.args.push(joined);
            } else {
                self.args.extend([OsString::from(option), value]);
            }
        } else {
            self.args.push(value);
        }
        "option values"
    }
}

/// The class of the cases that must succeed.
pub const NOTHING_WRONG: &str = "nothing is wrong";

/// A file that stands in an output folder and is not ours.
pub const KEPT: &str = "keep.txt";

/// The files at and below a path.
fn collect(path: &Path, name: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(path) else { return files.push(name.to_owned()) };
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    entries.sort();
    entries.iter().for_each(|entry| collect(&path.join(entry), &name.join(entry), files));
}

fn copy(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else {
        fs::copy(from, to).unwrap();
        return;
    };
    fs::create_dir(to).unwrap();
    for entry in entries {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}
