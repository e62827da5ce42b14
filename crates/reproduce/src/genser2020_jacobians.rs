//! The Interface Jacobians and the stiffness of helicopter and controller [T (4.5) to (4.10)].

use costep_core::{LocalModel, Result};
use costep_linalg::{Lu, Matrix, PseudoInverse, spectral_radius, variable_order_exponential};
use costep_report::{Axis, Figure, Look, Panel, Series};

use crate::case::Case;
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::study::{Computed, Study, number, short, statement};

/// Row of the registry.
pub(crate) const EQ_4_5: Study = Study {
    id: "genser2020-eq4.5",
    title: "helicopter: Interface Jacobians and stiffness of the subsystems",
    source: "[T] (4.5) to (4.10), beside Fig. 4.1",
    setup: "dS/dy = C A C^+ and dS/du = C B of the linear subsystems. An entry is as printed if it differs by at most 1 % of the greater of \
            itself and a thousandth of the greatest of its matrix. The helicopter is HE6 of COMPleib, the reference of the thesis; its \
            controller is not published: `bookI` has the published weights, `fit487` weights that were fitted to (4.10); both were given a \
            stiffness of 3.4e5. All studies of the helicopter run with `bookI`.",
    claims: &[
        statement(
            "(4.5), dS1/dy of the helicopter, 36 entries",
            "[T] (4.5), beside Fig. 4.2",
            "as printed",
            Kind::Property,
        ),
        statement(
            "(4.6), dS1/du of the helicopter, 24 entries",
            "[T] (4.6), beside Fig. 4.2",
            "as printed",
            Kind::Property,
        ),
        number(
            "greatest real part of an eigenvalue of A1",
            "[T] section 4.1.1, on Fig. 4.2",
            0.2342,
            "1/s",
            Kind::Number,
        ),
        statement(
            "(4.9), dS2/dy of the controller bookI, 16 entries",
            "[T] (4.9), after Fig. 4.4",
            "as printed",
            Kind::Property,
        ),
        statement(
            "(4.10), dS2/du of the controller bookI, 24 entries",
            "[T] (4.10), after Fig. 4.4",
            "as printed",
            Kind::Property,
        ),
        number(
            "greatest over least real part of the eigenvalues of A2",
            "[T] section 4.1.2, after Fig. 4.4",
            3.4e5,
            "",
            Kind::Number,
        ),
        number("stiffness of the whole system", "[T] section 4.1, before Fig. 4.1", 3.3e5, "", Kind::Number),
    ],
    compute: |_| compute(),
};

/// [T (4.5)].
const HELICOPTER_Y: [f64; 36] = [
    -2.91e-1, 1.37e-4, 1.70e-5, 4.45e-2, -1.51e-1, 1.69e-1, //
    0.0, 0.0, 0.0, 5.34e-2, 0.0, 1.0, //
    0.0, 0.0, 0.0, 5.95e-2, 1.0, 1.16e-6, //
    -1.38e-3, 0.0, 0.0, -7.35e-1, -2.06, -3.91e-1, //
    -5.79e-3, 0.0, 0.0, -6.36e-2, -11.6, -2.55, //
    3.16e-3, 0.0, 0.0, 0.0, 4.39e-1, -2.00,
];
/// [T (4.6)].
const HELICOPTER_U: [f64; 24] = [
    4.82, -3.11e-2, -3.00e-2, 1.25e-2, //
    0.0, 0.0, 0.0, 0.0, //
    0.0, 0.0, 0.0, 0.0, //
    3.06e-1, -1.05e-2, -4.97e-1, -2.07e-1, //
    1.24e-1, 8.28e-2, -2.75, -1.79e-2, //
    -3.64e-2, 4.75e-1, 1.43e-2, 0.0,
];
/// [T (4.9)].
const CONTROLLER_Y: [f64; 16] = [
    -22.5, -36.9, -3.05, 40.7, //
    -49.9, -213.0, -17.8, 237.0, //
    -4.83, -20.6, -0.278, 25.5, //
    54.1, 232.0, 21.9, -267.0,
];
/// [T (4.10)].
const CONTROLLER_U: [f64; 24] = [
    63.4, 190.0, -49.3, 187.0, -26.8, 12.5, //
    284.0, 1120.0, -286.0, 1080.0, -155.0, 73.3, //
    27.7, 106.0, -45.8, 116.0, -16.0, 5.33, //
    -304.0, -1190.0, 332.0, -1250.0, 169.0, -76.6,
];

/// A linear part with its Interface Jacobians.
struct Part {
    model: LocalModel,
    y: Matrix,
    u: Matrix,
}

impl Part {
    fn new(controller: f64, part: usize) -> Result<Self> {
        let model = Case::new("helicopter", &[("controller", controller)], 1.0).model()?;
        let mut local = LocalModel::default();
        if let Some(ode) = model.parts[part].ode() {
            let (n, m) = (ode.states(), ode.description().inputs.len());
            local = LocalModel::new(n, m, ode.description().outputs.len());
            ode.jacobians(0.0, &vec![0.0; n], &vec![0.0; m], &mut local);
        }
        let (n, m, r) = (local.states, local.inputs, local.outputs);
        let (a, b) = (Matrix::from_rows(n, n, &local.a), Matrix::from_rows(n, m, &local.b));
        let c = Matrix::from_rows(r, n, &local.c);
        let mut inverse = Matrix::zeros(n, r);
        PseudoInverse::new(r, n).compute(&c, 1e-12, &mut inverse);
        let product = |p: &Matrix, q: &Matrix| {
            let mut product = Matrix::zeros(p.rows(), q.columns());
            product.set_product(p, q);
            product
        };
        let (y, u) = (product(&product(&c, &a), &inverse), product(&c, &b));
        Ok(Self { model: local, y, u })
    }
}

