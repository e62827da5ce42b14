//! Coupled parts solved as one, with events.

mod common;

use std::cell::Cell;

use common::{Formulas, advance, describe, nothing, started};
use costep_core::{
    Code, Connection, Description, Experiment, External, InputPolynomials, LocalModel, Result, StateReader,
    StateWriter, Subsystem,
};
use costep_integrate::multistep::{AtPoint, Family};
use costep_integrate::{AfterEvent, Equations, Events, Integrated, Solver, Whole, members};

const BDF: Solver = Solver::Multistep(Family::Bdf, 1e-9, AtPoint::Proceed);
const ADAMS: Solver = Solver::Multistep(Family::Adams, 1e-9, AtPoint::Proceed);

/// x' = -x + u, y = x.
fn room(start: f64) -> Formulas {
    let mut ode = Formulas::new("room", 1, &[0.0], |_, x, u, x_dot| x_dot[0] = u[0] - x[0]);
    ode.start[0] = start;
    ode.jacobians = |_, _, model| {
        (model.a[0], model.b[0], model.c[0], model.d[0]) = (-1.0, 1.0, 1.0, 0.0);
    };
    ode
}

/// Heats with 2 until 1.2 is reached, then waits until it is down to 0.8. Its output has no equations of its own.
struct Thermostat {
    description: Description,
    heats: bool,
}

impl Equations for Thermostat {
    fn description(&self) -> &Description {
        &self.description
    }
    fn states(&self) -> usize {
        0
    }
    fn start(&mut self, _t: f64, _x: &mut [f64], _u: &mut [f64]) -> Result<AfterEvent> {
        self.heats = true;
        Ok(AfterEvent::default())
    }
    fn nominals(&self, _x: &mut [f64]) {}
    fn derivatives(&mut self, _t: f64, _x: &[f64], _u: &[f64], _x_dot: &mut [f64]) -> Result<()> {
        Ok(())
    }
    fn outputs(&mut self, _t: f64, _x: &[f64], _u: &[f64], y: &mut [f64]) -> Result<()> {
        y[0] = if self.heats { 2.0 } else { 0.0 };
        Ok(())
    }
    fn jacobians(&mut self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) -> Result<()> {
        model.d.fill(0.0);
        Ok(())
    }
    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }
}

impl Events for Thermostat {
    fn indicators(&mut self) -> usize {
        2
    }
    fn event_indicators(&mut self, _t: f64, _x: &[f64], u: &[f64], z: &mut [f64]) -> Result<()> {
        z.copy_from_slice(&[u[0] - 1.2, u[0] - 0.8]);
        Ok(())
    }
    fn wants_completed_steps(&mut self) -> bool {
        false
    }
    fn step_completed(&mut self, _t: f64, _x: &[f64], _u: &[f64]) -> Result<bool> {
        Ok(false)
    }
    fn event(&mut self, _t: f64, _x: &mut [f64], u: &[f64]) -> Result<AfterEvent> {
        self.heats = if self.heats { u[0] < 1.2 - 1e-9 } else { u[0] <= 0.8 + 1e-9 };
        Ok(AfterEvent::default())
    }
}

fn equations(parts: &[Formulas]) -> Vec<Box<dyn Equations>> {
    parts.iter().map(|part| Box::new(part.clone()) as Box<dyn Equations>).collect()
}

fn connect(output: usize, input: usize) -> Connection {
    Connection { output, input, gain: 1.0 }
}

fn heated_room(solver: &Solver) -> Vec<Box<dyn Subsystem>> {
    let thermostat = Thermostat { description: describe("thermostat", 1, &[&[]]), heats: true };
    let parts: Vec<Box<dyn Equations>> = vec![Box::new(room(0.0)), Box::new(thermostat)];
    members(parts, &[connect(0, 1), connect(1, 0)], Vec::new(), solver).unwrap()
}

/// Runs members; gives their outputs at the ends of all steps, one row each.
fn run(members: &mut [Box<dyn Subsystem>], step: f64, steps: u64) -> Vec<Vec<f64>> {
    let experiment = Experiment { start: 0.0, stop: step * steps as f64, step };
    members.iter_mut().for_each(|member| member.initialise(&experiment).unwrap());
    (0..steps).map(|k| advance_all(members, &experiment, k)).collect()
}

fn advance_all(members: &mut [Box<dyn Subsystem>], experiment: &Experiment, k: u64) -> Vec<f64> {
    let mut row = Vec::new();
    for member in members {
        let (inputs, outputs) = (member.description().inputs.len(), member.description().outputs.len());
        // What they are told does not matter.
        let mut u = InputPolynomials::new(inputs, 0);
        u.coefficients_mut(0).fill(1e3);
        let mut y = vec![0.0; outputs];
        let outcome = member.step(experiment.interval(k), u.segment(0..inputs, 0), &mut y).unwrap();
        assert_eq!(outcome.reached, experiment.time(k + 1));
        row.extend(y);
    }
    row
}

