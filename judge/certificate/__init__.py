"""Certificates: agreement that a judge reached with people, under which templates and criteria, against conditions."""
