//! Steps of FMI 3.0, with calls of the importer inside (intermediate update).
#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]
// SAFETY: as in `fmi3`.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::ffi::c_void;

use costep_core::Interval;

use crate::abi::{Component, Handle, OK, Status, Update, call, put};
use crate::plan::Capability;
use crate::requested_inputs::{REQUESTED_INSTANTS, instant};

#[unsafe(no_mangle)]
unsafe extern "C" fn fmi3DoStep(
    c: Handle,
    start: f64,
    length: f64,
    _no_return: bool,
    event: *mut bool,
    end: *mut bool,
    early: *mut bool,
    last: *mut f64,
) -> Status {
    let mut update = None;
    unsafe {
        [event, end, early].into_iter().for_each(|flag| put(flag, false));
        put(last, start);
        let status = call(c, |component| {
            component.instance.check_step(start, length)?;
            update = component.update.filter(|_| component.instance.plan.can(Capability::Intermediate));
            if update.is_none() {
                component.instance.advance(Interval { start, end: start + length, length })?;
            }
            Ok(())
        });
        let status = match update {
            Some(update) if status == OK => step_with_updates(c, (start, length), update),
            _ => status,
        };
        if status == OK {
            put(last, start + length);
        }
        status
    }
}

/// A step with calls of the importer inside. It calls back into the instance, so that nothing of it may be borrowed
/// meanwhile.
unsafe fn step_with_updates(c: Handle, span: (f64, f64), importer: (Update, *mut c_void)) -> Status {
    let component: *mut Component = c.cast();
    unsafe {
        match (*component).instance.holds_inputs() {
            true => step_by_inner_steps(c, span, importer),
            false => step_under_polynomials(c, span, importer),
        }
    }
}

/// Calls the importer: it may set inputs, or get outputs.
unsafe fn call_back((update, environment): (Update, *mut c_void), time: f64, set: bool, get: bool) {
    let (mut early, mut early_time) = (false, 0.0);
    unsafe { update(environment, time, set, get, get, false, &raw mut early, &raw mut early_time) };
}

/// Inner step by inner step with a call of the importer after each.
unsafe fn step_by_inner_steps(
    c: Handle,
    (start, length): (f64, f64),
    importer: (Update, *mut c_void),
) -> Status {
    let component: *mut Component = c.cast();
    let (steps, end) = (unsafe { (*component).instance.inner_steps(length) }, start + length);
    let part = length / steps as f64;
    for step in 0..steps {
        let from = start + step as f64 * part;
        let to = if step + 1 == steps { end } else { start + (step + 1) as f64 * part };
        let interval = Interval { start: from, end: to, length: part };
        let status = unsafe { call(c, |component| component.instance.advance(interval)) };
        if status != OK {
            return status;
        }
        unsafe { call_back(importer, to, true, true) };
    }
    OK
}

/// Keeps the present inputs as those at an instant of the step.
unsafe fn keep_inputs(c: Handle, instant: usize) -> Status {
    let keep = |component: &mut Component| {
        component.instance.keep_inputs(instant);
        Ok(())
    };
    unsafe { call(c, keep) }
}

/// Asks for the inputs at instants of the step, integrates under the polynomials through them, and shows the solution
/// inside the step.
unsafe fn step_under_polynomials(
    c: Handle,
    (start, length): (f64, f64),
    importer: (Update, *mut c_void),
) -> Status {
    let end = start + length;
    let mut points = 0;
    let mut status = unsafe { keep_inputs(c, 0) };
    for k in 1..REQUESTED_INSTANTS {
        let time = if k + 1 == REQUESTED_INSTANTS { end } else { start + instant(k) * length };
        if status == OK {
            unsafe { call_back(importer, time, true, false) };
            status = unsafe { keep_inputs(c, k) };
        }
    }
    if status == OK {
        let interval = Interval { start, end, length };
        let advance = |component: &mut Component| {
            points = component.instance.advance_with_requested_inputs(interval)?;
            Ok(())
        };
        status = unsafe { call(c, advance) };
    }
    for point in 1..points {
        let mut time = end;
        let show = |component: &mut Component| {
            time = component.instance.show(point);
            Ok(())
        };
        if status == OK {
            status = unsafe { call(c, show) };
            unsafe { call_back(importer, time, false, true) };
        }
    }
    status
}
