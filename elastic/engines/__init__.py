"""One protocol, several engines that turn prompts into traces."""
