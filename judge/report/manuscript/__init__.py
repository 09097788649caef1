"""What a paper needs: methods, references, a reviewer's checklist."""
