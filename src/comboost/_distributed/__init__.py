"""What a fit on a cluster needs, whatever its transport: quantiles, coding, steps, packing, heartbeats."""
