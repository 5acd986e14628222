"""What every room needs and none owns: checks of parameters, rows, threads, directions."""
