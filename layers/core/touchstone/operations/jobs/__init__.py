"""What all jobs share: work that is accepted, stored, carried by a machine, tried again, swept up and read.

intake · files              requests become records, under ids that follow from senders' keys; a job's files
context                     what each step is given and returns
after_failure               one try with a judge, and what follows from each kind of failure
tries                       the same for a part of a job, whose judges note their failures: measurements, pairs, cases
parted · waiting            jobs with parts, and what waits for a provider's batch
patience · traced           judges that wait for quota, and the traces of what was asked
sweep · restarts            what a crash left behind is started again; a new kind of job adds a line to `restarts`
"""
