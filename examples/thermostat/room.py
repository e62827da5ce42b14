"""A heated room as an FMU of Python code: C T' = P - G (T - T_out), stepped exactly under held inputs."""

from math import exp

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real

INPUT, OUTPUT, PARAMETER = Fmi2Causality.input, Fmi2Causality.output, Fmi2Causality.parameter


class Room(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.heat = 0.0  # W
        self.outside = 0.0  # degC
        self.temperature = 18.0  # degC
        self.capacity = 2e6  # J/K
        self.loss = 100.0  # W/K
        for name in ("heat", "outside"):
            self.register_variable(Real(name, causality=INPUT))
        self.register_variable(Real("temperature", causality=OUTPUT))
        for name in ("capacity", "loss"):
            self.register_variable(Real(name, causality=PARAMETER, variability=Fmi2Variability.tunable))

    def do_step(self, current_time, step_size):
        rest = self.outside + self.heat / self.loss
        self.temperature = rest + (self.temperature - rest) * exp(-step_size * self.loss / self.capacity)
        return True
