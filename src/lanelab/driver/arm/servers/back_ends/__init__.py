"""What Tomcat and Jetty share: both carry one servlet, that of native/servlet/ at the top of the project."""
