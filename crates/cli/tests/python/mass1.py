"""Mass 1: takes a force, gives position and velocity."""

from masses import Mass
from pythonfmu import Fmi2Causality, Real


class Mass1(Mass):
    def __init__(self, **kwargs):
        super().__init__(1e6, 1.0, 0.1, **kwargs)
        self.F = 0.0
        self.register_variable(Real("F", causality=Fmi2Causality.input))
        self.register_variable(Real("x", causality=Fmi2Causality.output))
        self.register_variable(Real("v", causality=Fmi2Causality.output))

    def push(self):
        return self.F
