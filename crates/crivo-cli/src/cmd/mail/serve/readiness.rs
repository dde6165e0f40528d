//! Tells the service manager that the server is ready, by systemd's protocol of one datagram.

/// Sends a state to systemd, if it started this process and expects one (`NOTIFY_SOCKET`).
#[cfg(target_os = "linux")]
pub(super) fn notify(state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    // A name that begins with an at sign is an abstract socket and not a file.
    let address = match path.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    let sent = address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    // Errors are ignored, because the server also runs if the manager does not listen.
    let _ = sent;
}

#[cfg(not(target_os = "linux"))]
pub(super) fn notify(_: &str) {}
