"""What a language model larger than the one that ships is asked: to read a post, to write replies, to review them."""
