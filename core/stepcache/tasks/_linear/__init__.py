"""The parts of the linear equation task: reading prompts, explaining replies, rewriting them. Import from `tasks`."""
