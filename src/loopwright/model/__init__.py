"""What a program means: statements, domains, schedules."""
