//! Files that a reader may bring: a `MovieLens` list of ratings, a folder of mail. Looked at before any work begins.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// What was brought; without it experiments generate look-alikes.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Who rated which film.
    pub ratings: Option<Ratings>,
    /// A folder with a folder `spam` and a folder `ham`.
    pub mail: Option<PathBuf>,
}

/// Who rated which film, in the order of the file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Ratings {
    /// Where it comes from.
    pub name: String,
    /// User and film.
    pub rows: Vec<(u32, u32)>,
}

impl Ratings {
    /// Reads `u.data` (fields between tabs) or `ratings.dat` (between double colons), or a folder that has one of them.
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
        let text = std::fs::read_to_string(&file).map_err(|error| {
            let reason = match error.kind() {
                std::io::ErrorKind::NotFound => "no such file".into(),
                std::io::ErrorKind::InvalidData => {
                    "is no text: expected a MovieLens u.data or ratings.dat".into()
                }
                _ => error.to_string(),
            };
            Error::Input(format!("{}: {reason}", file.display()))
        })?;
        Self::parse(&file.display().to_string(), &text)
    }

    fn parse(name: &str, text: &str) -> Result<Self> {
        let separator = if text.lines().next().is_some_and(|line| line.contains("::")) { "::" } else { "\t" };
        let mut rows = Vec::new();
        for (line, number) in text.lines().zip(1_u64..) {
            let fields: Vec<&str> = line.split(separator).collect();
            let row = match fields[..] {
                [user, film, rating, _] if rating.parse::<f32>().is_ok() => {
                    user.parse().ok().zip(film.parse().ok())
                }
                _ => None,
            };
            let row = row.ok_or_else(|| {
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

    /// How many different users there are.
    pub fn users(&self) -> usize {
        let mut users: Vec<u32> = self.rows.iter().map(|row| row.0).collect();
        users.sort_unstable();
        users.dedup();
        users.len()
    }
}

impl Inputs {
    /// Looks at what was brought.
    ///
    /// # Errors
    /// If a path is not what it should be.
    pub fn open(movielens: Option<&Path>, mail: Option<&Path>) -> Result<Self> {
        let ratings = movielens.map(Ratings::read).transpose()?;
        if let Some(folder) = mail {
            for name in ["spam", "ham"] {
                if !folder.join(name).is_dir() {
                    let folder = folder.display();
                    return Err(Error::Input(format!(
                        "{folder}: expected a folder with the folders spam and ham; there is no {name}"
                    )));
                }
            }
        }
        Ok(Self { ratings, mail: mail.map(Path::to_path_buf) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let tabs = Ratings::parse("u.data", "196\t242\t3\t881250949\n186\t302\t3\t891717742\n").unwrap();
        assert_eq!((tabs.rows, tabs.name.as_str()), (vec![(196, 242), (186, 302)], "u.data"));
        let colons = Ratings::parse("ratings.dat", "1::122::5::838985046\n1::185::4.5::838983525\n").unwrap();
        assert_eq!((colons.users(), colons.rows.len()), (1, 2));
    }

    #[test]
    fn another_shape_is_refused_with_its_line() {
        for (text, line) in
            [("a,b,c\n", 1), ("1\t2\t3\t4\n1\t2\t3\n", 2), ("1::x::3::4\n", 1), ("1\t2\tgood\t4\n", 1)]
        {
            let error = Ratings::parse("f", text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("f:{line}: expected user, film")), "{error}");
        }
        assert!(Ratings::parse("f", "").unwrap_err().to_string().contains("is empty"));
        assert!(Ratings::read(Path::new("no-such-file")).unwrap_err().to_string().ends_with("no such file"));
    }
}
