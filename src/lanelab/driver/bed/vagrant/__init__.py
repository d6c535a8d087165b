"""Three virtual machines as client, router and server: their box, what runs them, and Vagrant's commands."""
