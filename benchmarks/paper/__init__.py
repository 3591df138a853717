"""The micro-benchmark of the StepCache paper (arXiv 2603.28795), on prompts of our own."""
