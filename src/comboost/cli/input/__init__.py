"""Files to data frames: formats, columns, missing values, the target."""
