"""One typed reading of a C file: as the user's compiler preprocesses it, as a C front end types it."""
