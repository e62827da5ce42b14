//! Events of native equations: where they are found, and that they end.

use costep_core::{
    Code, Description, Error, Experiment, InputPolynomials, Interval, LocalModel, MicroBuffer, MicroSampling,
    Port, Result, StateReader, StateWriter, Subsystem,
};
use costep_integrate::{AfterEvent, Equations, EventDriver, Events, Integrated, Integrator, Sampler, Solver};

const G: f64 = 9.81;

/// A ball that bounces, and at times that are known before is kicked by its input.
struct Ball {
    restitution: f64,
    /// Below this speed it stays on the floor.
    threshold: f64,
    rests: bool,
    period: Option<f64>,
    kicks: u64,
    events: Vec<f64>,
    description: Description,
}

impl Ball {
    fn new(restitution: f64, threshold: f64) -> Self {
        let port = |name: &str| Port::new(name, "m", 1.0);
        let description = Description {
            name: "ball".into(),
            inputs: vec![port("kick")],
            outputs: vec![port("height")],
            feedthrough: vec![Default::default()],
            ..Description::default()
        };
        Self { restitution, threshold, rests: false, period: None, kicks: 0, events: vec![], description }
    }

    fn next(&self) -> Option<f64> {
        self.period.map(|period| (self.kicks + 1) as f64 * period)
    }
}

impl Equations for Ball {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    fn start(&mut self, _t: f64, x: &mut [f64], _u: &mut [f64]) -> Result<AfterEvent> {
        x.copy_from_slice(&[1.0, 0.0]);
        Ok(AfterEvent { states_changed: true, next: self.next() })
    }

    fn nominals(&self, x: &mut [f64]) {
        x.fill(1.0);
    }

    fn derivatives(&mut self, _t: f64, x: &[f64], _u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        (x_dot[0], x_dot[1]) = if self.rests { (0.0, 0.0) } else { (x[1], -G) };
        Ok(())
    }

    fn jacobians(&mut self, _t: f64, _x: &[f64], _u: &[f64], _model: &mut LocalModel) -> Result<()> {
        Err(Error::new(Code::NeedsMissing, "not needed here"))
    }

    fn outputs(&mut self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) -> Result<()> {
        y[0] = x[0];
        Ok(())
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }
}

impl Events for Ball {
    fn indicators(&mut self) -> usize {
        1
    }

    fn event_indicators(&mut self, _t: f64, x: &[f64], _u: &[f64], z: &mut [f64]) -> Result<()> {
        z[0] = if self.rests { 1.0 } else { x[0] };
        Ok(())
    }

    fn wants_completed_steps(&mut self) -> bool {
        false
    }

    fn step_completed(&mut self, _t: f64, _x: &[f64], _u: &[f64]) -> Result<bool> {
        Ok(false)
    }

    fn event(&mut self, t: f64, x: &mut [f64], u: &[f64]) -> Result<AfterEvent> {
        self.events.push(t);
        let mut states_changed = false;
        if x[0] <= 0.0 && x[1] < 0.0 {
            (x[0], x[1]) = (f64::MIN_POSITIVE, -self.restitution * x[1]);
            self.rests = x[1] < self.threshold;
            states_changed = true;
        }
        if self.next().is_some_and(|next| t >= next) {
            self.kicks += 1;
            x[1] += u[0];
            states_changed = true;
        }
        Ok(AfterEvent { states_changed, next: self.next() })
    }
}

struct Run {
    ball: Ball,
    driver: EventDriver,
    integrator: Box<dyn Integrator>,
    x: [f64; 2],
    k: u64,
    h: f64,
}

impl Run {
    fn new(mut ball: Ball, solver: Solver, h: f64) -> Self {
        let integrator = solver.integrator(&mut ball).unwrap();
        let mut driver = EventDriver::new(2, 1, 1);
        let mut x = [1.0, 0.0];
        let after = AfterEvent { states_changed: false, next: ball.next() };
        driver.start(&mut ball, (0.0, &mut x, &[0.0]), after).unwrap();
        Self { ball, driver, integrator, x, k: 0, h }
    }

    fn step(&mut self, u: f64, sampler: Option<&mut Sampler>) -> Result<()> {
        let interval =
            Interval { start: self.k as f64 * self.h, end: (self.k + 1) as f64 * self.h, length: self.h };
        let mut input = InputPolynomials::new(1, 0);
        input.coefficients_mut(0)[0] = u;
        self.k += 1;
        let segment = input.segment(0..1, 0);
        self.driver.advance(&mut *self.integrator, &mut self.ball, interval, segment, &mut self.x, sampler)
    }
}

/// Times of the first bounces of a ball dropped from 1 m.
fn bounces(restitution: f64, count: i32) -> Vec<f64> {
    let first = (2.0 / G).sqrt();
    // t_n = t_1 (1 + 2 (e + e^2 + .. + e^n)).
    (0..count).map(|n| first * (1.0 + 2.0 * (1..=n).map(|i| restitution.powi(i)).sum::<f64>())).collect()
}

#[test]
fn bounces_are_where_the_formula_says() {
    for h in [0.1, 0.03, 1.0, 10.0] {
        let mut run = Run::new(Ball::new(0.8, 0.05), Solver::Dopri5(1e-10), h);
        while (run.k as f64) * h < 10.0 {
            run.step(0.0, None).unwrap();
        }
        assert!(run.ball.rests);
        // v_n = 0.8^n v_1 falls below 0.05 m/s.
        let count = ((0.05f64 / (2.0 * G).sqrt()).ln() / 0.8f64.ln()).ceil() as i32;
        let expected = bounces(0.8, count);
        assert_eq!(run.ball.events.len(), expected.len(), "h = {h}");
        for (found, expected) in run.ball.events.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}, h = {h}");
        }
        assert_eq!(run.driver.counts().state, expected.len() as u64);
    }
}

