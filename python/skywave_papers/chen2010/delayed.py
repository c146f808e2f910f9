"""Solver for a delay differential equation in one variable with one constant delay.

It uses the method of steps. Within one delay the past is known, so the equation is an ordinary one,
which SciPy solves with an error-controlled Runge-Kutta method of order 8. Its dense output is the
past of the next step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import solve_ivp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

RELATIVE_ERROR = 1e-9


@dataclass(frozen=True)
class Solution:
    """The solution x(t) from 0 to the end; before 0 it is ``past``."""

    past: float
    step_s: float
    pieces: Sequence[Callable[[ArrayLike], Floats]]

    def __call__(self, time_s: ArrayLike) -> Floats:
        """Return x at the given times."""
        times = np.asarray(time_s, dtype=np.float64)
        values = np.full(times.shape, self.past)
        last = len(self.pieces) - 1
        index = np.minimum(np.floor(times / self.step_s).astype(np.int64), last)
        for piece in np.unique(index[times >= 0]):
            chosen = (index == piece) & (times >= 0)
            values[chosen] = self.pieces[piece](times[chosen])[0]
        return values


def solve_delayed(
    slope: Callable[[float, float], float], past: float, delay_s: float, duration_s: float
) -> Solution:
    """Solve x'(t) = slope(x(t), x(t - delay)), with x = ``past`` up to time 0.

    Raises:
        ValueError: If the duration is not above zero or the delay is negative.
        ArithmeticError: If the solver fails before the end.

    """
    if delay_s < 0 or duration_s <= 0:
        raise ValueError(
            f"a delay of {delay_s} s over {duration_s} s: give a positive duration, delay >= 0"
        )
    step_s = delay_s or duration_s
    pieces: list[Callable[[ArrayLike], Floats]] = []
    value = past
    for number in range(int(np.ceil(duration_s / step_s))):
        begin = number * step_s
        earlier = pieces[-1] if pieces else None

        def derivative(
            time_s: float,
            x: Floats,
            earlier: Callable[[ArrayLike], Floats] | None = earlier,
        ) -> list[float]:
            if delay_s == 0:
                return [slope(x[0], x[0])]
            late = past if earlier is None else float(earlier(time_s - delay_s)[0])
            return [slope(x[0], late)]

        solved = solve_ivp(
            derivative,
            (begin, begin + step_s),
            [value],
            method="DOP853",
            rtol=RELATIVE_ERROR,
            atol=RELATIVE_ERROR * max(abs(past), 1.0),
            dense_output=True,
        )
        if not solved.success:
            raise ArithmeticError(f"the solver stopped at {solved.t[-1]:g} s")
        pieces.append(solved.sol)
        value = float(solved.y[0, -1])
    return Solution(past, step_s, pieces)
