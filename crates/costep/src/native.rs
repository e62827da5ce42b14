//! Parts that are written in code: equations as closures, and subsystems of any kind.

use std::sync::Arc;

use costep_core::{Code, Description, Error, LocalModel, Port, PortSize, Restricted, Result, Subsystem};
use costep_integrate::{Ode, Renamable, Solver};
use costep_system::{Component, Variation};

/// f(t, x, u) or g(t, x, u), written into the last argument.
type Formula = Arc<dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync>;

/// Relative width of the differences that stand for derivatives: the cube root of the round-off.
const WIDTH: f64 = 6e-6;

/// Equations as closures: x' = f(t, x, u), y = g(t, x, u). Jacobians are central differences; a type of its
/// own that implements [`Ode`] can have exact ones.
///
/// ```
/// use costep::{NativePart, System};
///
/// // A mass that is pushed, and a spring with a damper that pushes back.
/// let mass = NativePart::new("mass", &[1.0, 0.0])
///     .input("force", "N", 1.0)
///     .output("x", "m", 1.0)
///     .output("v", "m/s", 1.0)
///     .derivatives(|_, x, u, dx| { dx[0] = x[1]; dx[1] = u[0] / 2.0; })
///     .outputs(|_, x, _, y| y.copy_from_slice(x));
/// let spring = NativePart::new("spring", &[])
///     .input("x", "m", 1.0)
///     .input("v", "m/s", 1.0)
///     .output_of("force", "N", 1.0, &["x", "v"])
///     .outputs(|_, _, u, y| y[0] = -100.0 * u[0] - 2.0 * u[1]);
/// let system = System::builder()
///     .native(mass)
///     .native(spring)
///     .connect("mass.x", "spring.x")
///     .connect("mass.v", "spring.v")
///     .connect("spring.force", "mass.force")
///     .stop(2.0)
///     .step(0.01)
///     .build()?;
/// let outcome = system.run(costep::Run::new().reference("same"))?;
/// assert!(outcome.report.errors.eps_mono.unwrap() < 0.1);
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone)]
pub struct NativePart {
    description: Description,
    start: Vec<f64>,
    derivatives: Formula,
    outputs: Formula,
}

impl NativePart {
    /// A part with these initial states, without ports yet.
    pub fn new(name: impl Into<String>, start: &[f64]) -> Self {
        Self {
            description: Description { name: name.into(), ..Description::default() },
            start: start.to_vec(),
            derivatives: Arc::new(|_, _, _, _| {}),
            outputs: Arc::new(|_, _, _, _| {}),
        }
    }

    /// Adds an input with its unit and typical size.
    pub fn input(mut self, name: &str, unit: &str, nominal: f64) -> Self {
        self.description.inputs.push(Port::new(name, unit, nominal));
        self
    }

    /// Adds an output that follows from time and states alone.
    pub fn output(self, name: &str, unit: &str, nominal: f64) -> Self {
        self.output_of(name, unit, nominal, &[])
    }

    /// Adds an output with direct feedthrough from these inputs, which were added before.
    ///
    /// # Panics
    ///
    /// If there is no such input.
    pub fn output_of(mut self, name: &str, unit: &str, nominal: f64, inputs: &[&str]) -> Self {
        let index = |input: &&str| {
            let found = self.description.inputs.iter().position(|port| port.name == *input);
            found.unwrap_or_else(|| panic!("`{}` has no input `{input}`", self.description.name))
        };
        let feedthrough = inputs.iter().map(index).collect();
        self.description.feedthrough.push(feedthrough);
        self.description.outputs.push(Port::new(name, unit, nominal));
        self
    }

    /// f(t, x, u, x').
    pub fn derivatives(
        mut self,
        f: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        self.derivatives = Arc::new(f);
        self
    }

    /// g(t, x, u, y). Outputs without direct feedthrough must not read inputs.
    pub fn outputs(mut self, g: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        self.outputs = Arc::new(g);
        self
    }

