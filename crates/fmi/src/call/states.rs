//! States of FMUs: get, set, free, serialise; and directional derivatives.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;

use costep_core::{Code, Result};

use crate::call::instance::Instance;
use crate::call::library::Functions;
use crate::trace::Call;

/// Bytes of a state that is kept in a checkpoint at most.
const LARGEST_STATE: usize = 1 << 30;

/// A stored state of one instance. It has to be given back to [`Instance::free_state`]; the FMU owns what is behind.
#[derive(Debug)]
pub(crate) struct FmuState(*mut c_void);

// SAFETY: a handle that only its instance looks behind, which is moved together with it.
unsafe impl Send for FmuState {}

impl FmuState {
    /// No state yet.
    pub(crate) fn none() -> Self {
        Self(ptr::null_mut())
    }

    /// Whether there is none.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_null()
    }
}

/// The function of this name, whichever version; all have the same type. FMI 1 has none of them.
macro_rules! either {
    ($self:ident, $field:ident) => {
        match &$self.library.functions {
            Functions::V1(_) => None,
            Functions::V2(f) => f.$field,
            Functions::V3(f) => f.$field,
        }
    };
}

impl Instance {
    /// Whether the library has what is needed to store states.
    pub(crate) fn can_store_states(&self) -> bool {
        either!(self, get_state).is_some() && either!(self, set_state).is_some()
    }

    /// Whether the library has what is needed to write states as bytes.
    pub(crate) fn can_serialize_states(&self) -> bool {
        self.can_store_states()
            && match &self.library.functions {
                Functions::V1(_) => false,
                Functions::V2(f) => {
                    f.state_size.is_some() && f.serialize.is_some() && f.deserialize.is_some()
                }
                Functions::V3(f) => {
                    f.state_size.is_some() && f.serialize.is_some() && f.deserialize.is_some()
                }
            }
    }

    /// Whether the library has directional derivatives.
    pub(crate) fn has_directional(&self) -> bool {
        match &self.library.functions {
            Functions::V1(_) => false,
            Functions::V2(f) => f.directional.is_some(),
            Functions::V3(f) => f.directional.is_some(),
        }
    }

    /// Whether the library takes derivatives of inputs.
    pub(crate) fn takes_input_derivatives(&self) -> bool {
        match &self.library.functions {
            Functions::V1(f) => f.slave.as_ref().is_some_and(|f| f.set_input_derivatives.is_some()),
            Functions::V2(f) => f.set_input_derivatives.is_some(),
            Functions::V3(_) => false,
        }
    }

    /// Stores the present state; memory of a former one is used again.
    pub(crate) fn get_state(&self, state: &mut FmuState) -> Result<()> {
        let function = self.need(either!(self, get_state), "GetFMUState")?;
        // SAFETY: the instance is alive; the handle is null or from a former call.
        self.call(Call::GetState, || unsafe { function(self.handle, &raw mut state.0) })?;
        if state.is_none() {
            return Err(self.error(Code::FmuError, "GetFMUState gave no state"));
        }
        Ok(())
    }

    /// Puts a stored state back.
    pub(crate) fn set_state(&self, state: &FmuState) -> Result<()> {
        // Most states are stored to do steps from there. Who stores others sets the end again.
        self.end.set(f64::NAN);
        let function = self.need(either!(self, set_state), "SetFMUState")?;
        // SAFETY: the instance is alive; the handle is from `get_state` or `deserialize` of this instance.
        self.call(Call::SetState, || unsafe { function(self.handle, state.0) })
    }

    /// Gives a stored state back to the FMU, unless nothing may be called any more.
    pub(crate) fn free_state(&self, state: &mut FmuState) {
        if state.is_none() || self.library.is_fatal() {
            return;
        }
        if let Some(function) = either!(self, free_state) {
            // SAFETY: the instance is alive; the handle is from `get_state` or `deserialize` of this instance.
            let _ = self.call(Call::FreeState, || unsafe { function(self.handle, &raw mut state.0) });
        }
        *state = FmuState::none();
    }

