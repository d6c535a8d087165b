"""Style sheets as text: where their addresses and imports are, and the filters that rewrite them."""
