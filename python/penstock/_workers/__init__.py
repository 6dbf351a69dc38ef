# SPDX-License-Identifier: Apache-2.0
"""Processes that call functions of the program: tasks, shared memory, functions on their way there."""
