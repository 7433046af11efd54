"""The typed reading of a C file: preprocessed by the user's compiler, typed by a C front end."""
