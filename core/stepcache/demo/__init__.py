"""A small real model behind a cache: what `stepcache demo` runs. Nothing else in StepCache imports this package."""
