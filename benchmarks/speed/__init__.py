"""How much time the cache itself takes, on every path, against what it is compared with; see `benchmarks/README.md`."""