#[test]
fn the_event_of_a_part_acts_on_the_others_at_once() {
    let switched = 2.5_f64.ln();
    let half = 1.5_f64.ln();
    // From 1.2 down to 0.8 and up again, each in ln 1.5.
    let exact = |t: f64| {
        if t < switched {
            return (2.0 * (1.0 - (-t).exp()), 2.0);
        }
        let phase = (t - switched) % (2.0 * half);
        if phase < half { (1.2 * (-phase).exp(), 0.0) } else { (2.0 - 1.2 * (-(phase - half)).exp(), 2.0) }
    };
    for (solver, allowed) in
        [(Solver::Dopri5(1e-10), 1e-8), (BDF, 1e-6), (ADAMS, 1e-6), (Solver::Rk4(1e-2), 1e-6)]
    {
        let rows = run(&mut heated_room(&solver), 0.1, 100);
        for (k, row) in rows.iter().enumerate() {
            let (temperature, heat) = exact(0.1 * (k + 1) as f64);
            assert!((row[0] - temperature).abs() < allowed, "{}: {row:?}, {temperature}", solver.label());
            assert_eq!(row[1], heat, "{} step {k}", solver.label());
        }
    }
}

/// cubic and sine in a ring, the sine with feedthrough, under an external input.
fn ring() -> ([Formulas; 2], [Connection; 2], Vec<(usize, External)>) {
    let mut cubic = Formulas::new("cubic", 1, &[0.5], |_, x, u, x_dot| x_dot[0] = u[0] - x[0].powi(3));
    cubic.jacobians = |x, _, model| {
        (model.a[0], model.b[0], model.c[0], model.d[0]) = (-3.0 * x[0] * x[0], 1.0, 1.0, 0.0);
    };
    cubic.energy = |x, _| Some(x[0]);
    let mut sine = Formulas::new("sine", 1, &[0.25], |_, x, u, x_dot| x_dot[0] = u[0] - x[0]);
    sine.description = describe("sine", 1, &[&[0]]);
    sine.g = |_, x, u, y| y[0] = x[0] + u[0].sin();
    sine.jacobians = |_, u, model| {
        (model.a[0], model.b[0], model.c[0], model.d[0]) = (-1.0, 1.0, 1.0, u[0].cos());
    };
    let push = External::Sine { amplitude: 0.3, frequency: 0.5, phase: 0.0, start: 0.0 };
    ([cubic, sine], [connect(0, 1), connect(1, 0)], vec![(0, push)])
}

fn ring_members(solver: &Solver) -> Vec<Box<dyn Subsystem>> {
    let (parts, connections, externals) = ring();
    let parts = equations(&parts);
    members(parts, &connections, externals, solver).unwrap()
}

#[test]
fn native_parts_are_solved_as_they_are_without_events() {
    for (solver, allowed) in [(Solver::Dopri5(1e-11), 1e-10), (Solver::Rk4(1e-3), 1e-12), (BDF, 1e-7)] {
        let (parts, connections, externals) = ring();
        let equations = equations(&parts);
        let whole = Whole::new(equations, &connections, externals).unwrap().without_events();
        let mut twin = started(whole, &Solver::Dopri5(1e-12), 0.0, 0.1);
        for (k, row) in run(&mut ring_members(&solver), 0.1, 50).iter().enumerate() {
            let interval = Experiment { start: 0.0, stop: 5.0, step: 0.1 }.interval(k as u64);
            let y = advance(&mut twin, interval.start, interval.end, &nothing());
            let apart = row.iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < allowed, "{} step {k}: {apart:e}", solver.label());
        }
    }
}

/// A jump of an external input is an event: no step is tried across it.
#[test]
fn jumps_from_outside_are_hit_exactly() {
    for solver in [Solver::Dopri5(1e-10), BDF, ADAMS, Solver::Rk4(1e-2)] {
        let jump = External::Step { value: 3.0, start: 0.35 };
        let parts = equations(&[room(1.0)]);
        let mut whole = members(parts, &[], vec![(0, jump)], &solver).unwrap();
        let rows = run(&mut whole, 0.1, 10);
        let exact = |t: f64| (-t).exp() + if t > 0.35 { 3.0 * (1.0 - (0.35 - t).exp()) } else { 0.0 };
        for (k, row) in rows.iter().enumerate() {
            let error = (row[0] - exact(0.1 * (k + 1) as f64)).abs();
            assert!(error < 1e-7, "{} step {k}: {error:e}", solver.label());
        }
    }
}

