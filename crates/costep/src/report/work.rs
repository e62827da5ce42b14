//! What a run has done, and where its wall time went.

use costep_core::SolverCounts;
use costep_core::quantity::format_time;
use costep_engine::{Engine, StepCounts};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Where the wall time of a run went.
#[derive(Clone, Debug, Serialize)]
pub struct Times {
    /// Seconds in the steps of each part: the mean of those that were timed, times their number.
    pub parts: Map<String, Value>,
    /// The rest of the wall time; nothing if parts were stepped at the same time on several threads.
    pub master_s: Option<f64>,
}

impl Times {
    pub(super) fn of(engine: &Engine, wall: f64) -> Self {
        let mut seconds = engine.step_seconds();
        let master_s = rest_of(wall, &mut seconds, engine.steps_in_parallel());
        let names = engine.descriptions().iter().map(|description| description.name.clone());
        let parts = names.zip(&seconds).map(|(name, seconds)| (name, json!(seconds))).collect();
        Self { parts, master_s }
    }

    /// `s1 61 %  s2 33 %  master 6 %`, the parts that take most first.
    pub fn shares(&self, wall: f64) -> String {
        const SHOWN: usize = 5;
        let mut parts: Vec<(&str, f64)> =
            self.parts.iter().map(|(name, s)| (name.as_str(), s.as_f64().unwrap_or(0.0))).collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let others: f64 = parts.iter().skip(SHOWN).map(|(_, seconds)| seconds).sum();
        let rest = parts.len().saturating_sub(SHOWN);
        let mut words: Vec<(String, f64)> =
            parts.iter().take(SHOWN).map(|(name, seconds)| ((*name).to_owned(), *seconds)).collect();
        if rest > 0 {
            words.push((format!("{rest} others"), others));
        }
        words.extend(self.master_s.map(|seconds| ("master".to_owned(), seconds)));
        // On several threads the times of all parts together may be more than the wall time.
        let whole = words.iter().map(|(_, seconds)| seconds).sum::<f64>().max(wall);
        let word = |(name, seconds): &(String, f64)| format!("{name} {:.0} %", 100.0 * seconds / whole);
        words.iter().map(word).collect::<Vec<_>>().join("  ")
    }
}

/// What the parts leave of the wall time. Parts that step one after another cannot take more than all of it:
/// where the estimate says so, because the steps that were timed were longer than the others (a short run, a
/// busy machine), it is scaled down.
fn rest_of(wall: f64, parts: &mut [f64], in_parallel: bool) -> Option<f64> {
    let rest = wall - parts.iter().sum::<f64>();
    if rest < 0.0 && !in_parallel {
        parts.iter_mut().for_each(|seconds| *seconds *= wall / (wall - rest));
        return Some(0.0);
    }
    (rest >= 0.0).then_some(rest)
}

/// What a control of steps has done.
#[derive(Clone, Debug, Serialize)]
pub struct ControlWork {
    /// Shortest step in s.
    pub shortest_step: f64,
    /// Longest step in s.
    pub longest_step: f64,
    /// Steps that were done again, shorter.
    pub rejected_steps: u64,
    /// Steps of the shortest length allowed whose error was still far beyond the tolerance.
    pub missed_steps: u64,
}

/// What a run has done and how long it took.
#[derive(Clone, Debug, Serialize)]
pub struct Work {
    /// Macro steps.
    pub macro_steps: u64,
    /// Steps of single subsystems, repetitions included.
    pub subsystem_steps: u64,
    /// Macro steps that were done in parts.
    pub divided_steps: u64,
    /// Number of parts of such a step.
    pub parts_per_divided_step: usize,
    /// What the control of the steps has done; nothing for fixed ones.
    pub control: Option<ControlWork>,
    /// Wall time in s.
    pub wall_s: f64,
    /// Simulated time per wall time.
    pub real_time_factor: Option<f64>,
    /// Seconds in the steps of each part, estimated from some of them, and in everything else.
    pub times: Option<Times>,
    /// What the integrators that choose their steps themselves have done, by part.
    pub solvers: Map<String, Value>,
}

