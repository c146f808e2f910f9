"""The lab page: watch scenarios and sockets while they run.

Requires the extra ``skywave[lab]``.

- :mod:`skywave.lab.site` has what every page needs.
- :mod:`skywave.lab.server` makes the application of ``skywave lab``. Each open page is a
  :class:`~skywave.lab.session.Session`, whose runs are simulated
  (:class:`~skywave.lab.simulation.SimulatedRun`) or in real time
  (:class:`~skywave.lab.real_time.ProcessRun`).
- :mod:`skywave.lab.connections` makes the page of a socket.
- :mod:`skywave.lab.messages` has what all pages receive.
- ``static`` has the page as ``make lab`` builds it from the folder ``lab`` of the repository.
"""
