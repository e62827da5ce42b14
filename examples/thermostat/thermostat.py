"""A thermostat as an FMU of Python code: on below the band, off above it, as it was inside."""

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real

INPUT, OUTPUT, PARAMETER = Fmi2Causality.input, Fmi2Causality.output, Fmi2Causality.parameter


class Thermostat(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.temperature = 18.0  # degC
        self.heat = 4000.0  # W: 0 or 4000
        self.switched = 0  # times so far
        self.wanted = 20.0  # degC
        self.band = 1.0  # K
        self.register_variable(Real("temperature", causality=INPUT))
        self.register_variable(Real("heat", causality=OUTPUT, variability=Fmi2Variability.discrete))
        self.register_variable(Integer("switched", causality=OUTPUT, variability=Fmi2Variability.discrete))
        for name in ("wanted", "band"):
            self.register_variable(Real(name, causality=PARAMETER, variability=Fmi2Variability.tunable))

    def do_step(self, current_time, step_size):
        above = self.temperature - self.wanted
        heat = self.heat
        if abs(above) > self.band / 2:
            heat = 0.0 if above > 0 else 4000.0
        self.switched += heat != self.heat
        self.heat = heat
        return True
