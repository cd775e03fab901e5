"""How text is written for Telegram, which texts it shows as they are, and how a person is answered privately."""
