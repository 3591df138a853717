"""Long runs of the stores: sudden death, soak, sizes and speeds. Each module is a program."""
