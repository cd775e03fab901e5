"""How what happens on the instance comes in: asked for or sent, and kept before the instance's cursor moves."""