impl Work {
    /// `from 12 us to 3 ms, 4 done again`, where steps are controlled.
    pub fn control_line(&self) -> Option<String> {
        let control = self.control.as_ref()?;
        let rounded = |time: f64| format_time(format!("{time:.1e}").parse().unwrap_or(time));
        let (shortest, longest) = (rounded(control.shortest_step), rounded(control.longest_step));
        let mut text = format!("from {shortest} to {longest}");
        if control.rejected_steps > 0 {
            text += &format!(", {} done again", control.rejected_steps);
        }
        if control.missed_steps > 0 {
            text += &format!(", {} as short as allowed and beyond the tolerance", control.missed_steps);
        }
        Some(text)
    }

    /// `143 of 1000 macro steps in 8 parts each`, if there were such.
    pub fn division_line(&self) -> Option<String> {
        let (all, parts) = (self.macro_steps, self.parts_per_divided_step);
        // A step that did not come to its end counts among the divided ones only.
        let divided = self.divided_steps.min(all);
        (divided > 0).then(|| format!("{divided} of {all} macro steps in {parts} parts each"))
    }

    /// `s1 812 steps, 1203 evaluations, 14 Jacobians, 3 repeated`, for a few parts.
    pub fn solver_line(&self) -> Option<String> {
        const SHOWN: usize = 3;
        let word = |(name, counts): (&String, &Value)| {
            let count = |key: &str| counts[key].as_u64().unwrap_or(0);
            let mut text = format!("{name} {} steps, {} evaluations", count("steps"), count("evaluations"));
            if count("jacobians") > 0 {
                text += &format!(", {} Jacobians", count("jacobians"));
            }
            match count("error_failures") + count("convergence_failures") {
                0 => text,
                repeated => text + &format!(", {repeated} repeated"),
            }
        };
        let mut words: Vec<String> = self.solvers.iter().take(SHOWN).map(word).collect();
        let others = self.solvers.len().saturating_sub(SHOWN);
        words.extend((others > 0).then(|| format!("{others} others")));
        (!words.is_empty()).then(|| words.join("; "))
    }
}

pub(super) fn control_work(counts: StepCounts) -> ControlWork {
    let StepCounts { shortest, longest, rejected, missed, .. } = counts;
    ControlWork {
        shortest_step: if shortest.is_finite() { shortest } else { 0.0 },
        longest_step: longest,
        rejected_steps: rejected,
        missed_steps: missed,
    }
}

/// Counts of the integrators, by part.
pub(super) fn solvers(engine: &Engine) -> Map<String, Value> {
    let counts = engine.descriptions().iter().zip(engine.solver_counts());
    let object = |counts: SolverCounts| {
        json!({
            "steps": counts.steps,
            "evaluations": counts.evaluations,
            "jacobians": counts.jacobians,
            "error_failures": counts.error_failures,
            "convergence_failures": counts.convergence_failures,
        })
    };
    counts.filter_map(|(part, counts)| Some((part.name.clone(), object(counts?)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_more_than_the_whole() {
        for (wall, parts, in_parallel) in [
            (1.0, vec![0.3, 0.4], false),
            (1.0, vec![3.0, 1.0], false),
            (1.0, vec![0.9, 0.8], true),
            (1e-9, vec![5.0, 0.0, 1e-300], false),
            (2.0, vec![], false),
            (0.7, vec![0.1; 12], false),
        ] {
            let mut seconds = parts.clone();
            let master_s = rest_of(wall, &mut seconds, in_parallel);
            let sum: f64 = seconds.iter().sum::<f64>() + master_s.unwrap_or(0.0);
            assert!(in_parallel || (sum / wall - 1.0).abs() < 1e-12, "{wall} {parts:?}: {sum}");
            let parts = seconds.iter().enumerate().map(|(i, s)| (format!("p{i}"), json!(s))).collect();
            let text = Times { parts, master_s }.shares(wall);
            let words: Vec<_> = text.split_whitespace().collect();
            let numbers =
                words.windows(2).filter(|pair| pair[1] == "%").filter_map(|pair| pair[0].parse().ok());
            let shares: Vec<f64> = numbers.collect();
            assert_eq!(shares.len(), text.matches('%').count(), "{text}");
            assert!(shares.iter().all(|share| *share <= 100.0), "{text}");
            // Each share is rounded by half a percent at most.
            assert!(shares.iter().sum::<f64>() <= 100.0 + 0.5 * shares.len() as f64, "{text}");
        }
        let times =
            Times { parts: [("a".to_owned(), json!(3.0))].into_iter().collect(), master_s: Some(1.0) };
        assert_eq!(times.shares(4.0), "a 75 %  master 25 %");
    }
}
