# SPDX-License-Identifier: Apache-2.0
"""Messages for Python's logging: loggers "penstock.pipeline", "penstock.gpu" and so on.

The module logging is loaded by the program that wants messages: it takes a tenth of the time of `import penstock`.
"""

import sys
import warnings

from .frames import user_level

DEBUG, INFO, WARNING = 10, 20, 30  # logging's numbers

_silent = False  # whether the loggers have the handler that keeps them silent in programs without handlers


def logger(part):
    """Returns the logger of a part of the package, or None where the program has not imported logging.

    Args:
        part: "pipeline", "gpu", "sources", "storage", "service", "dali" or "plugin".
    """
    global _silent
    logging = sys.modules.get("logging")
    if logging is None or not hasattr(logging, "NullHandler"):  # another thread is importing it
        return None
    if not _silent:
        _silent = True
        logging.getLogger("penstock").addHandler(logging.NullHandler())
    return logging.getLogger(f"penstock.{part}")


def log(part, level, text, *values):
    """Gives a message to a logger.

    Args:
        part: The part of the package.
        level: DEBUG, INFO or WARNING.
        text: The message, with %s for each value.
        *values: What stands in it.
    """
    found = logger(part)
    if found is not None:
        found.log(level, text, *values)


def warn(part, text, category=UserWarning):
    """Gives a warning that names the line of the program which led to it, and the same text to a logger.

    A level that is counted by hand is wrong as soon as a call goes another way: all warnings of the package come here.

    Args:
        part: The part of the package.
        text: The text.
        category: The kind of warning.
    """
    log(part, WARNING, "%s", text)
    warnings.warn(text, category, stacklevel=user_level())
