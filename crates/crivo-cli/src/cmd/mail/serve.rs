//! `crivo mail serve`: one process that answers mail programs and people.
//!
//! Mail programs speak spamd's protocol (`spamc` is their client), people open a page. Both ask the
//! same filter, which stays in memory and looks every second whether another process has learned
//! something. The process ends cleanly at SIGTERM and SIGINT: requests under way are answered first. SIGHUP is no reason to
//! end: it is what a terminal sends that is closed, and what a service manager sends to reload.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::value_parser;
use crivo_mail::service::{OpenStore, Service, Users};
use crivo_mail::spamd::server::{self as spamd, Limits};
use crivo_mail::web;
use crivo_mail::web::guard::{Guard, Token};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::PolicyArgs;
use crate::cmd::Outcome;
use crate::output::Output;

const SPAMD: &str = "127.0.0.1:1783";
const WEB: &str = "127.0.0.1:8080";

/// How soon what another process learned is noticed.
const REFRESH: Duration = Duration::from_secs(1);

/// How long the same trouble is not told again.
const QUIET: Duration = Duration::from_secs(60);

/// How long a task may take to end when everything else has.
const LEAVE: Duration = Duration::from_secs(1);

/// Answers mail programs (spamd's protocol) and people (a web page), until stopped
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --spamd and --web, both are served at their usual addresses. Port 0 takes a free one; the
addresses are printed. SIGTERM and Ctrl-C end the server when requests under way are answered; SIGHUP
looks for what other processes have learned, which happens every second anyway.

Examples:
  crivo mail serve --store ~/.crivo-mail --web
  crivo mail serve --store /var/lib/crivo/shared --users /var/lib/crivo/users --spamd 127.0.0.1:1783
  spamc -p 1783 -R < message.eml")]
pub(crate) struct Args {
    /// The folder of the store; made if it is not there
    #[arg(long, value_name = "DIR")]
    store: PathBuf,

    /// A folder with a folder for each user, chosen by spamd's User header; a store is made in it as the user teaches
    #[arg(long, value_name = "DIR")]
    users: Option<PathBuf>,

    /// Make the folder of a user that has none: anyone who connects can then make stores
    #[arg(long, requires = "users")]
    create_users: bool,

    #[command(flatten)]
    policy: PolicyArgs,

    /// Serve spamd's protocol [default address: 127.0.0.1:1783]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = SPAMD)]
    spamd: Option<String>,

    /// Serve the page [default address: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = WEB)]
    web: Option<String>,

    /// Allow addresses that other machines can reach: whoever reaches them can ask and teach
    #[arg(long)]
    public: bool,

    /// Learn nothing from those who ask
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

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let nothing_named = args.spamd.is_none() && args.web.is_none();
    let address = |option: &str, typed: &Option<String>, usual: &str| match typed {
        None if nothing_named => listening_address(option, usual, args.public).map(Some),
        None => Ok(None),
        Some(typed) => listening_address(option, typed, args.public).map(Some),
    };
    let (spamd, web) = (address("--spamd", &args.spamd, SPAMD)?, address("--web", &args.web, WEB)?);
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
    let served = runtime.block_on(serve(service, spamd, web, limits, guard, out));
    runtime.shutdown_timeout(LEAVE);
    served.map(|()| ExitCode::SUCCESS)
}

/// The stores, open and in memory.
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
    let policy = args.policy.policy();
    let service = Service::new(Arc::new(store.with_policy(policy)?))?.read_only(args.read_only);
    Ok(match &args.users {
        Some(folder) => service.with_users(Users::new(folder, policy).creating(args.create_users)),
        None => service,
    })
}

/// The address behind what was typed. Others may reach it only if that was asked for.
fn listening_address(option: &str, typed: &str, public: bool) -> Result<SocketAddr> {
    let mut addresses = typed.to_socket_addrs().with_context(|| {
        format!(
            "{option} {typed}: expected an address with a port, such as 127.0.0.1:1783 (port 0: a free one)"
        )
    })?;
    let Some(address) = addresses.next() else { bail!("{option} {typed}: this name has no address") };
    if !address.ip().is_loopback() && !public {
        bail!(
            "{option} {typed}: other machines could reach this, and whoever does can ask and teach the filter; \
             add --public if that is wanted, or use 127.0.0.1"
        );
    }
    Ok(address)
}

async fn serve(
    service: Arc<Service>,
    spamd: Option<SocketAddr>,
    web: Option<SocketAddr>,
    limits: Limits,
    guard: Guard,
    out: &Output,
) -> Result<()> {
    let signal = stop_signal()?;
    let mut reload = reload_signal()?;
    let (stop, stopped) = watch::channel(false);
    let spamd = listen("--spamd", spamd).await?;
    let web = listen("--web", web).await?;
    // Whoever reads these lines may connect at once: both are open.
    if let Some(listener) = &spamd {
        out.line(format_args!("spamd on {}", listener.local_addr()?))?;
    }
    if let Some(listener) = &web {
        out.line(format_args!("page on http://{}/", listener.local_addr()?))?;
    }
    let mut servers = Vec::new();
    if let Some(listener) = spamd {
        let serving = spamd::serve(listener, limits, Arc::clone(&service), stopped.clone());
        servers.push(tokio::spawn(serving));
    }
    if let Some(listener) = web {
        let router = web::router(Arc::clone(&service), guard);
        servers.push(tokio::spawn(web::server::serve(listener, router, stopped)));
    }
    tokio::select! {
        () = signal => {}
        () = keep_fresh(service, &mut reload, out) => {}
    }
    stop.send_replace(true);
    for server in servers {
        server.await?;
    }
    Ok(())
}

async fn listen(option: &str, address: Option<SocketAddr>) -> Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("{option} {address}: cannot listen there; choose another port, or 0 for a free one")
    })?;
    Ok(Some(listener))
}

/// Looks for what other processes have learned, for as long as the server runs, and tells whoever runs it what went wrong:
/// clients get their mail back unjudged and say nothing. The same trouble is told once in a while.
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
        for trouble in stale.into_iter().chain(service.journal().take_trouble()) {
            if let Entry::Vacant(new) = told.entry(trouble) {
                out.warn(new.key());
                new.insert(Instant::now());
            }
        }
    }
}

/// Ready when the process is asked to end.
fn stop_signal() -> Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Is told when the process is asked to reload.
struct Reload {
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl Reload {
    #[cfg(unix)]
    async fn asked(&mut self) {
        if self.hangup.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    #[cfg(not(unix))]
    async fn asked(&mut self) {
        std::future::pending::<()>().await;
    }
}

/// Listens for SIGHUP, which would end the process otherwise.
fn reload_signal() -> Result<Reload> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Reload { hangup: signal(SignalKind::hangup())? })
    }
    #[cfg(not(unix))]
    Ok(Reload {})
}
