"""What Tomcat and Jetty share: both carry one servlet, that of back_ends/ at the top of the project."""
