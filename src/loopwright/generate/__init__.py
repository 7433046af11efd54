"""From a schedule to loops: one file per idea of the papers."""
