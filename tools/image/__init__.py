"""Images of lanelab for Podman, Docker and JupyterHub, made on this machine from the distribution's packages: no
registry has a part in it. `./lanelab build-image` makes them; docs/containers.md says how they are used."""
