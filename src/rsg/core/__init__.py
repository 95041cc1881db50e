"""What every room shares: errors, random streams, atomic files."""
