"""The search over states × machine, and the one toward a goal by way of subgoals that nobody has put in order."""
