"""Pages as sequences of nodes: every byte belongs to one, and only what a filter edits is written anew."""
