"""How JSON demands are read, checked and met. `stepcache.tasks.json_` puts these parts together."""
