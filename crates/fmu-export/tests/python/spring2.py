"""A damped spring as an FMU of Python code (FMI 2.0)."""

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Spring2(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.force = 0.0
        self.stiffness = 100.0
        self.x = 0.1
        self.v = 0.0
        self.register_variable(Real("force", causality=Fmi2Causality.input))
        self.register_variable(Real("stiffness", causality=Fmi2Causality.parameter, variability=Fmi2Variability.fixed))
        self.register_variable(Real("x", causality=Fmi2Causality.output))
        self.register_variable(Real("v", causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        a = self.force - self.stiffness * self.x - 0.5 * self.v
        self.x += step_size * self.v
        self.v += step_size * a
        return True
