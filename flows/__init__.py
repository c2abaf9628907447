"""When it runs: Prefect flows over the stages; nothing here changes a result.

Prefect reads its settings once, when it is first imported; so they are chosen here, before any flow imports it.
"""

from flows.server import choose_server

choose_server()
