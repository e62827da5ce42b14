//! `costep advise`: the cheapest method and step for an error, in one screen.

use std::path::Path;
use std::process::ExitCode;

use costep::{
    Advice, Advising, Code, Error, HeldInput, Holds, MacroSteps, ReferenceKind, System, Trial, Wish,
};
use costep_core::quantity::{exact_time, format_time};
use costep_fmi::DEFAULT_TIMEOUT;
use costep_project::{FmuSpec, Override};

use crate::args::AdviseArgs;
use crate::failure::Failure;
use crate::phrases::{argument, count, given_by, show_warnings};
use crate::progress::BudgetProgress;
use crate::stop;
use crate::style::{FAINT, GOOD, Output, STRONG, WARN, paint, print, print_error, print_json, say};
use crate::supervision;
use crate::table::{Cell, number, render, wall};
use crate::verbs::compare::verdict;

/// Rows of the table of other methods, and names in a list.
const OTHERS: usize = 6;
const NAMES: usize = 4;
/// What a call of an FMU may take: a share of the time, and in s.
const CALL_SHARE: f64 = 0.1;
const LEAST_OF_A_CALL: f64 = 2.0;
/// What share of all time it takes to start the parts once, to be told of.
const LONG_START_UP: f64 = 0.01;

pub(crate) fn run(args: &AdviseArgs, output: Output) -> Result<ExitCode, Failure> {
    let system = within(args, args.system.open(Vec::new())?)?;
    let project = system.project();
    let given = |text| move |error| given_by(error, &format!("--methods {text}"));
    let parse = |text| system.registry().methods().parse_list(text).map_err(given(text));
    let methods = args.methods.as_deref().map(parse);
    let methods = methods.transpose()?.unwrap_or_default();
    if let Some(code) = supervision::elsewhere_within(project, args.time, output)? {
        return Ok(code);
    }
    show_warnings(&project.warnings, &args.system.named(), output);
    let advising = Advising::new().error(args.error).time(args.time).cancel(stop::flag());
    let advising = if args.equal_steps { advising.equal_steps() } else { advising };
    let advising = methods.iter().fold(advising, Advising::method);
    stop::listen();
    let bar = BudgetProgress::new(output, args.time);
    let advice = system.advise_with(&advising, &mut |doing, left| bar.see(doing, left.unwrap_or(args.time)));
    let advice = advice.map_err(|error| match error.code() {
        Code::BadValue => given_by(error, &format!("--error {}", args.error)),
        _ => error,
    })?;
    bar.finish();
    let answer = Answer { system: &system, advice: &advice, args };
    if output.json {
        let command = advice.choice.as_ref().map(|choice| answer.command(choice));
        print_json(&advice.to_json(&system, command.as_deref()))?;
    } else {
        advice.warnings.iter().for_each(|warning| output.remark(&warning.to_string()));
        answer.tell()?;
        advice.error().iter().for_each(print_error);
    }
    Ok(supervision::exit_code(advice.exit()))
}

/// The system with calls of FMUs that are ended after a share of the time: trials have at least ten steps, so that an FMU that
/// takes longer cannot be tried anyway, and one that hangs leaves time for others.
fn within(args: &AdviseArgs, system: System) -> Result<System, Failure> {
    let most = (CALL_SHARE * args.time.as_secs_f64()).max(LEAST_OF_A_CALL);
    let fmus = system.project().given.fmus.iter();
    let limit = |fmu: &FmuSpec| fmu.step_timeout.unwrap_or(DEFAULT_TIMEOUT.as_secs_f64());
    let patient = fmus.filter(|fmu| limit(fmu) > most);
    let shorter =
        |fmu: &FmuSpec| Override::new(format!("fmu.{}.step_timeout", fmu.name), exact_time(most), "--time");
    let limits: Vec<_> = patient.map(shorter).collect();
    Ok(if limits.is_empty() { system } else { args.system.open(limits)? })
}

struct Answer<'a> {
    system: &'a System,
    advice: &'a Advice,
    args: &'a AdviseArgs,
}

