//! A server with a judge whose answers a test determines.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crivo_mail::service::{Judge, Service};
use crivo_mail::spamd::server::{Limits, serve};
use crivo_mail::{Error, Judgement, Label, Learned, Reason, Result, Stats, Thresholds, Unlearned, Verdict};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// The score whose odds are e^15.5 to 1: the 15.5 points of the recordings.
pub(crate) const SPAM_SCORE: f64 = 0.999_999_814_5;

/// A judge with one answer for every message. It records its lessons.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    pub(crate) says: Mutex<Option<(Verdict, f64)>>,
    pub(crate) told: Mutex<Vec<(Option<Label>, Vec<u8>)>>,
    pub(crate) broken: bool,
}

impl Scripted {
    pub(crate) fn saying(verdict: Verdict, score: f64) -> Arc<Self> {
        Arc::new(Self { says: Mutex::new(Some((verdict, score))), ..Self::default() })
    }

    pub(crate) fn spam() -> Arc<Self> {
        Self::saying(Verdict::Spam, SPAM_SCORE)
    }
}

impl Judge for Scripted {
    fn check(&self, _: &[u8]) -> Result<Judgement> {
        if self.broken {
            return Err(Error::Unsuitable("the store is damaged\nin two lines".into()));
        }
        let (verdict, score) = self.says.lock().unwrap().unwrap();
        Ok(Judgement {
            verdict,
            score,
            thresholds: Thresholds { spam: 0.9, ham: 0.1 },
            reasons: vec![Reason::Sender { address: "a@example.org".into(), spam: 2, ham: 0 }],
            labels: BTreeMap::new(),
        })
    }

    /// Returns [`Learned::Already`] if the same lesson was given before.
    fn learn(&self, message: &[u8], label: &Label) -> Result<Learned> {
        let lesson = (Some(label.clone()), message.to_vec());
        let mut told = self.told.lock().unwrap();
        if told.contains(&lesson) {
            return Ok(Learned::Already);
        }
        told.push(lesson);
        Ok(Learned::New)
    }

    fn unlearn(&self, message: &[u8], _: Option<&Label>) -> Result<Unlearned> {
        self.told.lock().unwrap().push((None, message.to_vec()));
        Ok(Unlearned::Removed)
    }

    fn refresh(&self) -> Result<()> {
        Ok(())
    }

    fn stats(&self) -> Result<Stats> {
        Ok(Stats::default())
    }
}

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: watch::Sender<bool>,
    serving: tokio::task::JoinHandle<()>,
    runtime: Runtime,
}

impl Server {
    pub(crate) fn of(judge: Arc<dyn Judge>) -> Self {
        Self::start(Service::new(judge).unwrap(), Limits::default())
    }

    pub(crate) fn start(service: Service, limits: Limits) -> Self {
        let runtime = Runtime::new().unwrap();
        let (stop, stopped) = watch::channel(false);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = runtime.spawn(serve(listener, limits, Arc::new(service), stopped));
        Self { address, stop, serving, runtime }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends everything, half-closes as spamc does, and reads the reply.
    pub(crate) fn ask(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // A server that refuses may close before everything is sent.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(Shutdown::Write);
        reply(stream)
    }

    /// Asks the server to stop, and waits until it has.
    pub(crate) fn stop(self) {
        self.stop.send_replace(true);
        self.runtime.block_on(self.serving).unwrap();
    }
}

pub(crate) fn reply(mut stream: TcpStream) -> Vec<u8> {
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    reply
}

/// Returns a request with a message.
pub(crate) fn request(verb: &str, headers: &str, message: &[u8]) -> Vec<u8> {
    let head = format!("{verb} SPAMC/1.5\r\n{headers}Content-length: {}\r\n\r\n", message.len());
    [head.as_bytes(), message].concat()
}
