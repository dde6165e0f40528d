//! `crivo mail serve`: one process that serves mail programs and people.
//!
//! Mail programs speak spamd's protocol (`spamc` is their client), mail servers the milter
//! protocol, and people open a page. All use the same filter, which stays in memory and checks
//! every second whether another process has learned. At SIGTERM and SIGINT the process answers the
//! requests in progress and then ends. SIGHUP does not end it, because a terminal sends SIGHUP when
//! it is closed, and a service manager sends it to reload.

mod address;
mod allocator;
mod readiness;
mod signals;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::value_parser;
use crivo_mail::connections::{Limits, Listener};
use crivo_mail::milter::action::{OnSpam, Rules, UserNames};
use crivo_mail::milter::server as milter;
use crivo_mail::service::{OpenStore, Service, Users};
use crivo_mail::spamd::server as spamd;
use crivo_mail::web;
use crivo_mail::web::guard::{Guard, Token};
use tokio::sync::watch;

use self::address::{Address, Listening, address, socket_mode, tcp_address, tcp_listener};
use self::signals::{Reload, stop_signal};
use super::{PolicyArgs, TrustArgs};
use crate::cmd::Outcome;
use crate::output::{self, Output};

const SPAMD: &str = "127.0.0.1:1783";
const WEB: &str = "127.0.0.1:8080";

/// How often the server checks whether another process has learned.
const REFRESH: Duration = Duration::from_secs(1);

/// How long the same trouble is not reported again.
const QUIET: Duration = Duration::from_secs(60);

/// How long a task may take to end after everything else has ended.
const LEAVE: Duration = Duration::from_secs(1);

/// Answers mail programs (spamd's protocol), mail servers (milter) and people (a web page), until
/// stopped
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --spamd, --milter and --web, spamd and page are served at their usual addresses. Port 0 takes a
free one; the addresses are printed. SIGTERM and Ctrl-C end the server when requests under way are answered; SIGHUP
looks for what other processes have learned, which happens every second anyway.

Examples:
  crivo mail serve --store ~/.crivo-mail --web
  crivo mail serve --store /var/lib/crivo/shared --users /var/lib/crivo/users --spamd 127.0.0.1:1783
  spamc -p 1783 -R < message.eml
  crivo mail serve --store /var/lib/crivo/shared --milter unix:/run/crivo-mail/milter --socket-mode 666
  crivo mail serve --store /var/lib/crivo/shared --milter 127.0.0.1:8891 --on-spam reject --on-spam-from 10
  crivo mail serve --store /var/lib/crivo/shared --spamd --metrics 127.0.0.1:9783 --log")]
pub(crate) struct Args {
    /// The folder of the store; made if it is not there
    #[arg(long, value_name = "DIR")]
    store: PathBuf,

    /// A folder with a folder for each user, chosen by spamd's User header; a store is made in it
    /// as the user teaches
    #[arg(long, value_name = "DIR")]
    users: Option<PathBuf>,

    /// Make the folder of a user that has none: anyone who connects can then make stores
    #[arg(long, requires = "users")]
    create_users: bool,

    #[command(flatten)]
    policy: PolicyArgs,

    #[command(flatten)]
    trust: TrustArgs,

    /// Serve spamd's protocol, at an address, or at unix: and a path [default address:
    /// 127.0.0.1:1783]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = SPAMD)]
    spamd: Option<String>,

    /// Serve the milter protocol, for Postfix and Sendmail: 127.0.0.1:8891, or unix: and a path
    #[arg(long, value_name = "ADDRESS")]
    milter: Option<String>,

    #[command(flatten)]
    milter_rules: MilterArgs,

    /// Permissions of unix sockets, in octal digits
    #[arg(long, value_name = "MODE", default_value = "660", value_parser = socket_mode)]
    socket_mode: u32,

    /// Serve the page [default address: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = WEB)]
    web: Option<String>,

    /// Allow addresses that other machines can reach: those can ask and teach
    #[arg(long)]
    public: bool,

    #[command(flatten)]
    watching: WatchingArgs,

    /// Learn nothing from clients
    #[arg(long)]
    read_only: bool,

    /// A name under which the page is opened, besides addresses and localhost
    #[arg(long, value_name = "NAME")]
    web_name: Vec<String>,

    /// Seconds that a client of spamd may take to send its message
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    /// Clients of spamd at one time; more wait
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = value_parser!(u32).range(1..=65_536))]
    connections: u32,
}

