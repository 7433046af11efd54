"""What is read of a file: functions and loops that are asked for, and what directives stand at."""
