"""How tool lists are read, and how calls are found, checked and grounded in the request."""
