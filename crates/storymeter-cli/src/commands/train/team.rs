//! Trains on several GPUs, with one process per GPU and one that oversees them.
//!
//! Each process is this program again, with `--rank`. It reads from its standard input how to find
//! the others. That input stays open as long as the overseer lives, so no rank outlives the
//! overseer, and the first rank that fails ends all of them.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use anyhow::{Context, bail};
use storymeter_core::file::remove_temporaries;
use storymeter_union::train::{NcclId, Rank, Team};

use crate::Outcome;

/// The time between two checks of the processes.
const TICK: Duration = Duration::from_millis(50);
/// After one process has failed, the time that the others get to report their own error.
const GRACE: Duration = Duration::from_millis(1000);

/// The most bytes of the line by which the processes find each other.
const LONGEST_ID: u64 = 1 << 12;

/// The process of one rank.
struct Member {
    gpu: usize,
    child: Child,
    /// The thread that collects its standard error. The first rank has none: its standard error is
    /// that of the overseer.
    messages: Option<JoinHandle<String>>,
}

/// Trains on several GPUs with one process per GPU. Returns when all have ended.
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
    let Member { gpu, messages, .. } = &mut members[rank];
    match messages.take().and_then(|messages| messages.join().ok()) {
        Some(text) if !text.trim().is_empty() => bail!("GPU {gpu}: {}", text.trim()),
        Some(_) => bail!("the process of GPU {gpu} ended with {status}"),
        // The first rank has printed its error itself.
        None => bail!("training on {} GPUs ended with the error of the first one", gpus.len()),
    }
}

/// Starts the process of a rank.
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
        // The algorithm of NCCL that adds in the same order on all machines.
        set("NCCL_ALGO", "Ring");
    }
    if gpus.iter().collect::<BTreeSet<_>>().len() < gpus.len() {
        // NCCL accepts each GPU once per host, so ranks that share a GPU pretend to be on different
        // hosts.
        set("NCCL_HOSTID", &format!("storymeter-rank-{rank}"));
        set("NCCL_P2P_DISABLE", "1");
        set("NCCL_SHM_DISABLE", "1");
    }
    let mut child = command.spawn()?;
    if let Some(stdin) = &mut child.stdin {
        writeln!(stdin, "{id}")?;
        stdin.flush()?;
    }
    let messages = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut text = String::new();
            // If it cannot be read, the exit status is reported instead.
            let _ = stderr.read_to_string(&mut text);
            text
        })
    });
    Ok(Member { gpu: gpus[rank], child, messages })
}

/// Waits until all processes have ended. If one fails, the others are stopped. If several fail, the
/// lowest rank is returned, because the first rank has printed its error already.
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
        // A process that has ended cannot be stopped any more, which is not an error.
        let _ = member.child.kill();
        let _ = member.child.wait();
    }
}

/// Reads from standard input what the overseer sends to a rank. From then on this process ends as
/// soon as the overseer does.
pub fn join(number: usize, ranks: usize) -> anyhow::Result<Team> {
    let mut line = String::new();
    let mut stdin = io::stdin().lock().take(LONGEST_ID);
    stdin.read_line(&mut line).context("--rank: standard input cannot be read")?;
    let id = line.trim().parse::<NcclId>().context("only storymeter itself sets --rank")?;
    std::thread::spawn(|| {
        // The overseer sends nothing more, so this returns when it has ended.
        let _ = io::stdin().lock().read(&mut [0]);
        remove_temporaries();
        std::process::exit(2);
    });
    Ok(Team { rank: Rank { number, of: ranks }, id })
}
