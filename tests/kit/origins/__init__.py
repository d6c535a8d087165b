"""A page of thirty origins whose servers do all that servers do, and say exactly what they sent."""