/// How an administrator sees what the server does.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Watching it")]
struct WatchingArgs {
    /// Serve /metrics for Prometheus and /healthz by HTTP, such as 127.0.0.1:9783
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<String>,

    /// Write one line a decision to standard error: Message-ID, verdict, points, milliseconds
    #[arg(long)]
    log: bool,
}

/// What the milter does to mail.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Milter")]
struct MilterArgs {
    /// What happens to spam besides the marks: mark (nothing), quarantine, reject or tempfail
    #[arg(long, value_name = "ACTION", default_value = "mark")]
    on_spam: OnSpam,

    /// Do that from this number of points on; spam below is marked (5 points are spam, 10 are odds
    /// of 22,000 to 1)
    #[arg(long, value_name = "POINTS", default_value_t = 5.0)]
    on_spam_from: f64,

    /// What happens to mail if the filter fails: pass (without marks) or tempfail
    #[arg(long, value_name = "ACTION", default_value = "pass", value_parser = ["pass", "tempfail"])]
    on_failure: String,

    /// How recipients are called in --users: local (before the @) or address (all of it), in small
    /// letters
    #[arg(long, value_name = "PART", default_value = "local", value_parser = ["local", "address"])]
    user_names: String,
}

impl MilterArgs {
    fn rules(&self) -> Rules {
        Rules {
            on_spam: self.on_spam,
            from_points: self.on_spam_from,
            tempfail_on_failure: self.on_failure == "tempfail",
            user_names: if self.user_names == "address" { UserNames::Address } else { UserNames::Local },
        }
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let addresses = Addresses::of(args)?;
    let rules = args.milter_rules.rules();
    allocator::restart_with_settings();
    let service = Arc::new(service(args, out)?);
    let mut random = [0; 16];
    getrandom::fill(&mut random).context("the system has no randomness for the page's token")?;
    let guard = Guard::new(Token::new(random), args.web_name.iter().cloned());
    let limits = Limits {
        connections: args.connections as usize,
        patience: Duration::from_secs(args.timeout),
        ..Limits::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("crivo-mail")
        .build()
        .context("threads could not be started")?;
    let served = runtime.block_on(serve(service, addresses, (limits, rules), guard, out));
    runtime.shutdown_timeout(LEAVE);
    served.map(|()| ExitCode::SUCCESS)
}

/// Opens the stores in memory.
fn service(args: &Args, out: &Output) -> Result<Service> {
    let store = match OpenStore::open(&args.store) {
        Err(error) if error.is_missing_store() && !args.read_only => {
            out.warn(format_args!(
                "{}: there was no store: a new one is made, and everything is unsure until it has learned",
                args.store.display()
            ));
            OpenStore::open_or_create(&args.store)?
        }
        opened => opened?,
    };
    let (policy, trusted) = (args.policy.policy(), args.trust.hosts());
    let store = store.with_trusted_hosts(Arc::clone(&trusted)).with_policy(policy)?;
    let mut service = Service::new(Arc::new(store))?.read_only(args.read_only);
    if args.watching.log {
        service = service.with_log(output::log_line);
    }
    Ok(match &args.users {
        Some(folder) => {
            service.with_users(Users::trusting(folder, policy, trusted).creating(args.create_users))
        }
        None => service,
    })
}

/// The addresses on which the server listens.
struct Addresses {
    spamd: Option<Address>,
    milter: Option<Address>,
    web: Option<SocketAddr>,
    metrics: Option<SocketAddr>,
    /// The permissions of unix sockets.
    mode: u32,
}

impl Addresses {
    fn of(args: &Args) -> Result<Self> {
        let nothing_named = args.spamd.is_none() && args.web.is_none() && args.milter.is_none();
        let named = |typed: &Option<String>, usual: &str| match typed {
            None => nothing_named.then(|| usual.to_owned()),
            Some(typed) => Some(typed.clone()),
        };
        let to_address = |option: &str, typed: Option<String>| {
            typed.map(|typed| address(option, &typed, args.public)).transpose()
        };
        let web = named(&args.web, WEB).map(|typed| tcp_address("--web", &typed, args.public));
        let metrics =
            args.watching.metrics.as_ref().map(|typed| tcp_address("--metrics", typed, args.public));
        Ok(Self {
            spamd: to_address("--spamd", named(&args.spamd, SPAMD))?,
            milter: to_address("--milter", args.milter.clone())?,
            web: web.transpose()?,
            metrics: metrics.transpose()?,
            mode: args.socket_mode,
        })
    }
}

async fn serve(
    service: Arc<Service>,
    addresses: Addresses,
    (limits, rules): (Limits, Rules),
    guard: Guard,
    out: &Output,
) -> Result<()> {
    let signal = stop_signal()?;
    let mut reload = Reload::listen()?;
    let (stop, stopped) = watch::channel(false);
    let listen = async |option: &str, address: &Option<Address>| match address {
        Some(address) => Listening::at(option, address, addresses.mode).await.map(Some),
        None => Ok(None),
    };
    let spamd = listen("--spamd", &addresses.spamd).await?;
    let milter = listen("--milter", &addresses.milter).await?;
    let web = match addresses.web {
        Some(address) => Some(tcp_listener("--web", address).await?),
        None => None,
    };
    let metrics = match addresses.metrics {
        Some(address) => Some(tcp_listener("--metrics", address).await?),
        None => None,
    };
    // A reader of these lines may connect at once, because all listeners are open.
    if let Some(Listening { listener, .. }) = &spamd {
        out.line(format_args!("spamd on {}", named(listener, addresses.spamd.as_ref())))?;
    }
    if let Some(Listening { listener, .. }) = &milter {
        out.line(format_args!("milter on {}", named(listener, addresses.milter.as_ref())))?;
    }
    if let Some(listener) = &web {
        out.line(format_args!("page on http://{}/", listener.local_addr()?))?;
    }
    if let Some(listener) = &metrics {
        out.line(format_args!("metrics on http://{}/metrics", listener.local_addr()?))?;
    }
    let (mut servers, mut sockets) = (Vec::new(), Vec::new());
    if let Some(listening) = spamd {
        let (listener, socket) = listening.into_parts();
        sockets.push(socket);
        let serving = spamd::serve(listener, limits, Arc::clone(&service), stopped.clone());
        servers.push(tokio::spawn(serving));
    }
    if let Some(listening) = milter {
        let (listener, socket) = listening.into_parts();
        sockets.push(socket);
        let serving = milter::serve(listener, limits, rules, Arc::clone(&service), stopped.clone());
        servers.push(tokio::spawn(serving));
    }
    if let Some(listener) = web {
        let router = web::router(Arc::clone(&service), guard);
        servers.push(tokio::spawn(web::server::serve(listener, router, stopped.clone())));
    }
    if let Some(listener) = metrics {
        let router = web::metrics::router(Arc::clone(&service));
        servers.push(tokio::spawn(web::server::serve(listener, router, stopped)));
    }
    readiness::notify("READY=1");
    tokio::select! {
        () = signal => {}
        () = keep_fresh(service, &mut reload, out) => {}
    }
    readiness::notify("STOPPING=1");
    // Removes the files of the Unix sockets, so that new clients are refused instead of kept
    // waiting.
    drop(sockets);
    stop.send_replace(true);
    for server in servers {
        server.await?;
    }
    Ok(())
}

/// Returns the address in words. A socket is moved after it is created, so its path is that of
/// `typed`.
fn named(listener: &Listener, typed: Option<&Address>) -> String {
    match (listener, typed) {
        (Listener::Tcp(_), _) | (_, None) => listener.to_string(),
        (_, Some(typed)) => typed.to_string(),
    }
}

/// Loads what other processes have learned, for as long as the server runs. Reports troubles,
/// because clients get their mail back unjudged and report nothing. The same trouble is reported at
/// most once in [`QUIET`].
async fn keep_fresh(service: Arc<Service>, reload: &mut Reload, out: &Output) {
    let mut told: BTreeMap<String, Instant> = BTreeMap::new();
    loop {
        tokio::select! {
            () = tokio::time::sleep(REFRESH) => {}
            () = reload.asked() => {}
        }
        let freshened = Arc::clone(&service);
        let refreshed = tokio::task::spawn_blocking(move || freshened.refresh()).await;
        let stale =
            refreshed.map_or_else(|panic| Some(panic.to_string()), |done| done.err().map(|e| e.to_string()));
        told.retain(|_, at| at.elapsed() < QUIET);
        let troubles: Vec<String> = std::iter::from_fn(|| service.journal().take_trouble()).collect();
        for trouble in stale.into_iter().chain(troubles) {
            if let Entry::Vacant(new) = told.entry(trouble) {
                out.warn(new.key());
                new.insert(Instant::now());
            }
        }
    }
}