#[test]
fn micro_samples_and_energy_are_those_of_each_part() {
    let mut whole = ring_members(&Solver::Dopri5(1e-10));
    let experiment = Experiment { start: 0.0, stop: 1.0, step: 0.1 };
    for member in &mut whole {
        member.micro_recorder().unwrap().record(true, &experiment);
        member.initialise(&experiment).unwrap();
    }
    let row = advance_all(&mut whole, &experiment, 0);
    for (member, end) in whole.iter().zip(&row) {
        let samples = member.telemetry().unwrap().micro_samples().unwrap();
        assert_eq!(samples.times.len(), samples.outputs.len());
        assert!(samples.times.len() > 10 && samples.times.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(samples.outputs.last(), Some(end));
    }
    assert_eq!(whole[0].telemetry().unwrap().energy(), Some(row[0]));
    assert_eq!(whole[1].telemetry().unwrap().energy(), None);
}

#[test]
fn paused_steps_leave_the_samples_of_the_last_one_recorded() {
    let experiment = Experiment { start: 0.0, stop: 1.0, step: 0.1 };
    let (parts, ..) = ring();
    let alone = Integrated::new(parts[0].clone(), &Solver::Dopri5(1e-8)).unwrap();
    for mut subsystems in [ring_members(&Solver::Dopri5(1e-8)), vec![Box::new(alone) as Box<dyn Subsystem>]] {
        for subsystem in &mut subsystems {
            subsystem.micro_recorder().unwrap().record(true, &experiment);
            subsystem.initialise(&experiment).unwrap();
        }
        for (k, is_paused, end) in [(0, false, 0.1), (1, true, 0.1), (2, false, experiment.time(3))] {
            let pause = |subsystems: &mut [Box<dyn Subsystem>], on| {
                subsystems.iter_mut().for_each(|s| s.micro_recorder().unwrap().pause(on));
            };
            pause(&mut subsystems, is_paused);
            advance_all(&mut subsystems, &experiment, k);
            pause(&mut subsystems, false);
            for subsystem in &subsystems {
                let samples = subsystem.telemetry().unwrap().micro_samples().unwrap();
                assert_eq!(samples.times.last(), Some(&end), "{} step {k}", subsystem.description().name);
            }
        }
    }
}

/// Two parts that depend on each other without delay: y1 = x1 + sin(y2), y2 = x2 + sin(y1).
fn loop_members(solver: &Solver) -> Vec<Box<dyn Subsystem>> {
    let ([_, sine], ..) = ring();
    members(equations(&[sine.clone(), sine]), &[connect(0, 1), connect(1, 0)], Vec::new(), solver).unwrap()
}

#[test]
fn a_saved_whole_goes_on_bit_by_bit() {
    for (solver, ring_members) in [Solver::Dopri5(1e-8), BDF, ADAMS]
        .into_iter()
        .flat_map(|solver| [(solver, ring_members as fn(&Solver) -> _), (solver, loop_members)])
    {
        let experiment = Experiment { start: 0.0, stop: 2.0, step: 0.1 };
        let mut first = ring_members(&solver);
        run(&mut first, 0.1, 7);
        let mut out = StateWriter::default();
        first.iter().for_each(|member| member.persistence().unwrap().save(&mut out).unwrap());
        let bytes = out.into_bytes();
        let mut second = ring_members(&solver);
        second.iter_mut().for_each(|member| member.initialise(&experiment).unwrap());
        let mut from = StateReader::new(&bytes);
        second.iter_mut().for_each(|member| member.persistence_mut().unwrap().load(&mut from).unwrap());
        for k in 7..20 {
            let rows = [&mut first, &mut second].map(|whole| advance_all(whole, &experiment, k));
            assert_eq!(rows[0], rows[1], "{} step {k}", solver.label());
        }
    }
}

/// y = x - 1.5 u all around a ring of three: the loop is solved to round-off, which goes around and grows. That is no event.
#[test]
fn a_loop_with_a_gain_above_one_is_settled_at_the_start() {
    let ([_, sine], ..) = ring();
    let gained: fn(f64, &[f64], &[f64], &mut [f64]) = |_, x, u, y| y[0] = x[0] - 1.5 * u[0];
    let slope: fn(&[f64], &[f64], &mut LocalModel) = |_, _, model| model.d[0] = -1.5;
    let part = Formulas { g: gained, jacobians: slope, ..sine };
    let parts = equations(&[part.clone(), part.clone(), part]);
    let connections = [connect(0, 1), connect(1, 2), connect(2, 0)];
    let mut whole = members(parts, &connections, Vec::new(), &Solver::Dopri5(1e-8)).unwrap();
    // x' = u - x from 0.25 in all three: y = x / 2.5 = u all around.
    let rows = run(&mut whole, 1e-2, 5);
    for (k, row) in rows.iter().enumerate() {
        let exact = 0.1 * (-0.6 * 1e-2 * (k + 1) as f64).exp();
        assert!(row.iter().all(|y| (y - exact).abs() < 1e-7), "{row:?}, {exact}");
    }
}

thread_local! {
    static EVALUATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The same loop with these slopes D of its parts: its rows, and how often outputs were evaluated.
fn solved_with(slopes: fn(&[f64], &[f64], &mut LocalModel)) -> (Vec<Vec<f64>>, usize) {
    let ([_, sine], ..) = ring();
    let counted: fn(f64, &[f64], &[f64], &mut [f64]) = |_, x, u, y| {
        EVALUATIONS.set(EVALUATIONS.get() + 1);
        y[0] = x[0] + u[0].sin();
    };
    let sine = Formulas { g: counted, jacobians: slopes, ..sine };
    let parts = equations(&[sine.clone(), sine]);
    let mut whole = members(parts, &[connect(0, 1), connect(1, 0)], Vec::new(), &Solver::Rk4(1e-2)).unwrap();
    EVALUATIONS.set(0);
    (run(&mut whole, 1e-2, 50), EVALUATIONS.get())
}

#[test]
fn loops_are_solved_with_the_slopes_of_their_parts_which_are_not_believed() {
    let (by_differences, many) = solved_with(|_, _, model| model.d[0] = f64::NAN);
    let (exact, few) = solved_with(|_, u, model| model.d[0] = u[0].cos());
    let (misled, most) = solved_with(|_, u, model| model.d[0] = 3.0 + u[0].cos());
    assert!(few < many && many < most, "{few} {many} {most}");
    for rows in [exact, misled] {
        let apart = |(a, b): (&Vec<f64>, &Vec<f64>)| (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
        let apart = rows.iter().zip(&by_differences).map(apart).fold(0.0, f64::max);
        assert!(apart < 1e-10, "{apart:e}");
    }
}

#[test]
fn loops_without_delay_and_failures_are_named() {
    // y = x + 2 + y^2 has no solution.
    let ([_, mut sine], ..) = ring();
    sine.g = |_, x, u, y| y[0] = x[0] + 2.0 + u[0] * u[0];
    let mut alone = members(equations(&[sine]), &[connect(0, 0)], Vec::new(), &BDF).unwrap();
    let experiment = Experiment { start: 0.0, stop: 1.0, step: 0.1 };
    alone[0].initialise(&experiment).unwrap();
    let nothing = InputPolynomials::new(1, 0);
    let error = alone[0].step(experiment.interval(0), nothing.segment(0..1, 0), &mut [0.0]).unwrap_err();
    assert_eq!(error.code(), Code::AlgebraicLoop, "{error}");

    let mut burst = Formulas::new("burst", 0, &[1.0], |_, x, _, x_dot| x_dot[0] = x[0] * x[0]);
    burst.jacobians = |x, _, model| (model.a[0], model.c[0]) = (2.0 * x[0], 1.0);
    let (parts, connections) = ([room(0.0), burst], [connect(1, 0)]);
    for solver in [BDF, Solver::Dopri5(1e-8)] {
        let parts = equations(&parts);
        let mut whole = members(parts, &connections, Vec::new(), &solver).unwrap();
        let experiment = Experiment { start: 0.0, stop: 2.0, step: 2.0 };
        whole.iter_mut().for_each(|member| member.initialise(&experiment).unwrap());
        let nothing = InputPolynomials::new(1, 0);
        let error = whole[0].step(experiment.interval(0), nothing.segment(0..1, 0), &mut [0.0]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("burst.x[0]") && text.contains("t = "), "{}: {text}", solver.label());
    }
}

#[test]
fn order_and_steps_are_told() {
    let experiment = Experiment { start: 0.0, stop: 2.0, step: 0.1 };
    let mut whole = ring_members(&BDF);
    let names = |member: &dyn Subsystem| member.telemetry().unwrap().diagnostic_names().to_vec();
    assert_eq!(names(&*whole[0]), costep_integrate::DIAGNOSTICS);
    assert!(names(&*whole[1]).is_empty(), "one integrator has one history");
    assert!(names(&*ring_members(&Solver::Rk4(1e-3))[0]).is_empty());
    let mut told = [0.0; 3];
    run(&mut whole, 0.1, 20);
    whole[0].telemetry().unwrap().diagnostics(&mut told);
    let [order, step, steps] = told;
    assert!((2.0..=5.0).contains(&order), "{order}");
    assert!(step > 0.0 && step <= experiment.step && (1.0..100.0).contains(&steps), "{step} {steps}");
}
