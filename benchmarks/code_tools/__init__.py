"""Tool calls and code: what is served without a model on public requests that differ in a detail, and how much wrong."""
