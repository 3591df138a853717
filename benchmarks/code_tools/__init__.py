"""Tool calls and code: what is served without a model on public requests, and how much of it is wrong."""
