"""A damped spring as an FMU of Python code (FMI 3.0)."""

from pythonfmu3 import Fmi3Causality, Fmi3Slave, Fmi3Variability, Float64


class Spring3(Fmi3Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time = 0.0
        self.force = 0.0
        self.stiffness = 100.0
        self.x = 0.1
        self.v = 0.0
        independent = {"causality": Fmi3Causality.independent, "variability": Fmi3Variability.continuous}
        self.register_variable(Float64("time", **independent))
        self.register_variable(Float64("force", causality=Fmi3Causality.input, start=0.0))
        self.register_variable(
            Float64("stiffness", causality=Fmi3Causality.parameter, variability=Fmi3Variability.fixed)
        )
        self.register_variable(Float64("x", causality=Fmi3Causality.output))
        self.register_variable(Float64("v", causality=Fmi3Causality.output))

    def do_step(self, current_time, step_size):
        a = self.force - self.stiffness * self.x - 0.5 * self.v
        self.x += step_size * self.v
        self.v += step_size * a
        return True
