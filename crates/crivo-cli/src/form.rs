//! `--output` and `--json`: the form in which an answer is printed.

use clap::Args;

use crate::output::Form;

/// The form of an answer.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormArgs {
    /// How to print the answer [default: table]; files are named with -o
    #[arg(id = "form", long = "output", value_enum, value_name = "FORM")]
    form: Option<Form>,

    /// One JSON object instead of text
    #[arg(long, conflicts_with = "form")]
    json: bool,
}

impl FormArgs {
    /// Returns the requested form.
    pub(crate) fn get(self) -> Form {
        if self.json { Form::Json } else { self.form.unwrap_or(Form::Table) }
    }
}
