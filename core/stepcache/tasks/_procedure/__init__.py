"""How a how-to request is changed ("without X"), and what in a reply such a change touches."""
