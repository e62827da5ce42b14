"""Mass 2 with spring and damper of the coupling: takes position and velocity of mass 1, gives the force on it."""

from masses import Mass
from pythonfmu import Fmi2Causality, Real


class Mass2(Mass):
    def __init__(self, **kwargs):
        super().__init__(1e7, 2.0, 0.0, **kwargs)
        self.u1, self.u2 = 0.0, 0.0
        self.register_variable(Real("u1", causality=Fmi2Causality.input))
        self.register_variable(Real("u2", causality=Fmi2Causality.input))
        self.register_variable(Real("F", causality=Fmi2Causality.output, getter=lambda: -self.push()))

    def push(self):
        return 1e5 * (self.u1 - self.x) + 1e3 * (self.u2 - self.v)
