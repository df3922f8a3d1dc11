"""Ground floor: errors, kernels' registry, models, results, data types, hooks upward."""
