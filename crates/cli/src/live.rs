//! `costep run --live`: the page of a run while it goes, for a browser on this machine.
//!
//! The server reads the growing recording from the disk: the run knows nothing of it and is not slowed down by it. It ends with
//! the run; browsers that look at it then get the page of the whole run first.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use costep::pages::Signals;
use costep::{Code, Error, RECORDING, RecordedRun, RunPage, System};
use serde_json::Value;

use crate::style::note;

/// Where the page asks for news.
const NEWS: &str = "data.json";
/// Time between two looks at the recording; at most a tenth of all time is spent on it.
const REFRESH: Duration = Duration::from_millis(500);
const SHARE: u32 = 10;
/// How long a browser that has asked just now is waited for at the end.
const FAREWELL: Duration = Duration::from_secs(4);
/// How long a browser may take to ask and to listen.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest request, and how many are answered at the same time.
const LONGEST: usize = 16_384;
const MOST_AT_ONCE: usize = 16;
/// What is shown before there is anything to show.
const NOT_YET: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">\
    <title>costep</title></head><body><p>The run is about to begin.</p></body></html>";

/// A page that is served.
pub(crate) struct Live {
    shared: Arc<Shared>,
}

struct Shared {
    port: u16,
    recording: PathBuf,
    system: System,
    begun: SystemTime,
    shown: Mutex<Shown>,
    clients: AtomicUsize,
}

/// What browsers get.
#[derive(Default)]
struct Shown {
    page: String,
    news: String,
    looked: Option<Instant>,
    took: Duration,
    /// When a browser asked last.
    asked: Option<Instant>,
    is_over: bool,
    /// Whether a browser has got the last page.
    is_seen: bool,
}

