"""The model of a program: statements, domains, schedules."""
