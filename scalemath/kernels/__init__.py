"""Every formula, once: plain functions of SI floats, one topic a file."""