/// Which entries are as printed, and how far the others are off.
fn compared(ours: &Matrix, printed: &[f64]) -> Measured {
    let greatest = printed.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    let deviation =
        |(ours, printed): (&f64, &f64)| (ours - printed).abs() / printed.abs().max(1e-3 * greatest);
    let all: Vec<f64> = ours.data().iter().zip(printed).map(deviation).collect();
    let equal = all.iter().filter(|deviation| **deviation <= 0.01).count();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let found = format!("{equal} of {} entries; mean deviation {} %", all.len(), short(100.0 * mean));
    Measured::cases(all.iter().map(|deviation| *deviation <= 0.01), found)
}

/// The greatest real part of an eigenvalue of `sign` A, from the spectral radius of its exponential over a time `t`.
fn greatest_real_part(a: &Matrix, sign: f64, t: f64) -> f64 {
    let mut scaled = a.clone();
    scaled.scale(sign * t);
    spectral_radius(&variable_order_exponential(&scaled)).ln() / t
}

/// Greatest over least modulus of the eigenvalues.
fn stiffness(a: &Matrix) -> f64 {
    let n = a.rows();
    let mut lu = Lu::new(n);
    lu.matrix_mut().copy_from(a);
    if !lu.factor() {
        return f64::INFINITY;
    }
    let mut inverse = Matrix::zeros(n, n);
    inverse.set_identity();
    lu.solve_columns(&mut inverse, &mut vec![0.0; n]);
    spectral_radius(a) * spectral_radius(&inverse)
}

/// A of the whole: u1 = y2, u2 = -y1.
fn whole(helicopter: &Part, controller: &Part) -> Matrix {
    let (n, m) = (helicopter.model.states, controller.model.states);
    let mut a = Matrix::zeros(n + m, n + m);
    let block = |a: &mut Matrix, at: (usize, usize), sign: f64, b: &LocalModel, c: &LocalModel| {
        for i in 0..b.states {
            for j in 0..c.states {
                let sum: f64 = (0..b.inputs).map(|k| b.b[i * b.inputs + k] * c.c[k * c.states + j]).sum();
                a[(at.0 + i, at.1 + j)] += sign * sum;
            }
        }
    };
    for (at, part) in [(0, helicopter), (n, controller)] {
        let states = part.model.states;
        (0..states * states).for_each(|k| a[(at + k / states, at + k % states)] = part.model.a[k]);
    }
    block(&mut a, (0, n), 1.0, &helicopter.model, &controller.model);
    block(&mut a, (n, 0), -1.0, &controller.model, &helicopter.model);
    a
}

fn compute() -> Result<Computed> {
    let helicopter = Part::new(1.0, 0)?;
    let controllers = [Part::new(1.0, 1)?, Part::new(2.0, 1)?];
    let square = |part: &Part| Matrix::from_rows(part.model.states, part.model.states, &part.model.a);
    let (a1, a2) = (square(&helicopter), square(&controllers[0]));
    let real_parts = greatest_real_part(&a2, -1.0, 0.1) / -greatest_real_part(&a2, 1.0, 100.0);
    let measured = vec![
        compared(&helicopter.y, &HELICOPTER_Y),
        compared(&helicopter.u, &HELICOPTER_U),
        Measured::Number(greatest_real_part(&a1, 1.0, 10.0)),
        compared(&controllers[0].y, &CONTROLLER_Y),
        compared(&controllers[0].u, &CONTROLLER_U),
        Measured::Number(real_parts),
        Measured::Number(stiffness(&whole(&helicopter, &controllers[0]))),
    ];
    let words = |measured: &Measured| match measured {
        Measured::Cases { found, .. } => found.clone(),
        _ => String::new(),
    };
    let fitted = [compared(&controllers[1].y, &CONTROLLER_Y), compared(&controllers[1].u, &CONTROLLER_U)];
    let mut data = Data::new(["entry", "printed", "bookI", "fit487"]);
    for (name, columns, printed, of) in [
        ("(4.9)", 4, &CONTROLLER_Y[..], [&controllers[0].y, &controllers[1].y]),
        ("(4.10)", 6, &CONTROLLER_U[..], [&controllers[0].u, &controllers[1].u]),
    ] {
        for (k, printed) in printed.iter().enumerate() {
            let name = format!("{name} {},{}", k / columns + 1, k % columns + 1);
            data.push_named(&name, vec![*printed, of[0].data()[k], of[1].data()[k]]);
        }
    }
    let points = |matrix: &Matrix| CONTROLLER_U.iter().copied().zip(matrix.data().iter().copied()).collect();
    let panel = Panel::new(Axis::new("printed"), Axis::new("here"))
        .with(Series::new("bookI", points(&controllers[0].u)).look(Look::Marked))
        .with(Series::new("fit487", points(&controllers[1].u)).look(Look::Marked));
    Ok(Computed {
        measured,
        data,
        figure: Figure::new("Entries of dS2/du of the controller")
            .panel(panel)
            .note("After Genser 2020, (4.10)."),
        remarks: vec![format!(
            "The controller fit487: (4.9) {}; (4.10) {}. So no run of the helicopter here is that of the thesis.",
            words(&fitted[0]),
            words(&fitted[1])
        )],
    })
}
