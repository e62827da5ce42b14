"""The two-mass oscillator as FMUs of Python code: held inputs, steps of a Runge-Kutta method inside."""

from pythonfmu import Fmi2Slave

INNER = 2e-4


class Mass(Fmi2Slave):
    """A mass on a spring and a damper to the wall."""

    def __init__(self, stiffness, damping, start, **kwargs):
        super().__init__(**kwargs)
        self.stiffness, self.damping = stiffness, damping
        self.x, self.v = start, 0.0

    def push(self):
        """Force from the coupling."""
        raise NotImplementedError

    def slope(self, x, v):
        self.x, self.v = x, v
        return v, (self.push() - self.stiffness * x - self.damping * v) / 10.0

    def advance(self, h):
        x, v = self.x, self.v
        a = self.slope(x, v)
        b = self.slope(x + h / 2 * a[0], v + h / 2 * a[1])
        c = self.slope(x + h / 2 * b[0], v + h / 2 * b[1])
        d = self.slope(x + h * c[0], v + h * c[1])
        self.x = x + h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        self.v = v + h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])

    def do_step(self, current_time, step_size):
        count = max(1, round(step_size / INNER))
        for _ in range(count):
            self.advance(step_size / count)
        return True
