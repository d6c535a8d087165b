"""A published work that is reproduced: its folder is read, and its run is begun and gone on with."""
