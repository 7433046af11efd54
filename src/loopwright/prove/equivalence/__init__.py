"""Two programs do the same: by their instances, by values, or a run that tells them apart."""
