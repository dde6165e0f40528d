//! Files that the user may give: a `MovieLens` list of ratings, a folder of mail. They are checked
//! before any work begins.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crivo_mail::Mail;

use crate::error::{Error, Result};

/// The files that the user has given. Without them, experiments generate similar data.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The ratings of films by users.
    pub ratings: Option<Ratings>,
    /// A folder with a folder `spam` and a folder `ham`.
    pub mail: Option<PathBuf>,
}

/// The ratings of films by users, in the order of the file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Ratings {
    /// The name of the file.
    pub name: String,
    /// The user and the film of each rating.
    pub rows: Vec<(u32, u32)>,
}

impl Ratings {
    /// Reads `u.data` (fields separated by tabs) or `ratings.dat` (by double colons), or a folder
    /// that has one of them.
    ///
    /// # Errors
    /// If there is no such file, or a line is not `user, film, rating, time`.
    pub fn read(path: &Path) -> Result<Self> {
        let file = if path.is_dir() {
            ["u.data", "ratings.dat"]
                .iter()
                .map(|name| path.join(name))
                .find(|file| file.is_file())
                .ok_or_else(|| {
                    Error::Input(format!(
                        "{}: has neither u.data nor ratings.dat: name one of them",
                        path.display()
                    ))
                })?
        } else {
            path.to_path_buf()
        };
        let name = file.display().to_string();
        let opened = File::open(&file).map_err(|error| failed(&name, &error))?;
        Self::parse(&name, BufReader::new(opened))
    }

    fn parse(name: &str, text: impl BufRead) -> Result<Self> {
        let mut separator = None;
        let mut rows = Vec::new();
        for (line, number) in text.lines().zip(1_u64..) {
            let line = line.map_err(|error| failed(&format!("{name}:{number}"), &error))?;
            let separator = *separator.get_or_insert(if line.contains("::") { "::" } else { "\t" });
            let row = row(&line, separator).ok_or_else(|| {
                let shown: String = line.chars().take(60).collect();
                Error::Input(format!(
                    "{name}:{number}: expected user, film, rating and time, separated by tabs (u.data) or :: (ratings.dat); found {shown:?}"
                ))
            })?;
            rows.push(row);
        }
        if rows.is_empty() {
            return Err(Error::Input(format!(
                "{name}: is empty: expected a MovieLens u.data or ratings.dat"
            )));
        }
        Ok(Self { name: name.into(), rows })
    }

    /// Returns the number of distinct users.
    pub fn users(&self) -> usize {
        let mut users: Vec<u32> = self.rows.iter().map(|row| row.0).collect();
        users.sort_unstable();
        users.dedup();
        users.len()
    }
}

/// Returns the user and the film of a line, or `None` if it is not a rating.
fn row(line: &str, separator: &str) -> Option<(u32, u32)> {
    let mut fields = line.split(separator);
    let [user, film, rating, time] = [(); 4].map(|()| fields.next());
    let is_rating = rating?.parse::<f32>().is_ok_and(f32::is_finite) && time?.parse::<u64>().is_ok();
    (is_rating && fields.next().is_none()).then_some((user?.parse().ok()?, film?.parse().ok()?))
}

fn failed(place: &str, error: &io::Error) -> Error {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::InvalidData => "is no text: expected a MovieLens u.data or ratings.dat".into(),
        _ => error.to_string(),
    };
    Error::Input(format!("{place}: {reason}"))
}

/// Checks that a folder has two messages of either kind: one to learn and one to check.
fn look_at_mail(folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        return Err(Error::Input(format!("{}: no such folder", folder.display())));
    }
    for name in ["spam", "ham"] {
        let inside = folder.join(name);
        if !inside.is_dir() {
            let folder = folder.display();
            return Err(Error::Input(format!(
                "{folder}: expected a folder with the folders spam and ham; there is no {name}"
            )));
        }
        let mut messages = 0;
        for message in Mail::of(&inside)?.take(2) {
            message?;
            messages += 1;
        }
        if messages < 2 {
            let inside = inside.display();
            return Err(Error::Input(format!(
                "{inside}: expected two messages or more, because every second one is asked about; found {messages}"
            )));
        }
    }
    Ok(())
}

impl Inputs {
    /// Reads and checks the given files.
    ///
    /// # Errors
    /// If a path is not of the expected kind.
    pub fn open(movielens: Option<&Path>, mail: Option<&Path>) -> Result<Self> {
        let ratings = movielens.map(Ratings::read).transpose()?;
        mail.map(look_at_mail).transpose()?;
        Ok(Self { ratings, mail: mail.map(Path::to_path_buf) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let tabs =
            Ratings::parse("u.data", &b"196\t242\t3\t881250949\n186\t302\t3\t891717742\n"[..]).unwrap();
        assert_eq!((tabs.rows, tabs.name.as_str()), (vec![(196, 242), (186, 302)], "u.data"));
        let colons =
            Ratings::parse("ratings.dat", &b"1::122::5::838985046\n1::185::4.5::838983525\n"[..]).unwrap();
        assert_eq!((colons.users(), colons.rows.len()), (1, 2));
    }

    #[test]
    fn another_shape_is_refused_with_its_line() {
        for (text, line) in [
            ("a,b,c\n", 1),
            ("1\t2\t3\t4\n1\t2\t3\n", 2),
            ("1\t2\t3\t4\n1\t2\t3\t4\t5\n", 2),
            ("1\t2\t3\t4\n1::2::3::4\n", 2),
            ("1::x::3::4\n", 1),
            ("1\t2\tgood\t4\n", 1),
            ("1\t2\tNaN\t4\n", 1),
            ("1\t2\t3\tyesterday\n", 1),
            ("-1\t2\t3\t4\n", 1),
        ] {
            let error = Ratings::parse("f", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("f:{line}: expected user, film")), "{error}");
        }
        assert!(Ratings::parse("f", &b""[..]).unwrap_err().to_string().contains("is empty"));
        let binary = Ratings::parse("f", &b"1\t2\t3\t4\n\xff\xfe\n"[..]).unwrap_err().to_string();
        assert_eq!(binary, "f:2: is no text: expected a MovieLens u.data or ratings.dat");
        assert!(Ratings::read(Path::new("no-such-file")).unwrap_err().to_string().ends_with("no such file"));
    }
}