    /// Column by column the differences of f and g over one of their arguments.
    fn differences(
        &self,
        (t, x, u): (f64, &[f64], &[f64]),
        over_states: bool,
        mut write: impl FnMut(usize, &[f64], &[f64]),
    ) {
        let (states, outputs) = (self.start.len(), self.description.outputs.len());
        let (mut x, mut u) = (x.to_vec(), u.to_vec());
        let at = |x: &[f64], u: &[f64]| {
            let (mut x_dot, mut y) = (vec![0.0; states], vec![0.0; outputs]);
            (self.derivatives)(t, x, u, &mut x_dot);
            (self.outputs)(t, x, u, &mut y);
            (x_dot, y)
        };
        let count = if over_states { x.len() } else { u.len() };
        for j in 0..count {
            let mut shifted = |sign: f64| {
                let at_j = if over_states { &mut x[j] } else { &mut u[j] };
                let (before, width) = (*at_j, WIDTH * at_j.abs().max(1.0));
                *at_j = before + sign * width;
                let moved = *at_j;
                let values = at(&x, &u);
                *(if over_states { &mut x[j] } else { &mut u[j] }) = before;
                (moved, values)
            };
            let ((above, (f_above, g_above)), (below, (f_below, g_below))) = (shifted(1.0), shifted(-1.0));
            let slope = |a: &[f64], b: &[f64]| -> Vec<f64> {
                a.iter().zip(b).map(|(a, b)| (a - b) / (above - below)).collect()
            };
            write(j, &slope(&f_above, &f_below), &slope(&g_above, &g_below));
        }
    }
}

impl Renamable for NativePart {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for NativePart {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.start.len()
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        (self.derivatives)(t, x, u, x_dot);
    }

    fn outputs(&self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        (self.outputs)(t, x, u, y);
    }

    fn jacobians(&self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        let (states, inputs) = (self.start.len(), self.description.inputs.len());
        self.differences((t, x, u), true, |j, f, g| {
            f.iter().enumerate().for_each(|(i, value)| model.a[i * states + j] = *value);
            g.iter().enumerate().for_each(|(i, value)| model.c[i * states + j] = *value);
        });
        self.differences((t, x, u), false, |j, f, g| {
            f.iter().enumerate().for_each(|(i, value)| model.b[i * inputs + j] = *value);
            for (i, value) in g.iter().enumerate() {
                // Declared as without direct feedthrough: small differences are round-off.
                let through = self.description.feedthrough[i].contains(&j);
                model.d[i * inputs + j] = if through { *value } else { 0.0 };
            }
        });
    }
}

/// Makes a subsystem of this name.
type Factory = Arc<dyn Fn(&str) -> Result<Box<dyn Subsystem>> + Send + Sync>;

/// A subsystem of any kind as a part: whatever implements [`Subsystem`], made anew for every run.
///
/// ```
/// use costep::{Component, CustomPart, NativePart, Solver, Subsystem};
///
/// // A simulator of one's own implements `Subsystem`; here it is a clock that costep integrates.
/// fn my_simulator(name: &str) -> costep_core::Result<Box<dyn Subsystem>> {
///     let clock = NativePart::new(name, &[0.0]).output("time", "s", 1.0).derivatives(|_, _, _, dx| dx[0] = 1.0);
///     clock.outputs(|_, x, _, y| y.copy_from_slice(x)).subsystem(&Solver::Dopri5(1e-9))
/// }
/// let part = CustomPart::new("engine", my_simulator)?;
/// let system = costep::System::builder().native(part).stop(1.0).step(1e-3).build()?;
/// let mut run = system.start(costep::Run::new().method("zoh"))?;
/// run.run_until(1.0)?;
/// assert!((run.output("engine.time")? - 1.0).abs() < 1e-9);
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone)]
pub struct CustomPart {
    description: Description,
    /// Sizes of ports that are not those of the subsystems that are made.
    sizes: Vec<PortSize>,
    make: Factory,
}

impl CustomPart {
    /// A part whose subsystems this makes, by their name. It is called once to learn their description,
    /// which has to be the same for all but for the name.
    pub fn new(
        name: &str,
        make: impl Fn(&str) -> Result<Box<dyn Subsystem>> + Send + Sync + 'static,
    ) -> Result<Self> {
        Ok(Self::of(make(name)?.description().clone(), make))
    }

    /// The same with a description that is known.
    pub fn of(
        description: Description,
        make: impl Fn(&str) -> Result<Box<dyn Subsystem>> + Send + Sync + 'static,
    ) -> Self {
        Self { description, sizes: Vec::new(), make: Arc::new(make) }
    }
}

impl Component for CustomPart {
    fn description(&self) -> &Description {
        &self.description
    }

    fn subsystem(&self, _solver: &Solver) -> Result<Box<dyn Subsystem>> {
        let name = &self.description.name;
        let subsystem = (self.make)(name)?;
        match &subsystem.description().name {
            same if same == name && self.sizes.is_empty() => Ok(subsystem),
            same if same == name => {
                Ok(Restricted::new(subsystem).describe(|description| description.resize(&self.sizes)).boxed())
            }
            other => Err(Error::new(Code::Bug, format!("a part `{name}` was made under the name `{other}`"))),
        }
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        None
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        let mut copy = self.clone();
        by.apply(&mut copy.description);
        copy.sizes.extend_from_slice(by.sizes);
        Box::new(copy)
    }
}