impl Live {
    /// Starts to serve the run that is about to be recorded in `folder`; port 0 is any that is free.
    pub(crate) fn start(port: u16, folder: &Path, system: &System) -> Result<Self, Error> {
        let failed = |cause: std::io::Error| {
            Error::new(Code::CommandLine, format!("`--live` cannot serve port {port} of this machine"))
                .because(cause)
                .hint("choose another port, or leave the choice to costep with `--live`")
        };
        // Nobody but this machine sees it.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let shared = Arc::new(Shared {
            port,
            recording: folder.join(RECORDING),
            system: system.clone(),
            begun: SystemTime::now(),
            shown: Mutex::default(),
            clients: AtomicUsize::new(0),
        });
        let server = shared.clone();
        thread::Builder::new().name("live".into()).spawn(move || server.serve(&listener)).map_err(failed)?;
        note(&format!("live: http://127.0.0.1:{port}/"));
        Ok(Self { shared })
    }

    /// The run has ended: whoever looks at it gets the page of all of it.
    pub(crate) fn finish(self, folder: &Path) {
        let page = RecordedRun::read(folder).map(|run| {
            let reference = run.solution(false).ok().flatten();
            run.page(reference.as_ref()).to_html()
        });
        let mut shown = self.shared.shown();
        shown.page = page.unwrap_or_else(|_| NOT_YET.replace("is about to begin", "has left no recording"));
        shown.page = shown.page.replace("<meta http-equiv=\"refresh\" content=\"1\">", "");
        shown.news = "{\"over\":true}".into();
        shown.is_over = true;
        let is_watched = shown.asked.is_some_and(|asked| asked.elapsed() < FAREWELL);
        drop(shown);
        let end = Instant::now() + FAREWELL;
        while is_watched && Instant::now() < end && !self.shared.shown().is_seen {
            thread::sleep(Duration::from_millis(20));
        }
        // What is on its way still arrives.
        while self.shared.clients.load(Ordering::Relaxed) > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Shared {
    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers everybody, until the process ends.
    fn serve(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            if self.clients.load(Ordering::Relaxed) >= MOST_AT_ONCE {
                continue;
            }
            self.clients.fetch_add(1, Ordering::Relaxed);
            let own = self.clone();
            let answer = move || {
                // A browser that went away is not missed.
                let _ = own.answer(stream);
                own.clients.fetch_sub(1, Ordering::Relaxed);
            };
            if thread::Builder::new().spawn(answer).is_err() {
                self.clients.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let request = read_request(&mut stream)?;
        let from_here = stream.peer_addr().is_ok_and(|peer: SocketAddr| peer.ip().is_loopback());
        let (status, kind, body) = match Request::parse(&request) {
            // A name of somebody else that leads here is a page of somebody else that wants to read ours.
            Some(request) if !from_here || !request.is_for(self.port) => forbidden(),
            Some(Request { path: "/", .. }) => ("200 OK", "text/html; charset=utf-8", self.page()),
            Some(Request { path: "/data.json", .. }) => ("200 OK", "application/json", self.news()),
            Some(Request { path: "/favicon.ico", .. }) => ("204 No Content", "text/plain", String::new()),
            Some(_) => ("404 Not Found", "text/plain", "there is nothing here\n".into()),
            None => ("400 Bad Request", "text/plain", "only GET is understood\n".into()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        stream.flush()
    }

    fn page(&self) -> String {
        let mut shown = self.fresh();
        shown.is_seen |= shown.is_over;
        if shown.page.is_empty() { NOT_YET.into() } else { shown.page.clone() }
    }

    fn news(&self) -> String {
        self.fresh().news.clone()
    }

    /// What is to be shown now: the recording is read again if that was long ago.
    fn fresh(&self) -> MutexGuard<'_, Shown> {
        let mut shown = self.shown();
        shown.asked = Some(Instant::now());
        let is_old = shown.looked.is_none_or(|looked| looked.elapsed() > REFRESH.max(SHARE * shown.took));
        if is_old && !shown.is_over {
            let start = Instant::now();
            if let Some((page, news)) = self.look() {
                (shown.page, shown.news) = (page, news);
            }
            (shown.looked, shown.took) = (Some(Instant::now()), start.elapsed());
        }
        shown
    }

    /// The page and its news, once there is a recording of this run.
    fn look(&self) -> Option<(String, String)> {
        let changed = self.recording.metadata().ok()?.modified().ok()?;
        // Clocks of file systems are coarse.
        if changed + Duration::from_millis(50) < self.begun {
            return None;
        }
        let signals = Signals::read(&self.recording, Some(&self.system)).ok()?;
        let outcome = Value::Null;
        let run = RunPage {
            system: Some(&self.system),
            outcome: &outcome,
            signals: &signals,
            reference: None,
            live: Some(NEWS),
        };
        let page = run.page();
        Some((page.to_html(), page.live_data(&run.status(), false)))
    }
}

fn forbidden() -> (&'static str, &'static str, String) {
    ("403 Forbidden", "text/plain", "this page is for 127.0.0.1 alone\n".into())
}

/// The head of a request; what comes behind it is of no interest.
fn read_request(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let (mut request, mut piece) = (Vec::new(), [0; 2048]);
    while request.len() < LONGEST && !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => break,
            length => request.extend(&piece[..length]),
        }
    }
    Ok(request)
}

/// What a browser asks for.
struct Request<'a> {
    path: &'a str,
    host: &'a str,
}

impl<'a> Request<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (head, _) = text.split_once("\r\n\r\n")?;
        let mut lines = head.split("\r\n");
        let path = lines.next()?.strip_prefix("GET ")?.split(' ').next()?;
        let mut hosts = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("host").then_some(value.trim())
        });
        let host = hosts.next()?;
        hosts.next().is_none().then_some(Self { path, host })
    }

    /// Whether it is for this server by its own name.
    fn is_for(&self, port: u16) -> bool {
        ["127.0.0.1", "localhost"].iter().any(|name| self.host == format!("{name}:{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_by_its_own_name_is_answered() {
        let request = |host: &str| format!("GET /data.json HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n");
        let is_for = |host: &str| Request::parse(request(host).as_bytes()).unwrap().is_for(8123);
        assert!(is_for("127.0.0.1:8123") && is_for("localhost:8123"));
        assert!(
            !is_for("evil.example:8123") && !is_for("127.0.0.1") && !is_for("127.0.0.1:80") && !is_for("")
        );
    }

    #[test]
    fn requests_that_are_none_are_refused() {
        for bad in [
            "",
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\nHost: localhost:1\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost:1\r\nHost: evil\r\n\r\n",
        ] {
            assert!(Request::parse(bad.as_bytes()).is_none(), "{bad:?}");
        }
        assert!(Request::parse(b"\xff\xfe\r\n\r\n").is_none());
    }
}
