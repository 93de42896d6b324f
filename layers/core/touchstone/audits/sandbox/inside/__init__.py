"""What runs inside the sandbox: `sandbox.runner` joins these files into one piece of code.

A file imports the standard library and other files here by `from … import name`, and nothing else. No two files bind
the same name, since they share one namespace inside.
"""
