"""StepCache: a cache for LLM apps that reuses verified steps of earlier replies."""
