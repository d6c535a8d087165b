"""Jetty 12, 9.2 or 8.1 with the servlet of native/servlet/."""
