"""Operations as values, and the scripts (`.lw`) they are written in; nothing here knows a plan."""
