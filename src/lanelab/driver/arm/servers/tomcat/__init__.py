"""Tomcat 10.1 with the servlet of native/servlet/."""
