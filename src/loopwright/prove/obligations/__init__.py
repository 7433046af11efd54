"""One obligation language: Presburger formulas as plain data, for any prover."""