    /// The bytes of a stored state.
    pub(crate) fn serialize(&self, state: &FmuState) -> Result<Vec<u8>> {
        let mut size = 0;
        let function = self.need(either!(self, state_size), "SerializedFMUStateSize")?;
        // SAFETY: the instance is alive; the handle is a state of it.
        self.call(Call::SerializeState, || unsafe { function(self.handle, state.0, &raw mut size) })?;
        if size > LARGEST_STATE {
            let message = format!("its state has {size} bytes; at most {LARGEST_STATE} are kept");
            return Err(self.error(Code::NeedsMissing, &message));
        }
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size).is_err() {
            return Err(
                self.error(Code::NeedsMissing, &format!("there is no memory for a state of {size} bytes"))
            );
        }
        bytes.resize(size, 0_u8);
        let status = match &self.library.functions {
            Functions::V1(_) => return Err(self.lacks("SerializeFMUstate")),
            Functions::V2(f) => {
                let function = self.need(f.serialize, "SerializeFMUstate")?;
                // SAFETY: as above; the FMU is told how much room there is.
                self.watched(Call::SerializeState, || unsafe {
                    function(self.handle, state.0, bytes.as_mut_ptr().cast(), size)
                })
            }
            Functions::V3(f) => {
                let function = self.need(f.serialize, "SerializeFMUState")?;
                // SAFETY: as above; the FMU is told how much room there is.
                self.watched(Call::SerializeState, || unsafe {
                    function(self.handle, state.0, bytes.as_mut_ptr(), size)
                })
            }
        };
        self.check(status, "SerializeFMUState")?;
        Ok(bytes)
    }

    /// A stored state from its bytes.
    pub(crate) fn deserialize(&self, bytes: &[u8], state: &mut FmuState) -> Result<()> {
        let status = match &self.library.functions {
            Functions::V1(_) => return Err(self.lacks("DeSerializeFMUstate")),
            Functions::V2(f) => {
                let function = self.need(f.deserialize, "DeSerializeFMUstate")?;
                // SAFETY: the instance is alive; the FMU is told how many bytes there are.
                self.watched(Call::DeserializeState, || unsafe {
                    function(self.handle, bytes.as_ptr().cast(), bytes.len(), &raw mut state.0)
                })
            }
            Functions::V3(f) => {
                let function = self.need(f.deserialize, "DeserializeFMUState")?;
                // SAFETY: as above.
                self.watched(Call::DeserializeState, || unsafe {
                    function(self.handle, bytes.as_ptr(), bytes.len(), &raw mut state.0)
                })
            }
        };
        self.check(status, "DeserializeFMUState")?;
        if state.is_none() {
            return Err(self.error(Code::FmuError, "DeserializeFMUState gave no state"));
        }
        Ok(())
    }

    /// How unknown variables change with known ones: sensitivity = J seed. In FMI 3 arrays have several elements.
    pub(crate) fn directional(
        &self,
        (unknowns, knowns): (&[u32], &[u32]),
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<()> {
        const CALL: &str = "GetDirectionalDerivative";
        let (y, ny, x, nx) = (unknowns.as_ptr(), unknowns.len(), knowns.as_ptr(), knowns.len());
        let status = match &self.library.functions {
            Functions::V1(_) => return Err(self.lacks(CALL)),
            Functions::V2(f) => {
                assert!(seed.len() == nx && sensitivity.len() == ny);
                let function = self.need(f.directional, CALL)?;
                // SAFETY: the instance is alive, the lengths fit.
                self.watched(Call::Directional, || unsafe {
                    function(self.handle, y, ny, x, nx, seed.as_ptr(), sensitivity.as_mut_ptr())
                })
            }
            Functions::V3(f) => {
                let function = self.need(f.directional, CALL)?;
                let (from, seeds, to, count) =
                    (seed.as_ptr(), seed.len(), sensitivity.as_mut_ptr(), sensitivity.len());
                // SAFETY: the instance is alive, the FMU is told all lengths.
                self.watched(Call::Directional, || unsafe {
                    function(self.handle, y, ny, x, nx, from, seeds, to, count)
                })
            }
        };
        self.check(status, CALL)
    }

    /// How unknown variables change with known ones, seen from the unknown ones: sensitivity^T = seed^T J (FMI 3 only).
    pub(crate) fn adjoint(
        &self,
        (unknowns, knowns): (&[u32], &[u32]),
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<()> {
        let function = match &self.library.functions {
            Functions::V1(_) | Functions::V2(_) => None,
            Functions::V3(f) => f.adjoint,
        };
        let function = self.need(function, "GetAdjointDerivative")?;
        let (y, ny, x, nx) = (unknowns.as_ptr(), unknowns.len(), knowns.as_ptr(), knowns.len());
        let (from, seeds, to, count) =
            (seed.as_ptr(), seed.len(), sensitivity.as_mut_ptr(), sensitivity.len());
        // SAFETY: the instance is alive, the FMU is told all lengths.
        self.call(Call::Adjoint, || unsafe { function(self.handle, y, ny, x, nx, from, seeds, to, count) })
    }

    /// Whether the library has adjoint derivatives.
    pub(crate) fn has_adjoint(&self) -> bool {
        matches!(&self.library.functions, Functions::V3(f) if f.adjoint.is_some())
    }

    /// Derivatives of outputs with respect to time at the end of the last step, one order for each.
    pub(crate) fn get_output_derivatives(
        &self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<()> {
        assert_eq!(orders.len(), references.len());
        let (n, to, count) = (references.len(), values.as_mut_ptr(), values.len());
        let function = match &self.library.functions {
            Functions::V1(f) => f.slave.as_ref().and_then(|f| f.get_output_derivatives),
            Functions::V2(f) => f.get_output_derivatives,
            Functions::V3(f) => {
                let function = self.need(f.get_output_derivatives, "GetOutputDerivatives")?;
                // SAFETY: the instance is alive, the FMU is told both lengths.
                return self.call(Call::GetOutputDerivatives, || unsafe {
                    function(self.handle, references.as_ptr(), n, orders.as_ptr(), to, count)
                });
            }
        };
        assert_eq!(count, n);
        let function = self.need(function, "GetRealOutputDerivatives")?;
        // SAFETY: the instance is alive, the lengths are equal.
        self.call(Call::GetOutputDerivatives, || unsafe {
            function(self.handle, references.as_ptr(), n, orders.as_ptr(), to)
        })
    }
}
