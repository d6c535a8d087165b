"""What trials leave behind for their judges, as types. Their JSON is what a bed sends and a run folder stores."""
