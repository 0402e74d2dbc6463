//! Several GPUs: a process each, and one that oversees them.
//!
//! Each process is this program again with `--rank`. What a rank needs to find the others comes through its standard input, which stays
//! open as long as its overseer lives: so no rank outlives it, and the first one that fails ends all.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use anyhow::{Context, bail};
use storymeter::union::train::{NcclId, Rank, Team};

use crate::Outcome;

/// Between two looks at the processes.
const TICK: Duration = Duration::from_millis(50);
/// How long the others may take to say themselves what ended them, once one has failed.
const GRACE: Duration = Duration::from_millis(1000);

/// One rank's process.
struct Member {
    gpu: usize,
    child: Child,
    /// What it said on standard error; the first rank's goes to the terminal.
    said: Option<JoinHandle<String>>,
}

/// Trains on several GPUs, one process each; returns when all have ended.
pub fn oversee(gpus: &[usize], deterministic: bool) -> anyhow::Result<Outcome> {
    let id = NcclId::new().context("--devices")?;
    let mut members = Vec::new();
    for rank in 0..gpus.len() {
        match start(gpus, rank, deterministic, id) {
            Ok(member) => members.push(member),
            Err(error) => {
                end(&mut members);
                return Err(
                    error.context(format!("the process for GPU {} does not start", gpus[rank]))
                );
            }
        }
    }
    let failed = wait(&mut members);
    let Some((rank, status)) = failed? else { return Ok(Outcome::Done) };
    let Member { gpu, said, .. } = &mut members[rank];
    match said.take().and_then(|said| said.join().ok()) {
        Some(said) if !said.trim().is_empty() => bail!("GPU {gpu}: {}", said.trim()),
        Some(_) => bail!("the process of GPU {gpu} ended with {status}"),
        // The first rank has said it on our own standard error.
        None => bail!("training on {} GPUs ended with the first one's error", gpus.len()),
    }
}

/// Starts a rank.
fn start(gpus: &[usize], rank: usize, deterministic: bool, id: NcclId) -> anyhow::Result<Member> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(std::env::args_os().skip(1))
        .arg("--rank")
        .arg(rank.to_string())
        .stdin(Stdio::piped());
    if rank > 0 {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
    }
    let mut set = |name: &str, value: &str| {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    };
    if deterministic {
        // Of NCCL's ways to sum, the one whose order is fixed on any machine.
        set("NCCL_ALGO", "Ring");
    }
    if gpus.iter().collect::<BTreeSet<_>>().len() < gpus.len() {
        // NCCL takes a GPU once a host: ranks that share one are on hosts of their own, as far as it knows.
        set("NCCL_HOSTID", &format!("storymeter-rank-{rank}"));
        set("NCCL_P2P_DISABLE", "1");
        set("NCCL_SHM_DISABLE", "1");
    }
    let mut child = command.spawn()?;
    if let Some(stdin) = &mut child.stdin {
        writeln!(stdin, "{id}")?;
        stdin.flush()?;
    }
    let said = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut said = String::new();
            // What cannot be read is not told.
            let _ = stderr.read_to_string(&mut said);
            said
        })
    });
    Ok(Member { gpu: gpus[rank], child, said })
}

/// Waits for all, or for the first that fails: then the others are ended. Where several fail of themselves, the first rank is
/// the one that has told why.
fn wait(members: &mut [Member]) -> anyhow::Result<Option<(usize, ExitStatus)>> {
    let mut grace = GRACE;
    loop {
        let mut failed = None;
        let mut running = false;
        for (rank, member) in members.iter_mut().enumerate() {
            match member.child.try_wait()? {
                Some(status) if !status.success() => failed = failed.or(Some((rank, status))),
                Some(_) => {}
                None => running = true,
            }
        }
        match failed {
            None if !running => return Ok(None),
            Some((rank, _)) if rank == 0 || !running || grace.is_zero() => {
                end(members);
                return Ok(failed);
            }
            Some(_) => grace = grace.saturating_sub(TICK),
            None => {}
        }
        sleep(TICK);
    }
}

fn end(members: &mut [Member]) {
    for member in members {
        // One that has ended already cannot be killed; that is no error.
        let _ = member.child.kill();
        let _ = member.child.wait();
    }
}

/// What a rank's overseer tells it. From then on the process ends where the overseer does.
pub fn join(number: usize, of: usize) -> anyhow::Result<Team> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("--rank: nothing on standard input")?;
    let id = line.trim().parse::<NcclId>().context("--rank is for storymeter itself")?;
    std::thread::spawn(|| {
        // Nothing more is ever said: this returns where the overseer is gone.
        let _ = io::stdin().lock().read(&mut [0]);
        std::process::exit(2);
    });
    Ok(Team { rank: Rank { number, of }, id })
}
