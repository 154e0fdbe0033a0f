"""Event structures: models that look at many executions at once."""
