"""What runs inside the sandbox: a folder of its own, since it is all of this project that a program's sandbox holds.

The standard library only, and imports of its own files only. A sandbox starts for each program, so what is imported
before every one is chosen by its cost: no typing, json, enum or functools where a script is run.
"""
