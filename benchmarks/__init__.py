"""What StepCache is worth, measured. Nothing here is part of the packages."""
