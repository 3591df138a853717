"""The kinds of request StepCache recognises."""
