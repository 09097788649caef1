"""Web page of `judge try`, on which users try a judge on their own stories."""
