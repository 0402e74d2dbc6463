//! `storymeter model pull` with servers that hang up, hang, lie or send something else.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::*;

/// The folder that models are installed in.
const PLACE: [(&str, &str); 1] = [("STORYMETER_MODELS", "installed")];

/// A request: the path, the first byte that it asks for, and its number among those for a model.
struct Request {
    path: String,
    from: Option<usize>,
    number: usize,
}

impl Request {
    fn is_for_model(&self) -> bool {
        self.path.ends_with(".smq")
    }
}

/// A server of files. A test decides how requests are answered.
struct Server {
    address: String,
    /// The first byte that each request for a model file asks for.
    ranges: Arc<Mutex<Vec<Option<usize>>>>,
}

impl Server {
    /// Starts a server. `answer` gets the content of the file, which is empty if there is none.
    fn start(
        sandbox: &Sandbox,
        answer: impl Fn(&Request, Vec<u8>, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (folder, ranges) = (sandbox.path("shop"), Arc::new(Mutex::new(Vec::new())));
        let (kept, answer) = (Arc::clone(&ranges), Arc::new(answer));
        let asked = AtomicUsize::new(0);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some((path, from)) = request(&mut stream) else { continue };
                let mut request = Request { path, from, number: 0 };
                if request.is_for_model() {
                    kept.lock().unwrap().push(from);
                    request.number = asked.fetch_add(1, Ordering::SeqCst);
                }
                let content = read(&folder, &request.path);
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || answer(&request, content, &mut stream));
            }
        });
        Self { address, ranges }
    }

    fn pull(&self) -> String {
        format!("model pull tiny --from http://{}/ --timeout 1", self.address)
    }
}

fn read(folder: &std::path::Path, path: &str) -> Vec<u8> {
    let path: PathBuf = folder.join(path.trim_start_matches('/'));
    std::fs::read(path).unwrap_or_default()
}

/// The path and the first byte that a request asks for.
fn request(stream: &mut TcpStream) -> Option<(String, Option<usize>)> {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        text.push(byte[0]);
    }
    let text = String::from_utf8(text).ok()?;
    let path = text.split(' ').nth(1)?.to_owned();
    let range = text.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("range")
            .then(|| value.trim_start_matches("bytes=").trim_end_matches('-'))
    });
    Some((path, range.and_then(|from| from.parse().ok())))
}

/// Sends a status and headers.
fn head(stream: &mut TcpStream, status: &str, headers: &[String]) {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{headers}Connection: close\r\n\r\n");
}

/// Sends a whole file.
fn send(stream: &mut TcpStream, content: &[u8]) {
    head(stream, "200 OK", &[format!("Content-Length: {}", content.len())]);
    let _ = stream.write_all(content);
}

/// Answers a request for the end of a file, in which `first` is said to be the first byte.
fn send_part(stream: &mut TcpStream, content: &[u8], from: usize, first: usize) {
    let range = format!("Content-Range: bytes {first}-{}/{}", content.len() - 1, content.len());
    let length = format!("Content-Length: {}", content.len() - from);
    head(stream, "206 Partial Content", &[range, length]);
    let _ = stream.write_all(&content[from..]);
}

/// Sends the beginning of a file, and says that there is more.
fn send_beginning(stream: &mut TcpStream, content: &[u8], end: usize) {
    head(stream, "200 OK", &[format!("Content-Length: {}", content.len())]);
    let _ = stream.write_all(&content[..end]);
}

