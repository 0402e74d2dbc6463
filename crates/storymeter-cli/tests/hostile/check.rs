//! Runs a case and checks what it promised.
//!
//! Whatever the input is, the program ends in time with exit code 0, 1 or 2 and without a panic or
//! a signal. It changes nothing but its outputs, leaves no temporary file, and sends no control
//! characters to people. After exit code 2 there is a message of a bounded length, and the folder
//! is as it was before. Everything is the same with one thread and with three. Faults that were
//! made for a purpose (`craft.rs`) have a known answer: a refusal that names the file, or a result.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::case::{Case, Expected, KEPT, NOTHING_WRONG, Stdout};
use crate::stock::{Stock, program};

/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// The address space of a run in KiB. The program itself needs about 1 GB of addresses.
const ADDRESSES: u32 = 3_000_000;

/// The largest file that a run may write, in blocks of 512 bytes.
const FILE_SIZE: u32 = 400_000;

/// A message of this many bytes is too long.
const LONGEST_MESSAGE: usize = 5000;

/// How a case ended.
pub struct CaseResult {
    pub code: Option<i32>,
    /// The kinds of faults, with details.
    pub faults: Vec<(&'static str, String)>,
    pub transcript: String,
}

/// Something in a folder.
#[derive(PartialEq, Eq)]
enum Entry {
    Folder,
    File { mode: u32, content: Vec<u8> },
    Link(PathBuf),
    Other,
}

type Snapshot = BTreeMap<PathBuf, Entry>;

/// One run with one number of threads.
struct Run {
    status: Option<ExitStatus>,
    stdout: Vec<u8>,
    stderr: String,
    before: Snapshot,
    after: Snapshot,
    /// What is left in the folder for temporary files.
    temporary: Snapshot,
}

/// Runs a case with one thread and with three. With `keep`, its folder stays.
pub fn run(case: &Case, stock: &Stock, keep: bool) -> CaseResult {
    let mut root = tempfile::tempdir().unwrap();
    root.disable_cleanup(keep);
    let one = start(case, stock, &root.path().join("1"), "1");
    let three = start(case, stock, &root.path().join("3"), "3");
    let mut faults = Vec::new();
    for run in [&one, &three] {
        judge(case, run, &mut faults);
        if !faults.is_empty() {
            break;
        }
    }
    compare(case, &one, &three, &mut faults);
    let transcript = format!(
        "$ cd {}\n$ {}\n{}{}exit code {:?}\n{faults:#?}",
        root.path().join("1/folder").display(),
        case.line(),
        String::from_utf8_lossy(&one.stdout),
        one.stderr,
        one.status.and_then(|status| status.code()),
    );
    CaseResult { code: one.status.and_then(|status| status.code()), faults, transcript }
}

fn start(case: &Case, stock: &Stock, root: &Path, threads: &str) -> Run {
    let (folder, temporary) = (root.join("folder"), root.join("temporary"));
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(&temporary).unwrap();
    case.set_up(&folder, stock);
    let before = snapshot(&folder);
    let redirected = match case.stdout {
        Stdout::Kept => "",
        Stdout::Full => " > /dev/full",
        Stdout::Closed => " >&-",
    };
    let piped = case.stdin.as_ref().map_or("< /dev/null", |_| "< \"$INPUT\"");
    let limits = format!("ulimit -v {ADDRESSES}; ulimit -f {FILE_SIZE}");
    // `cat` makes a pipe of the file. The exit code is that of the program.
    let script = match case.stdin {
        Some(_) => format!("cat {piped} | ({limits}; exec \"$0\" \"$@\"){redirected}"),
        None => format!("{limits}; exec \"$0\" \"$@\" {piped}{redirected}"),
    };
    let (stdout, stderr) = (root.join("stdout"), root.join("stderr"));
    let mut child = Command::new("sh")
        .args([OsStr::new("-c"), OsStr::new(&script), program().as_os_str()])
        .args(["--threads", threads])
        .args(case.args())
        .current_dir(&folder)
        .env("INPUT", case.stdin.as_deref().unwrap_or_default())
        .env("NO_COLOR", "1")
        .env("TMPDIR", &temporary)
        .env("HOME", &temporary)
        .env("STORYMETER_MODELS", "installed")
        .env_remove("STORYMETER_MODEL_SOURCE")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(File::create(&stdout).unwrap())
        .stderr(File::create(&stderr).unwrap())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if began.elapsed() > LIMIT {
            let _ =
                Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    // A message about weights names folders of the user, which are others in every run, and so does
    // one about a link.
    let said = String::from_utf8_lossy(&fs::read(stderr).unwrap()).into_owned();
    let said = said.replace(&folder.display().to_string(), "FOLDER");
    Run {
        status,
        stdout: fs::read(stdout).unwrap(),
        stderr: said.replace(&temporary.display().to_string(), "HOME"),
        before,
        after: snapshot(&folder),
        temporary: snapshot(&temporary),
    }
}

/// Everything at and below a folder.
fn snapshot(folder: &Path) -> Snapshot {
    fn walk(folder: &Path, name: &Path, all: &mut Snapshot) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), name.join(entry.file_name()));
            let data = path.symlink_metadata().unwrap();
            let found = if data.is_symlink() {
                Entry::Link(path.read_link().unwrap())
            } else if data.is_dir() {
                walk(&path, &name, all);
                Entry::Folder
            } else if data.is_file() {
                let mode = data.permissions().mode() & 0o777;
                Entry::File { mode, content: fs::read(&path).unwrap() }
            } else {
                Entry::Other
            };
            all.insert(name, found);
        }
    }
    let mut all = Snapshot::new();
    walk(folder, Path::new(""), &mut all);
    all
}

