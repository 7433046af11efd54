"""Operations as values, and the script language (`.lw`); independent of plans."""
