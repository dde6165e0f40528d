//! How does memory that was freed get back to the system?
//!
//! Each lesson replaces megabytes of weights, on any of several threads. By default glibc keeps an
//! arena for each thread, and once it has seen such a block freed it takes the next ones from the
//! arenas, which keep what is freed in them. A server that learned from 32 clients for 40 seconds
//! grew to 380 MB in this way, and stayed there. With large blocks mapped one by one and fewer
//! arenas it has 90 MB.
//!
//! glibc reads these settings from the environment when a process starts. The call that changes
//! them later is not safe Rust, so the server starts itself once more, in the same process.

/// Settings of glibc: large blocks are mapped and given back one by one, and threads share two
/// arenas.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SETTINGS: [(&str, &str); 2] = [("MALLOC_MMAP_THRESHOLD_", "1048576"), ("MALLOC_ARENA_MAX", "2")];

/// Starts the program again with [`SETTINGS`], unless each of them is set already. If that is not
/// possible, the program goes on as it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn restart_with_settings() {
    use std::env;
    use std::os::unix::process::CommandExt;

    let missing = SETTINGS.into_iter().filter(|(name, _)| env::var_os(name).is_none());
    let missing: Vec<_> = missing.collect();
    let Ok(program) = env::current_exe() else { return };
    if missing.is_empty() {
        return;
    }
    let mut arguments = env::args_os();
    let mut command = std::process::Command::new(program);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    // Returns only if the program cannot be started.
    let _ = command.args(arguments).envs(missing).exec();
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn restart_with_settings() {}