/// Checks one run.
fn judge(case: &Case, run: &Run, faults: &mut Vec<(&'static str, String)>) {
    let mut fault = |kind, detail: &dyn std::fmt::Display| faults.push((kind, detail.to_string()));
    let Some(status) = run.status else { return fault("hang", &"it did not end in time") };
    let said = excerpt(&run.stderr);
    if run.stderr.contains("panicked at") {
        fault("panic", &said);
    }
    // The shell of a pipe reports a signal as 128 and its number.
    let code = match (status.code(), status.signal()) {
        (Some(code @ 0..=127), _) => code,
        (code, signal) => {
            return fault("signal", &format!("{code:?} {signal:?} {said}"));
        }
    };
    match code {
        0 | 2 => {}
        1 if case.has("--fail-under") => {}
        _ => fault("exit code", &format!("{code} {said}")),
    }
    // A program without the features `parquet` and `zstd` refuses these formats.
    let optional = ["parquet", ".zst"].iter().any(|format| case.line().contains(format));
    if case.class == NOTHING_WRONG && code != 0 && !optional {
        fault("refused, but nothing is wrong", &said);
    }
    if code == 2 && run.stderr.trim().is_empty() {
        fault("no message", &"exit code 2 and an empty standard error");
    }
    if run.stderr.len() > LONGEST_MESSAGE && !case.has("--skip-bad") {
        fault("long message", &format!("{} bytes: {said}", run.stderr.len()));
    }
    if let Some(c) = obeyed(&run.stderr) {
        fault("control characters in a message", &format!("{c:?} in {said}"));
    }
    let printed = String::from_utf8_lossy(&run.stdout);
    match obeyed(&printed) {
        Some(c) if case.prints_for_people() => {
            let line = printed.lines().find(|line| line.contains(c)).unwrap_or_default();
            fault("control characters in a table", &format!("{c:?} in {}", excerpt(line)));
        }
        _ => {}
    }
    for (path, entry) in &run.after {
        if is_temporary(path) && !run.before.contains_key(path) {
            fault("temporary left", &path.display());
        }
        if let (Entry::File { content, .. }, Some("txt")) =
            (entry, path.extension().and_then(|ending| ending.to_str()))
            && let Some(c) = obeyed(&String::from_utf8_lossy(content))
            && !run.before.contains_key(path)
            // A model has the vocabulary of its encoder as it is.
            && !path.ends_with("vocab.txt")
        {
            fault("control characters in a table", &format!("{c:?} in {}", path.display()));
        }
    }
    if let Some(path) = run.temporary.keys().next() {
        fault("temporary left", &Path::new("$TMPDIR").join(path).display());
    }
    let full = case.named_outputs().any(|output| output == "/dev/full");
    // If all records are bad and skipped, there may be nothing to write.
    let empty = case.stdout == Stdout::Full && case.has("--skip-bad");
    let nowhere = case.stdout != Stdout::Kept && case.named_outputs().next().is_none() && !empty;
    if code != 2 && (full || nowhere) {
        fault("success although nothing could be written", &format!("exit code {code}"));
    }
    if let Some((kind, path)) = forbidden_change(case, run, code) {
        fault(kind, &path.display());
    }
    if let Some(kind) = unexpected(case, run, code) {
        fault(kind, &format!("exit code {code}: {said}"));
    }
}

/// What a case with a known answer got wrong.
fn unexpected(case: &Case, run: &Run, code: i32) -> Option<&'static str> {
    let printed = String::from_utf8_lossy(&run.stdout);
    let lines = |path: &Path| match run.after.get(path) {
        Some(Entry::File { content, .. }) => content.iter().filter(|byte| **byte == b'\n').count(),
        _ => 0,
    };
    let kept = |path: &PathBuf| run.before.get(path) == run.after.get(path);
    let wrong = match &case.expected {
        Expected::Anything => None,
        Expected::Prints(_) if code != 0 => Some("refused, but it can be read"),
        Expected::Prints(texts) => {
            let all = texts.iter().all(|text| printed.contains(text.as_str()));
            (!all).then_some("a wrong result")
        }
        Expected::Refusal(_) if code != 2 => Some("accepted, but it is wrong"),
        Expected::Refusal(texts) => {
            let all = texts.iter().all(|text| run.stderr.contains(text.as_str()));
            (!all).then_some("a message that does not name the cause")
        }
        Expected::AllRows(path, rows) => {
            (code != 2 && lines(path) != *rows).then_some("rows are lost")
        }
    };
    wrong.or_else(|| (!case.keeps.iter().all(kept)).then_some("a file of the user is replaced"))
}

