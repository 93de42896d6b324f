"""The functions of `import touchstone` that ask judges. Each does a whole job, with the judges of the environment.

Every function has an async twin whose name begins with `a`. The packages of the jobs have the parts.
"""