#[test]
fn fixed_steps_find_events_to_their_order() {
    let error = |solver| {
        let mut run = Run::new(Ball::new(0.8, 0.05), solver, 0.1);
        (0..10).for_each(|_| run.step(0.0, None).unwrap());
        (run.ball.events[0] - bounces(0.8, 1)[0]).abs()
    };
    let (coarse, fine) = (error(Solver::Euler(2e-3)), error(Solver::Euler(1e-3)));
    assert!((1.9..2.1).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
    // A parabola is exact for order 4.
    assert!(error(Solver::Rk4(0.05)) < 1e-14);
}

#[test]
fn time_events_are_hit_exactly_and_take_the_input_of_their_step() {
    for h in [0.1, 0.07, 1.0] {
        let mut ball = Ball::new(0.8, 0.05);
        ball.period = Some(0.1);
        let mut run = Run::new(ball, Solver::Dopri5(1e-8), h);
        while run.ball.kicks < 4 {
            run.step(1.0, None).unwrap();
        }
        // The first event is the jump of the input at the start.
        for (found, kick) in run.ball.events.iter().zip(0..5) {
            assert_eq!(*found, f64::from(kick) * 0.1, "h = {h}");
        }
        let counts = run.driver.counts();
        assert_eq!(counts.input, 1);
        assert!(counts.time >= 4);
    }
}

#[test]
fn samples_show_both_sides_of_an_event() {
    let mut run = Run::new(Ball::new(0.8, 0.05), Solver::Dopri5(1e-8), 0.5);
    let mut sampler = Sampler::of_outputs(2, 1, MicroBuffer::with_capacity(30, 1));
    run.step(0.0, Some(&mut sampler)).unwrap();
    let samples = sampler.outputs().unwrap().samples(MicroSampling::Continuous);
    let seen: Vec<_> = samples.times.iter().zip(samples.outputs).collect();
    assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    assert_eq!((*seen[0].0, *seen[seen.len() - 1].0), (0.0, 0.5));
    assert_eq!(seen.len(), 21 + 2);
    let bounce = bounces(0.8, 1)[0];
    for (t, height) in seen {
        let s = (t - bounce).max(0.0);
        let expected =
            if *t < bounce { 1.0 - 0.5 * G * t * t } else { 0.8 * G * bounce * s - 0.5 * G * s * s };
        assert!((height - expected).abs() < 1e-8, "{height} instead of {expected} at {t}");
    }
}

#[test]
fn bouncing_ever_faster_is_an_error() {
    let mut run = Run::new(Ball::new(0.5, 0.0), Solver::Dopri5(1e-8), 0.1);
    let error = (0..100).find_map(|_| run.step(0.0, None).err()).unwrap();
    assert_eq!(error.code(), Code::EventsWithoutEnd);
    assert!(error.to_string().contains("`ball`") && error.to_string().contains("t = 1.35"), "{error}");
}

#[test]
fn events_in_the_past_are_an_error() {
    let mut ball = Ball::new(0.5, 0.1);
    ball.period = Some(-1.0);
    let mut driver = EventDriver::new(2, 1, 1);
    let after = AfterEvent { states_changed: false, next: ball.next() };
    let error = driver.start(&mut ball, (0.0, &mut [1.0, 0.0], &[0.0]), after).unwrap_err();
    assert_eq!(error.code(), Code::EventsWithoutEnd);
    assert!(error.to_string().contains("announced a time event at t = -"), "{error}");
}

#[test]
fn what_is_carried_on_can_be_saved() {
    let new = || {
        let mut ball = Ball::new(0.8, 0.05);
        ball.period = Some(0.13);
        Run::new(ball, Solver::Dopri5(1e-8), 0.1)
    };
    let mut run = new();
    (0..7).for_each(|_| run.step(0.5, None).unwrap());
    let mut out = StateWriter::default();
    run.driver.save(&mut out);
    run.integrator.save(&mut out);
    let bytes = out.into_bytes();
    let mut other = new();
    let mut from = StateReader::new(&bytes);
    other.driver.load(&mut from).unwrap();
    other.integrator.load(&mut from).unwrap();
    from.finish().unwrap();
    (other.x, other.k, other.ball.kicks, other.ball.rests) = (run.x, run.k, run.ball.kicks, run.ball.rests);
    for _ in 0..20 {
        run.step(0.5, None).unwrap();
        other.step(0.5, None).unwrap();
        assert_eq!(run.x, other.x);
    }
}

#[test]
fn equations_with_events_are_a_subsystem_as_any() {
    for solver in [Solver::Dopri5(1e-8), Solver::Euler(1e-3)] {
        let mut run = Run::new(Ball::new(0.8, 0.05), solver, 0.1);
        let mut subsystem = Integrated::new(Ball::new(0.8, 0.05), &solver).unwrap();
        let experiment = Experiment { start: 0.0, stop: 5.0, step: 0.1 };
        let mut y = [0.0];
        subsystem.initialise(&experiment).unwrap();
        subsystem.initial_outputs(&[0.0], &mut y).unwrap();
        let held = InputPolynomials::new(1, 0);
        for k in 0..experiment.steps() {
            run.step(0.0, None).unwrap();
            subsystem.step(experiment.interval(k), held.segment(0..1, 0), &mut y).unwrap();
            assert_eq!((subsystem.state(), y[0]), (&run.x[..], run.x[0]), "{} step {k}", solver.label());
        }
        assert_eq!(subsystem.event_counts(), run.driver.counts());
        assert!(subsystem.event_counts().state > 5 && subsystem.equations().rests);
    }
}
