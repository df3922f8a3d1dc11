"""Links, switches, adapters, optics: frozen descriptions that must close."""
