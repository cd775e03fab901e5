"""How what happens on the instance comes in: asked for, and kept before the instance's cursor moves."""
