"""From a text to queries, and from several rankings to one."""
