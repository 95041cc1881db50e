"""What the searches' inner loops share: a binary heap and a table of distinct states."""