fn installed(sandbox: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path("installed")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_download_that_broke_goes_on_where_it_stopped() {
    let sandbox = with_shop();
    let file = bytes(&sandbox, "shop/tiny.smq");
    let half = file.len() / 2;
    let server = Server::start(&sandbox, move |request, content, stream| match request.from {
        Some(from) => send_part(stream, &content, from, from),
        None if request.is_for_model() => send_beginning(stream, &content, half),
        None => send(stream, &content),
    });
    let broken = sandbox
        .run_with(&server.pull(), &PLACE)
        .fails_with("bytes are kept; the same command continues");
    assert!(broken.stderr().contains(&format!("{half} of {}", file.len())), "{}", broken.stderr());
    assert!(!sandbox.path("installed/tiny.smq").exists());
    sandbox.run_with(&server.pull(), &PLACE).succeeds();
    assert_eq!(bytes(&sandbox, "installed/tiny.smq"), file);
    let ranges = server.ranges.lock().unwrap().clone();
    assert_eq!(ranges, [None, Some(half)], "the second time only the rest was asked for");
    assert_eq!(installed(&sandbox), ["tiny.smq"], "no part stays");
    sandbox
        .run_with(&server.pull().replace("tiny", "big"), &PLACE)
        .fails_with("has no model \"big\"");
}

#[test]
fn a_server_that_cannot_begin_in_the_middle_sends_all_again() {
    let sandbox = with_shop();
    let file = bytes(&sandbox, "shop/tiny.smq");
    let third = file.len() / 3;
    let server = Server::start(&sandbox, move |request, content, stream| {
        match request.is_for_model() && request.number == 0 {
            true => send_beginning(stream, &content, third),
            false if content.is_empty() => head(stream, "404 Not Found", &[]),
            false => send(stream, &content),
        }
    });
    sandbox.run_with(&server.pull(), &PLACE).fails_with("bytes are kept");
    sandbox.run_with(&server.pull(), &PLACE).succeeds();
    assert_eq!(bytes(&sandbox, "installed/tiny.smq"), file);
    std::fs::remove_file(sandbox.path("shop/tiny.smq")).unwrap();
    std::fs::remove_file(sandbox.path("installed/tiny.smq")).unwrap();
    sandbox.run_with(&server.pull(), &PLACE).fails_with("tiny.smq: not found (404");
}

#[test]
fn a_server_that_sends_another_part_than_it_was_asked_for_is_asked_for_all() {
    let sandbox = with_shop();
    let file = bytes(&sandbox, "shop/tiny.smq");
    let third = file.len() / 3;
    let server = Server::start(&sandbox, move |request, content, stream| match request.from {
        Some(from) => send_part(stream, &content, from - 7, from - 7),
        None if request.is_for_model() && request.number == 0 => {
            send_beginning(stream, &content, third);
        }
        None => send(stream, &content),
    });
    sandbox.run_with(&server.pull(), &PLACE).fails_with("bytes are kept");
    sandbox.run_with(&server.pull(), &PLACE).succeeds();
    assert_eq!(bytes(&sandbox, "installed/tiny.smq"), file);
    assert_eq!(*server.ranges.lock().unwrap(), [None, Some(third), None]);
}

/// Each of these servers stops sending and keeps the connection. The program gives up after a
/// second.
#[test]
fn a_server_that_falls_silent_is_given_up() {
    type Silent = fn(&Request, &[u8], &mut TcpStream);
    let cases: [(Silent, &str); 5] = [
        (
            |_, _, _| {},
            "manifest.json: cannot be reached: there was no complete answer within 1 second",
        ),
        (
            |_, _, stream| drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-")),
            "manifest.json: cannot be reached: there was no complete answer within 1 second",
        ),
        (
            |_, content, stream| send_beginning(stream, content, 10),
            "manifest.json: there was no complete answer within 1 second",
        ),
        (
            |request, content, stream| {
                if !request.is_for_model() {
                    send(stream, content);
                }
            },
            "tiny.smq: cannot be reached: nothing arrived for 1 second",
        ),
        (
            |request, content, stream| {
                let end = if request.is_for_model() { 1000 } else { content.len() };
                send_beginning(stream, content, end);
            },
            "tiny.smq: the connection broke: nothing arrived for 1 second (--timeout): 1000 of ",
        ),
    ];
    for (silent, message) in cases {
        let sandbox = with_shop();
        let server = Server::start(&sandbox, move |request, content, stream| {
            silent(request, &content, stream);
            std::thread::sleep(Duration::from_secs(60));
        });
        let started = Instant::now();
        sandbox.run_with(&server.pull(), &PLACE).fails_with(message);
        assert!(started.elapsed() < Duration::from_secs(20), "{message}");
        assert!(!sandbox.path("installed/tiny.smq").exists());
    }
}

#[test]
fn a_manifest_that_comes_drop_by_drop_is_given_up() {
    let sandbox = with_shop();
    let server = Server::start(&sandbox, |_, content, stream| {
        head(stream, "200 OK", &[format!("Content-Length: {}", content.len())]);
        for byte in content {
            let _ = stream.write_all(&[byte]);
            std::thread::sleep(Duration::from_millis(300));
        }
    });
    let started = Instant::now();
    sandbox
        .run_with(&server.pull(), &PLACE)
        .fails_with("manifest.json: there was no complete answer within 1 second (--timeout)");
    assert!(started.elapsed() < Duration::from_secs(20));
}

/// A model that comes slowly but steadily is fetched, however long it takes.
#[test]
fn a_slow_download_is_not_given_up() {
    let sandbox = with_shop();
    let server = Server::start(&sandbox, |request, content, stream| {
        if !request.is_for_model() {
            return send(stream, &content);
        }
        head(stream, "200 OK", &[format!("Content-Length: {}", content.len())]);
        for part in content.chunks(content.len().div_ceil(5)) {
            std::thread::sleep(Duration::from_millis(400));
            let _ = stream.write_all(part);
        }
    });
    sandbox.run_with(&server.pull(), &PLACE).succeeds();
}

#[test]
fn a_server_that_sends_something_else_is_named_and_nothing_stays() {
    type Answer = fn(&[u8], &mut TcpStream);
    let cases: [(Answer, &str); 7] = [
        (
            |_, stream| head(stream, "503 Service Unavailable", &[]),
            "the server answered 503 Service Unavailable",
        ),
        (|_, stream| head(stream, "500 Oops", &[]), "the server answered 500"),
        (
            |_, stream| head(stream, "302 Found", &["Location: /tiny.smq".to_owned()]),
            "the server redirects too often",
        ),
        (
            |content, stream| send(stream, &content[..100]),
            "it has 100 bytes, but the manifest says",
        ),
        (
            |content, stream| send(stream, &[content, b"more"].concat()),
            " bytes, but the manifest says",
        ),
        (
            // Without a length, the end of the connection is the end of the file.
            |content, stream| {
                head(stream, "200 OK", &[]);
                let _ = stream.write_all(&[content, b"more"].concat());
            },
            "it has more than the ",
        ),
        (
            |content, stream| {
                let mut other = content.to_vec();
                other[1000] ^= 1;
                send(stream, &other);
            },
            "but the manifest says",
        ),
    ];
    for (answer, message) in cases {
        let sandbox = with_shop();
        let server =
            Server::start(&sandbox, move |request, content, stream| match request.is_for_model() {
                true => answer(&content, stream),
                false => send(stream, &content),
            });
        let run = sandbox.run_with(&server.pull(), &PLACE).fails_with(message);
        assert!(run.stderr().contains("tiny.smq: "), "{}", run.stderr());
        assert!(!run.stderr().contains(".part"), "{}", run.stderr());
        assert!(installed(&sandbox).is_empty(), "{message}: {:?}", installed(&sandbox));
    }
}

#[test]
fn a_password_in_the_url_is_used_and_never_shown() {
    let sandbox = with_shop();
    let server = Server::start(&sandbox, |_, content, stream| send(stream, &content));
    let from = format!("http://ann:sesame@{}", server.address);
    sandbox.run_with(&format!("model pull tiny --from {from}"), &PLACE).succeeds();
    let shown = format!("http://ann:***@{}/manifest.json", server.address);
    let quiet = |line: &str, variables: &[(&str, &str)], message: &str| {
        let run = sandbox.run_with(line, &[&PLACE[..], variables].concat());
        let printed = format!("{}{}", run.stdout(), run.stderr());
        assert!(!printed.contains("sesame"), "{printed}");
        assert!(printed.contains(message), "{printed}");
    };
    quiet(&format!("model pull big --from {from}"), &[], &format!("{shown} has no model \"big\""));
    quiet(
        "model pull tiny --from http://ann:sesame@127.0.0.1:1",
        &[],
        "http://ann:***@127.0.0.1:1/",
    );
    quiet("model pull tiny --from http://ann:sesame@", &[], "http://ann:***@");
    quiet("model pull tiny --from http://ann:ses/ame:sesame@host:port", &[], "http://ann:***@host");
    quiet("model pull tiny --from ftp://ann:sesame@host", &[], "--from ftp://ann:***@host: ftp is");
    let variable = [("STORYMETER_MODEL_SOURCE", "http://ann:sesame@127.0.0.1:1")];
    quiet("model pull tiny", &variable, "http://ann:***@127.0.0.1:1/manifest.json: cannot");
    quiet("model pull --help", &variable, "STORYMETER_MODEL_SOURCE");
}
