"""What the server does beside answering: limits, headers, health, its log, and tidying up."""
