"""Two files do the same: their regions paired, their programs compared, and what stands around them."""
