"""What a fit on a Dask cluster costs. Run it with ``python -m benchmarks.dask``; nothing else should run meanwhile.

::

    python -m benchmarks.dask                            # all cases
    python -m benchmarks.dask --only speed --repeats 5   # or overhead, memory, traffic, stopped
    python -m benchmarks.dask --only speed --ours        # ours beside the local fits, without the peers
    python -m benchmarks.dask --quick                    # a tenth of the rows, one repeat: does everything work?
    python -m benchmarks.dask --output figures.jsonl     # all that was measured, each case as soon as it is done

Tables go to stdout, progress (and what libraries say) to stderr. All clusters are local ones with single-thread worker
processes; each case runs in a process of its own. Reading memory and sockets needs Linux.

- ``speed``: time of a whole fit on rows that lie on two workers, of both kinds of ours beside the local fit with two
  threads on the same rows, and of LightGBM's and XGBoost's own Dask estimators, in turns. Every model must have learned
  something, and ours must equal the local ones in every byte.
- ``overhead``: what a round costs where the rows cost nothing, from the difference of a long and a short fit.
- ``memory``: a fit whose input is larger than the memory that each worker may take. Beside the peak of each worker
  stand the bytes that Dask wrote to disk, the restarts, and what the package's formula says.
- ``traffic``: bytes between the processes, and calls, of a round. A histogram of one node has
  ``bins × channels`` sums, where the channels are the classes but one, and the loss; each takes as many bytes as the
  largest. A round of depth d sends ``1 + 1 + 2 + … + 2^(d-2)`` of them, that is 2^(d-1), along every edge of the
  reduction tree: the root's, then the left child's of each split. Votes and splits are a few kilobytes beside them.
- ``stopped``: seconds of a fit of three workers, one of which is stopped (SIGSTOP) in its midst, with all limits at
  their defaults. The model must equal the local one in every byte.

The modules in the order of the data: `rows` are what is learned; `apart` runs functions in processes of their own,
`clusters` makes clusters; `boosters` are those who learn, `local` the same without a cluster; `workers` says what
memory worker processes took, `links` what bytes went from process to process, `calls` who called whom, `readings`
both for a whole cluster; `plan` says how much work a run does; `speed`, `overhead`, `memory`, `traffic` and
`stopped` are the cases, `cases` is the table of them.

What it has in common with `benchmarks.speed` and `benchmarks.tables` it takes from there.
"""
