"""The studio: instruct the agent, show it something, correct it, see what it learned; and a service that plans."""