/// The first path that the run may not have changed.
fn forbidden_change<'a>(case: &Case, run: &'a Run, code: i32) -> Option<(&'static str, &'a Path)> {
    let named = || case.named_outputs().map(Path::new);
    let is_output = |path: &Path| {
        let header = |output: &Path| {
            let mut name = output.as_os_str().to_owned();
            name.push(".meta.json");
            path == Path::new(&name)
        };
        let below = |output: &Path| !output.as_os_str().is_empty() && path.starts_with(output);
        case.outputs.iter().any(|output| below(output))
            || named().any(|output| {
                let output = output.strip_prefix(".").unwrap_or(output);
                // The folders above a new output are made too.
                below(output) || header(output) || output.starts_with(path)
            })
    };
    // An output that is a link is written to where the link leads.
    let may_write = |path: &Path| {
        let leads = |(link, entry): (&PathBuf, &Entry)| match entry {
            Entry::Link(to) => link.with_file_name(to) == path && is_output(link),
            _ => false,
        };
        is_output(path) || run.before.iter().any(leads)
    };
    for (path, old) in &run.before {
        let new = run.after.get(path);
        // What a killed program left may go, a training that goes on cuts its log back to the
        // checkpoint first, and a shard whose input has changed is no longer true.
        let left = path.iter().any(|part| is_temporary(Path::new(part)));
        let log = case.has("--resume") && path.ends_with("train.jsonl");
        let stale = case.has("--resume") && case.has("--out-dir") && new.is_none();
        if new == Some(old) || left || log || stale && !case.keeps.contains(path) {
            continue;
        }
        let read_only = matches!(old, Entry::File { mode, .. } if mode & 0o200 == 0);
        let kind = match (old, new) {
            _ if code == 2 => "changed by a run that failed",
            _ if !may_write(path) || path.ends_with(KEPT) => "changed, but not an output",
            _ if read_only => "read-only file replaced",
            (Entry::Link(_), _) => "link replaced",
            (Entry::File { mode: old, .. }, Some(Entry::File { mode: new, .. })) if old != new => {
                "permissions changed"
            }
            _ => continue,
        };
        return Some((kind, path));
    }
    // An empty folder is no output. A training keeps its log and its checkpoint, and a fetch what
    // it has, so that they can be continued.
    let kept = |path: &Path| match path.extension().and_then(OsStr::to_str) {
        Some("jsonl" | "log" | "safetensors") => case.verb() == "train",
        Some("part") => path.starts_with("installed"),
        _ => case.gathers(path),
    };
    let new = run.after.iter().filter(|(path, new)| {
        !run.before.contains_key(*path) && !matches!(new, Entry::Folder) && !kept(path)
    });
    let mut unwanted = new.map(|(path, _)| path).filter(|path| code == 2 || !may_write(path));
    let kind = if code == 2 { "left by a run that failed" } else { "new, but not an output" };
    unwanted.next().map(|path| (kind, path.as_path()))
}

/// Checks that the number of threads changes nothing.
fn compare(case: &Case, one: &Run, three: &Run, faults: &mut Vec<(&'static str, String)>) {
    let (Some(first), Some(second)) = (one.status, three.status) else { return };
    // Training prints, logs and keeps in its checkpoint how long it took. The model is the same.
    let timed = case.verb() == "train";
    let differs = if first != second {
        Some(format!("{first} and {second}: {}", excerpt(&three.stderr)))
    } else if !timed && one.stdout != three.stdout {
        Some("standard output".to_owned())
    } else if first.code() == Some(2) && one.stderr != three.stderr {
        Some(format!("{} and {}", excerpt(&one.stderr), excerpt(&three.stderr)))
    } else {
        let names = one.after.keys().chain(three.after.keys());
        let log = |path: &Path| timed && !path.ends_with("model.safetensors");
        names
            .filter(|path| !log(path))
            .find(|path| one.after.get(*path) != three.after.get(*path))
            .map(|path| path.display().to_string())
    };
    if let Some(detail) = differs {
        faults.push(("other bytes with three threads", detail));
    }
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(".storymeter-")
        || [".partial", ".new", ".tmp"].iter().any(|end| name.ends_with(end))
}

/// A character that a terminal obeys instead of showing it.
fn obeyed(text: &str) -> Option<char> {
    let directs = |c| {
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2066}'..='\u{2069}')
    };
    text.chars().find(|c| *c != '\n' && (c.is_control() || directs(*c)))
}

fn excerpt(text: &str) -> String {
    format!("{:?}", text.trim().chars().take(300).collect::<String>())
}