impl Answer<'_> {
    /// The command that does what was chosen.
    fn command(&self, choice: &Trial) -> String {
        let system = argument(Path::new(&self.args.system.system));
        let method = argument(Path::new(&choice.method));
        // A project that has a tolerance is told that it has none.
        let is_fixed =
            self.system.project().control.is_some() && matches!(choice.steps, MacroSteps::Equal(_));
        let fixed = if is_fixed { " --control fixed" } else { "" };
        let (words, steps) = (self.args.system.words(), choice.steps.flag());
        format!("costep run {system}{words} --method {method} {steps}{fixed}")
    }

    fn tell(&self) -> Result<(), Error> {
        let advice = self.advice;
        say!("{}: error of at most {:e} of the ranges\n", self.system.name(), advice.asked)?;
        if let Some(choice) = &advice.choice {
            self.tell_choice(choice)?;
        }
        if let Some(nearest) = advice.nearest() {
            let words = match nearest.error {
                Some(_) => "not reached; the most accurate of what was tried:",
                None => "not measured; stable of what was tried:",
            };
            say!("{}", paint(WARN, words))?;
            self.tell_choice(nearest)?;
        }
        self.tell_others()?;
        if let Some(holds) = &advice.holds {
            tell_holds(holds)?;
        }
        for wish in &advice.wishes {
            say!("{}", wish_line(wish))?;
        }
        self.tell_end()
    }

    fn tell_choice(&self, choice: &Trial) -> Result<(), Error> {
        say!("method   {}", paint(GOOD, &choice.method))?;
        say!("step     {}", paint(GOOD, choice.steps.text()))?;
        match choice.error {
            Some(error) => say!("error    {:.1e} of the ranges, {}", error.value, self.rests_on(choice))?,
            None => say!("error    not known: there was no time for a second run at half the step")?,
        }
        if let Some(second) = &self.advice.confirmed_by {
            let error = number(second.error.map(|error| error.value));
            say!("         {error} at {}: no accident", second.steps.text())?;
        }
        say!(
            "cost     {} calls of doStep, {} macro steps   done in {}",
            choice.calls,
            choice.macro_steps,
            wall(choice.wall_s)
        )?;
        say!("run      {}\n", paint(STRONG, self.command(choice)))
    }

    /// What the error rests on, and how uncertain that is.
    fn rests_on(&self, choice: &Trial) -> String {
        let own = |what: &str| choice.uncertainty.map_or(String::new(), |own| format!(" ({what} {own:.0e})"));
        match &self.advice.reference {
            Some(ReferenceKind::Monolithic { solver, .. }) => {
                format!("against the monolithic system by {}{}", solver.label(), own("itself off by"))
            }
            Some(ReferenceKind::FineStep { step, method, .. }) => {
                let step = format_time(*step);
                format!("against the same system with {method} at {step}{}", own("itself off by"))
            }
            None => match choice.error.map(|error| error.by) {
                Some("half step") => format!("by a second run at half the step{}", own("give or take")),
                _ => format!("against a reference along its steps{}", own("itself off by")),
            },
        }
    }

    fn tell_others(&self) -> Result<(), Error> {
        let best = self.advice.best_of_each();
        let chosen = self.advice.choice.as_ref().or(self.advice.nearest());
        let others =
            best.into_iter().filter(|trial| chosen.is_none_or(|chosen| trial.method != chosen.method));
        let row = |trial: &Trial| {
            let ratio = chosen.map(|chosen| trial.calls as f64 / chosen.calls.max(1) as f64);
            vec![
                Cell::new(&trial.method),
                Cell::new(trial.steps.text()),
                verdict(trial.verdict),
                Cell::new(number(trial.error.map(|error| error.value))),
                Cell::new(trial.calls.to_string()),
                Cell::styled(ratio.map_or("-".into(), |ratio| format!("{ratio:.1}x")), FAINT),
            ]
        };
        let rows: Vec<_> = others.take(OTHERS).map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        print(&render(&["others", "step", "result", "error", "calls", "cost"], &rows))?;
        say!("")
    }

    fn tell_end(&self) -> Result<(), Error> {
        let Advice { trials, not_possible, left_out, start_up_s, wall_s, .. } = self.advice;
        if !not_possible.is_empty() {
            let names: Vec<_> = not_possible.iter().map(|(method, _)| method.as_str()).collect();
            say!("{}", paint(FAINT, format!("not possible here: {}", names.join(", "))))?;
        }
        if !left_out.is_empty() {
            let names = some_of(left_out.iter().map(String::as_str));
            say!("{}", paint(FAINT, format!("no time for {names}")))?;
        }
        if self.advice.is_cut_short() {
            let words = match self.advice.confirmed_by {
                Some(_) => "time was over before all was tried",
                None => "time was over before a smaller step could confirm it",
            };
            say!("{}", paint(WARN, format!("{words}: with more `--time` there may be something cheaper")))?;
        }
        let start = Some(*start_up_s).filter(|start| *start > LONG_START_UP * wall_s);
        let start =
            start.map_or(String::new(), |start| format!(", {} of each to start the parts", wall(start)));
        say!(
            "{}",
            paint(FAINT, format!("{}   done in {}{start}", count(trials.len(), "trial"), wall(*wall_s)))
        )
    }
}

fn tell_holds(holds: &Holds) -> Result<(), Error> {
    let Holds { enough, more, together, not_tried } = holds;
    if !more.is_empty() {
        say!("{}:", paint(STRONG, "a hold is not enough for"))?;
        for held in more.iter().take(NAMES) {
            let error = held.error.map_or("unstable".into(), |error| format!("error {error:.1e}"));
            say!("  {}: {error} if held", connection(held))?;
        }
        if more.len() > NAMES {
            say!("  and {} others", more.len() - NAMES)?;
        }
    }
    if !enough.is_empty() {
        let names = some_of(enough.iter().map(|held| held.input.as_str()));
        let all = match together.len() {
            n if n == enough.len() => String::new(),
            0 | 1 => "; not two of them at the same time".into(),
            _ => format!("; at the same time {}", some_of(together.iter().map(String::as_str))),
        };
        say!("{}: {names}{all}", paint(STRONG, "a hold is enough for"))?;
    }
    if !not_tried.is_empty() {
        say!("not tried: {}", some_of(not_tried.iter().map(String::as_str)))?;
    }
    say!("")
}

fn connection(held: &HeldInput) -> String {
    format!("{} -> {}", held.from.join(" + "), held.input)
}

/// The first few names, and how many others there are.
fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    let text = names[..names.len().min(NAMES)].join(", ");
    if names.len() > NAMES { format!("{text} and {} others", names.len() - NAMES) } else { text }
}

fn wish_line(wish: &Wish) -> String {
    let parts = some_of(wish.parts.iter().map(String::as_str));
    let fewer =
        wish.fewer_calls.map_or(String::new(), |fewer| format!("about {fewer:.1} times fewer calls: "));
    format!(
        "{} {parts} for {} ({}): {fewer}{}",
        paint(STRONG, "ask the maker of"),
        wish.kind.text(),
        wish.kind.attribute(),
        wish.why
    )
}
