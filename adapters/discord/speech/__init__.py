"""How text is written for Discord, in which language, and how a person is answered privately."""
