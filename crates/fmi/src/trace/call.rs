//! Calls into FMUs by name.

macro_rules! calls {
    ($($name:ident $version2:literal $version3:literal)*) => {
        /// A call into an FMU, as a small number that fits into the status of a process.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Call {
            /// Loading its library: its initialisers run.
            Load = 1,
            /// Unloading its library: its finalisers run.
            Unload,
            /// Any call, done by another process.
            Elsewhere,
            $(#[doc = $version3] $name),*
        }

        impl Call {
            const ALL: &'static [Self] = &[Self::Load, Self::Unload, Self::Elsewhere, $(Self::$name),*];

            /// Its name without the prefix of the version.
            pub fn name(self, version: u32) -> &'static str {
                match self {
                    Self::Load => "loading its library",
                    Self::Unload => "unloading its library",
                    Self::Elsewhere => "its own process",
                    $(Self::$name => if version == 2 { $version2 } else { $version3 }),*
                }
            }
        }
    };
}

calls! {
    Instantiate "Instantiate" "InstantiateCoSimulation"
    InstantiateExchange "Instantiate" "InstantiateModelExchange"
    SetupExperiment "SetupExperiment" "SetupExperiment"
    EnterInitialization "EnterInitializationMode" "EnterInitializationMode"
    ExitInitialization "ExitInitializationMode" "ExitInitializationMode"
    Configuration "EnterConfigurationMode" "EnterConfigurationMode"
    Reset "Reset" "Reset"
    Terminate "Terminate" "Terminate"
    FreeInstance "FreeInstance" "FreeInstance"
    GetReals "GetReal" "GetFloat64"
    SetReals "SetReal" "SetFloat64"
    GetValues "Get" "Get"
    SetValues "Set" "Set"
    SetInputDerivatives "SetRealInputDerivatives" "SetRealInputDerivatives"
    GetOutputDerivatives "GetRealOutputDerivatives" "GetOutputDerivatives"
    DoStep "DoStep" "DoStep"
    GetStatus "GetRealStatus" "GetRealStatus"
    CancelStep "CancelStep" "CancelStep"
    GetState "GetFMUstate" "GetFMUState"
    SetState "SetFMUstate" "SetFMUState"
    FreeState "FreeFMUstate" "FreeFMUState"
    SerializeState "SerializeFMUstate" "SerializeFMUState"
    DeserializeState "DeSerializeFMUstate" "DeserializeFMUState"
    Directional "GetDirectionalDerivative" "GetDirectionalDerivative"
    Adjoint "GetAdjointDerivative" "GetAdjointDerivative"
    EnterEventMode "EnterEventMode" "EnterEventMode"
    UpdateDiscreteStates "NewDiscreteStates" "UpdateDiscreteStates"
    EnterStepMode "EnterStepMode" "EnterStepMode"
    SetClock "SetClock" "SetClock"
    GetInterval "GetIntervalDecimal" "GetIntervalDecimal"
    EnterContinuousTime "EnterContinuousTimeMode" "EnterContinuousTimeMode"
    SetTime "SetTime" "SetTime"
    SetContinuousStates "SetContinuousStates" "SetContinuousStates"
    GetContinuousStates "GetContinuousStates" "GetContinuousStates"
    GetDerivatives "GetDerivatives" "GetContinuousStateDerivatives"
    GetEventIndicators "GetEventIndicators" "GetEventIndicators"
    CompletedStep "CompletedIntegratorStep" "CompletedIntegratorStep"
    GetNominals "GetNominalsOfContinuousStates" "GetNominalsOfContinuousStates"
}

impl Call {
    /// The call of a number, if there is one.
    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Its name in the standard: `fmi2DoStep`.
    pub fn full_name(self, version: u32) -> String {
        match self {
            Self::Load | Self::Unload | Self::Elsewhere => self.name(version).to_owned(),
            _ => format!("fmi{version}{}", self.name(version)),
        }
    }

    /// Whether the FMU is being ended, for which less time is allowed.
    pub fn is_ending(self) -> bool {
        matches!(self, Self::Terminate | Self::FreeInstance | Self::Unload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_list() {
        for call in Call::ALL {
            assert_eq!(Call::from_number(*call as u8), Some(*call));
        }
        assert_eq!(Call::from_number(0), None);
        assert_eq!(Call::from_number(255), None);
        assert_eq!(Call::DoStep.full_name(3), "fmi3DoStep");
        assert_eq!(Call::GetReals.full_name(2), "fmi2GetReal");
    }
}
