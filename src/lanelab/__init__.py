"""A controlled network testbed. This file is sent to other machines, so it imports nothing."""
